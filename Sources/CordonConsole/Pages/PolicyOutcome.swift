/// What was done to a policy, which its page says once it is shown again.
enum PolicyOutcome: String {
    case made
    case settings
    case apps
    case assignment
    case putBack = "put-back"

    /// The page of the policy, saying it.
    func shown(on policy: String) -> ConsoleAnswer { .moved(PolicyPages.path(policy) + "?done=" + rawValue) }

    var note: Block {
        let text: Phrase =
            switch self {
            case .made: "The policy was made."
            case .settings: "The settings were published."
            case .apps: "The apps were published."
            case .assignment: "The assignment was published."
            case .putBack: "The earlier version was put back, as a new version."
            }
        return .note(.good, text, ["What it says now stands below. Apps take it at their next contact."])
    }
}
