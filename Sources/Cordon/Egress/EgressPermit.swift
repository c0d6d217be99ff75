public import CordonPolicy

/// Permission to let data out once: issued only by an allowing verdict, consumed by the call that uses it.
///
/// It cannot be copied or made by hand, is good for nothing but the question it answered, and lapses when the owner's
/// rules change, the account is enrolled anew, or its gate is closed; of several accounts that a question is about, it hangs on its owner
/// alone. Nothing of it is stored; a wipe makes it useless.
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
