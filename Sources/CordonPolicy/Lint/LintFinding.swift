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

    /// A value that replaces the setting's without changing any answer; nil if only the administrator knows one.
    public let fix: JSONValue?

    init(_ severity: Severity, _ code: String, _ setting: String, _ message: String, fix: JSONValue? = nil) {
        self.severity = severity
        self.fix = fix
        self.code = code
        self.setting = setting
        self.message = message
    }
}
