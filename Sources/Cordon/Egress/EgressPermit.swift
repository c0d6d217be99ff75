public import CordonPolicy

/// Permission to let data out once: issued only by an allowing verdict, consumed by the call that uses it.
///
/// It cannot be copied or made by hand, is good for nothing but the question it answered, and lapses when the owner's
/// policy changes. Nothing of it is stored; a wipe makes it useless.
public struct EgressPermit: ~Copyable, Sendable {
    /// What was asked, and is allowed.
    public let question: Question
    /// What was answered: `allow`, `warn` or `restrict`; the caller shows the reasons of the latter two.
    public let decision: PolicyDecision
    /// The sequence of the owner's policy that allowed it, 0 where no policy has a say.
    let sequence: Int64

    init(question: Question, decision: PolicyDecision, sequence: Int64) {
        self.question = question
        self.decision = decision
        self.sequence = sequence
    }

    /// The actions that a permit exists for.
    static let actions: Set<Action> = [.saveTo, .send, .copy, .print, .openURL, .openUniversalLink]
}
