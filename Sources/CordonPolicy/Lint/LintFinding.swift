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

    init(_ severity: Severity, _ code: String, _ setting: String, _ message: String) {
        self.severity = severity
        self.code = code
        self.setting = setting
        self.message = message
    }
}
