import CordonPolicy

/// What was done to a policy, which its page says once it is shown again.
enum PolicyOutcome: String {
    case made
    case settings
    case apps
    case assignment
    case putBack = "put-back"

    /// The page of the policy, saying it.
    func shown(on policy: String) -> ConsoleAnswer { .moved(PolicyPages.path(policy) + "?done=" + rawValue) }

    /// What the page says of it.
    ///
    /// - Parameter policy: The policy as it is now, with its apps and assignments.
    func note(on policy: JSONValue) -> Block {
        let reaches = PolicyPages.isForEveryone(policy) || !policy.list("assignments").isEmpty
        let text: Phrase =
            switch self {
            case .made: "The policy was made."
            case .settings: "The settings were published."
            case .apps: reaches ? "The apps were published." : "The apps were saved."
            case .assignment: "The assignment was published."
            case .putBack: "The earlier version was put back, as a new version."
            }
        return .note(
            .good, text,
            [
                !reaches
                    ? "The policy's present content is shown below. It takes effect once it is assigned."
                    : PolicyPages.lacksApps(policy)
                        ? "The policy's present content is shown below. It takes effect once it has apps."
                        : "The policy's present content is shown below. Apps take it at their next contact: at once where they are open."
            ])
    }
}
