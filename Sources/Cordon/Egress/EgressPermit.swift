public import CordonPolicy

/// Permission to let data out once: only an allowing verdict issues it, and the call that uses it consumes it.
///
/// It cannot be copied or made by hand. It is good only for the question it answered, and lapses when the owner's
/// rules change, the account is enrolled anew, or its gate closes; if the question is about several accounts, only its owner counts. It is
/// never stored, and a wipe makes it useless.
public struct EgressPermit: ~Copyable, Sendable {
    /// What was asked, and is allowed.
    public let question: Question
    /// What was answered: `allow`, `warn` or `restrict`; the caller shows the reasons of the latter two.
    public let decision: PolicyDecision
    /// Which rules of the owner's allowed it (``AccountState/number``), 0 where none have a say.
    let rules: Int
    /// The epoch of the owner's gate that was open; nil where there was none to pass.
    let opening: Int?

    init(question: Question, decision: PolicyDecision, rules: Int, opening: Int?) {
        self.question = question
        self.decision = decision
        self.rules = rules
        self.opening = opening
    }

    /// The actions that a permit exists for.
    static let actions: Set<Action> = [.saveTo, .send, .copy, .print, .openURL, .openUniversalLink]
}
