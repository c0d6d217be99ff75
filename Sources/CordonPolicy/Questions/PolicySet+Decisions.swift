public import CordonIdentity

extension PolicySet {
    /// The answer in one word, without a reason. This is the fast path: it reads what the rules
    /// worked out when the policy was loaded, asks them where that does not suffice, and allocates nothing.
    public func verdict(for question: borrowing Question) -> Verdict {
        compiledVerdict(for: question) ?? ruledVerdict(for: question)
    }

    /// The verdict where it is the same whatever a caller adds to the question: the facts of the device, and for each account
    /// the id that its policy is kept under. Nil where the caller has to add these first.
    ///
    /// It never permits what the completed question would be denied; a denial of an account that has no policy under the name
    /// given may be a permission under its other name.
    package func finalVerdict(for question: borrowing Question) -> Verdict? {
        switch question.action {
        case .saveTo, .openFrom:
            guard
                !question.parties.hasLocationAccount || question.parties.locationID == question.parties.ownerID
                    || hasPolicy(namedBy: question.parties.locationID)
            else { return nil }
        case .openUniversalLink:
            guard question.parties.peerNaming != .managed || hasPolicy(namedBy: question.parties.peerID) else {
                return nil
            }
        default: break
        }
        return compiledVerdict(for: question)
    }

    /// The verdict of the rules themselves, for what no table holds.
    @inline(never)
    private func ruledVerdict(for question: borrowing Question) -> Verdict {
        var collector = VerdictCollector()
        Evaluation.run(question, in: self, to: &collector)
        return collector.verdict
    }

    /// The answer with every reason and the path that led to it.
    public func decision(for question: Question) -> PolicyDecision {
        var collector = ReasonCollector()
        Evaluation.run(question, in: self, to: &collector)
        return collector.decision
    }

    /// The answer for a transfer between an identity and another side.
    public func decision(
        for action: Action, from identity: Identity, to peer: Peer, given facts: DeviceFacts = .unknown
    ) -> PolicyDecision {
        decision(for: question(action, identity, peer, facts))
    }

    /// The answer in one word for a transfer between an identity and another side.
    public func verdict(
        for action: Action, from identity: Identity, to peer: Peer, given facts: DeviceFacts = .unknown
    ) -> Verdict {
        verdict(for: question(action, identity, peer, facts))
    }

    /// The answer for what concerns one identity alone.
    public func decision(
        for action: Action, of identity: EffectiveIdentity, given facts: DeviceFacts = .unknown
    ) -> PolicyDecision {
        var question = Question(action, owner: identity)
        question.device = facts
        return decision(for: question)
    }

    /// Every place with its answer, for one account; equal to asking one by one (SDK-DT-21).
    public func locations(for action: Action, of identity: EffectiveIdentity, account: AccountID?) -> [Location:
        Verdict]
    {
        var answers: [Location: Verdict] = [:]
        for location in Location.allCases where (action == .saveTo ? location.saveNumber : location.openNumber) != nil {
            var question = Question(action, owner: identity)
            question.location = location
            question.locationAccount = account
            answers[location] = verdict(for: question)
        }
        return answers
    }

    private func question(_ action: Action, _ identity: Identity, _ peer: Peer, _ facts: DeviceFacts) -> Question {
        var question = Question(action, owner: EffectiveIdentity(identity))
        question.peer = peer
        question.device = facts
        return question
    }
}
