/// Something in a policy that its administrator should look at.
public struct LintFinding: Sendable, Equatable, Codable {
    /// How much it matters.
    public enum Severity: String, Sendable, Codable, CaseIterable {
        /// The policy does not do what it says.
        case error
        /// It probably does not do what was meant.
        case warning
        /// Worth knowing.
        case note
    }

    /// How much it matters.
    public let severity: Severity
    /// The kind of finding, for scripts.
    public let code: String
    /// The setting's JSON property; empty when it concerns the whole policy.
    public let setting: String
    /// What was found, and what follows from it.
    public let message: String

    /// The value that takes the setting's place without a change to any answer; nil where only the administrator knows.
    public let fix: JSONValue?

    init(_ severity: Severity, _ code: String, _ setting: String, _ message: String, fix: JSONValue? = nil) {
        self.severity = severity
        self.fix = fix
        self.code = code
        self.setting = setting
        self.message = message
    }
}
