/// The path of one decision: each rule that was asked, whose policy it looked at, what it said.
public struct PolicyTrace: Sendable, Equatable, Codable, CustomStringConvertible {
    /// One rule's part.
    public struct Step: Sendable, Equatable, Codable {
        /// The rule.
        public let rule: String
        /// The policy it looked at; empty when none.
        public let policy: String
        /// What it said; `allow` when it had nothing against it.
        public var verdict: Verdict
    }

    /// The steps in the order they were taken.
    public let steps: [Step]

    /// No step.
    public static let empty = PolicyTrace(steps: [])

    /// One line per step.
    public var description: String {
        steps.map { "\($0.verdict.rawValue)\t\($0.rule)\($0.policy.isEmpty ? "" : "\t\($0.policy)")" }
            .joined(separator: "\n")
    }
}
