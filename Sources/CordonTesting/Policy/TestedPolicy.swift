internal import CordonBase
public import CordonIdentity
public import CordonPolicy
public import Foundation

/// Policies in a unit test.
///
/// ```swift
/// let policy = try TestedPolicy(contentsOf: exportURL, of: workAccount)
/// #expect(policy.allows(.copy, from: .managed(workAccount), to: .personal))
/// ```
/// A failing expectation prints this value, and this value prints the last answer with its reasons. Each
/// question asked replaces the answer that is printed; any thread may ask.
public final class TestedPolicy: Sendable, CustomStringConvertible {
    /// The policies under test.
    public let policies: PolicySet
    private let last = Locked("no question asked yet")

    /// Tests a set of policies.
    public init(_ policies: PolicySet) {
        self.policies = policies
    }

    /// Tests one policy of one account.
    public convenience init(_ policy: AppProtectionPolicy, of account: AccountID) {
        self.init(PolicySet([account: EffectivePolicy(policy)]))
    }

    /// Tests one policy of one account, as Graph JSON.
    /// - Throws: ``PolicyError`` when the JSON is no policy.
    public convenience init(json: String, of account: AccountID) throws(PolicyError) {
        self.init(try AppProtectionPolicy(data: Data(json.utf8)), of: account)
    }

    /// Tests one policy of one account, as exported.
    /// - Throws: ``PolicyError`` when the file is no policy, or what reading it throws.
    public convenience init(contentsOf file: URL, of account: AccountID) throws {
        self.init(try AppProtectionPolicy(data: Data(contentsOf: file)), of: account)
    }

    /// Whether a transfer may be done without reduction.
    public func allows(
        _ action: Action, from identity: Identity, to peer: Peer, given facts: DeviceFacts = .unknown
    ) -> Bool {
        verdict(action, from: identity, to: peer, given: facts) == .allow
    }

    /// Whether what concerns one identity alone may be done without reduction.
    public func allows(_ action: Action, of identity: EffectiveIdentity, given facts: DeviceFacts = .unknown) -> Bool {
        verdict(action, of: identity, given: facts) == .allow
    }

    /// Whether a question is answered with a plain "allow".
    public func allows(_ question: Question) -> Bool {
        verdict(question) == .allow
    }

    /// The verdict on a transfer.
    public func verdict(
        _ action: Action, from identity: Identity, to peer: Peer, given facts: DeviceFacts = .unknown
    ) -> Verdict {
        keep(
            policies.decision(for: action, from: identity, to: peer, given: facts),
            "\(action.rawValue) from \(identity) to \(peer)")
    }

    /// The verdict on what concerns one identity alone.
    public func verdict(_ action: Action, of identity: EffectiveIdentity, given facts: DeviceFacts = .unknown)
        -> Verdict
    {
        keep(policies.decision(for: action, of: identity, given: facts), "\(action.rawValue) of \(identity)")
    }

    /// The verdict on a question.
    public func verdict(_ question: Question) -> Verdict {
        keep(policies.decision(for: question), question.json.text())
    }

    /// The last question and its answer, with every reason.
    public var description: String { last.withLock { $0 } }

    private func keep(_ decision: PolicyDecision, _ question: String) -> Verdict {
        var lines = ["\(question): \(decision.verdict.rawValue)"]
        for reason in decision.reasons {
            let source = reason.policy.map { " of policy \($0.id) version \($0.version)" } ?? ""
            lines.append(
                "  \(reason.rule): \(reason.setting) = \(reason.value.text())\(source). \(reason.message) \(reason.remedy)"
            )
        }
        let text = lines.joined(separator: "\n")
        last.withLock { $0 = text }
        return decision.verdict
    }
}
