internal import CordonBase
public import CordonIdentity
public import CordonPolicy

extension AppProtection {
    /// The answer to a question under the rules in force, with every reason; any thread, no waiting.
    ///
    /// Cordon fills in what it knows itself (the time since the last check-in); what a rule needs and nobody knows denies.
    public nonisolated func decision(for question: Question) -> PolicyDecision {
        let moment = clock.read()
        let rules = accounts.rules
        var question = rules.resolved(question)
        // The app's own setting makes every web view nobody's that has no policy of its own (SDK-WV-03).
        if settings.treatsWebViewsAsUnmanaged { question.webViewersUnmanaged = true }
        let decision = rules.policies.decision(for: rules.complete(question, at: moment))
        if !decision.verdict.permits { denials.note(decision, of: question, at: moment.now) }
        return decision
    }

    /// Every place with its answer in one word, for saving to or opening from an account's places; equal to asking one by one
    /// (SDK-DT-21). Any thread, no waiting; no denial is noted.
    ///
    /// - Parameters:
    ///   - action: ``Action/saveTo`` or ``Action/openFrom``.
    ///   - account: Whose places they are; nil for nobody's known.
    public nonisolated func locations(
        for action: Action, of identity: Identity, account: AccountID? = nil
    ) -> [Location: Verdict] {
        let moment = clock.read()
        let rules = accounts.rules
        var question = Question(action, owner: EffectiveIdentity(identity))
        question.locationAccount = account
        question = rules.complete(rules.resolved(question), at: moment)
        guard let owner = question.owner else { return [:] }
        return rules.policies.locations(for: action, of: owner, account: question.locationAccount)
    }

    /// The rules in force for an account, for adapting an app's screens (SDK-CO-05); nil when none apply.
    public nonisolated func policy(of identity: Identity) -> EffectivePolicy? {
        accounts.rules.policies.policy(of: resolved(EffectiveIdentity(identity)))
    }

    /// Asks whether something may leave, and gets the permit for doing it once.
    ///
    /// - Parameter question: One of ``Action/saveTo``, ``Action/send``, ``Action/copy``, ``Action/print``, ``Action/openURL`` and
    ///   ``Action/openUniversalLink``, with an owner; use the permit at once, it lapses with the next change of the owner's rules.
    /// - Throws: ``EgressDenied`` with every reason when the verdict is to block or to wipe, and for any other action.
    public nonisolated func permit(for question: Question) throws(EgressDenied) -> EgressPermit {
        let question = accounts.rules.resolved(question)
        try requireOpenGate(for: question)
        let decision = decision(for: question)
        guard decision.verdict.permits, EgressPermit.actions.contains(question.action) else {
            throw EgressDenied(decision)
        }
        return EgressPermit(question: question, decision: decision, sequence: sequence(of: question.owner))
    }

    /// Takes a permit back for good, after checking that it is for this and still in force; what it allowed.
    nonisolated func spend(
        _ permit: consuming EgressPermit, for action: Action, of owner: AccountID?
    ) throws(ProtectionError) -> Question {
        if owner != nil { noted(IdentityContext.current) }
        let owner = owner.map { resolved($0) }
        guard permit.question.action == action, permit.question.owner?.account == owner else {
            throw ProtectionError(.noPermit, "the permit is for another action or for somebody else's data")
        }
        guard permit.sequence == sequence(of: permit.question.owner) else {
            throw ProtectionError(.permitOutdated, "the rules changed after the permit was issued")
        }
        return permit.question
    }

    private nonisolated func sequence(of owner: EffectiveIdentity?) -> Int64 {
        guard let account = owner?.account else { return 0 }
        return accounts.state(of: account)?.sequence ?? 0
    }
}
