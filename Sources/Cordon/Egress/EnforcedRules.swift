internal import CordonBase
public import CordonIdentity
public import CordonPolicy
internal import Foundation
internal import Logging

/// The rules in force, and an app's questions about them: what is allowed, and which policy, configuration and working time apply. Every
/// question is answered at once, on any thread.
///
/// Use it as ``AppProtection/rules``; the two questions that every app asks are on ``AppProtection`` as well.
public final class EnforcedRules: Sendable {
    let context: ProtectionContext
    /// Held here as well: going through the context would add a fifth to the cost of a verdict.
    let accounts: AccountTable
    private let gates: GateStates
    private let denials: DenialLog
    private let hasReportedLostWork = Locked(false)
    /// The app's own setting makes every web view unmanaged that has no policy of its own (SDK-WV-03).
    private let webViewersUnmanaged: Bool

    init(_ context: ProtectionContext, gates: GateStates) {
        self.context = context
        (accounts, denials) = (context.accounts, context.denials)
        webViewersUnmanaged = context.configuration.settings.treatsWebViewsAsUnmanaged
        self.gates = gates
    }

    var configuration: ProtectionConfiguration { context.configuration }

    /// The answer to a question under the rules in force, with every reason.
    ///
    /// Use it to adapt a screen; to let something out, take a permit. Cordon fills in what it knows itself (the time since the last
    /// check-in). A fact that a rule needs and nobody knows denies.
    ///
    /// ```swift
    /// let decision = protection.decision(for: .may(.print, of: .managed(account)))
    /// printButton.isEnabled = decision.verdict.permits
    /// explanation.text = decision.summary  // which rule refuses, and what would be allowed
    /// ```
    public func decision(for question: Question) -> PolicyDecision {
        let asked = Asked(question, self)
        return asked.decision(recordingIn: denials)
    }

    /// The answer in one word. Much faster than ``decision(for:)``, because it makes no reasons; those of a denial are made only when a
    /// ``DiagnosticReport`` needs them.
    public func verdict(for question: Question) -> Verdict {
        if let permission = finalPermission(for: question) { return permission }
        let asked = Asked(question, self)
        let verdict = asked.verdict
        if !verdict.permits { asked.recordDenial(verdict, in: denials) }
        return verdict
    }

    /// Asks whether something may leave, and returns a permit to do it once. Use the permit at once: it lapses when the owner's
    /// rules change or the gate closes.
    ///
    /// ```swift
    /// let permit = try protection.permit(for: Question(.print, owner: .managed(account)))
    /// try await protection.outlets.print(report, title: "Report", of: .managed(account), on: printer, permit: permit)
    /// ```
    ///
    /// - Parameter question: One of `Action.saveTo`, `Action.send`, `Action.copy`, `Action.print`, `Action.openURL` and
    ///   `Action.openUniversalLink`, with an owner.
    /// - Throws: ``ProtectionError``: `denied` with every reason when the verdict is to block or to wipe, or the owner's gate is
    ///   closed; `noPermit` for an action that is allowed and has no permits.
    public func permit(for question: Question) throws(ProtectionError) -> EgressPermit {
        let asked = Asked(question, self)
        let question = asked.resolved
        let opening = try requireOpenGate(for: question)
        // A plain yes has no reasons.
        let decision = asked.verdict == .allow ? .allowed : asked.decision(recordingIn: denials)
        guard decision.verdict.permits else { throw ProtectionError(denied: decision) }
        guard EgressPermit.actions.contains(question.action) else {
            throw ProtectionError(
                .noPermit, "\(question.action.rawValue) is allowed, and there are no permits for it",
                hint: "Ask decision(for:), or act in rules.whenAllowed.")
        }
        return EgressPermit(question: question, decision: decision, rules: asked.rulesOfOwner, opening: opening)
    }

    /// Every place with its answer in one word, for saving to or opening from an account's places. The same as asking one by one
    /// (SDK-DT-21), but it records no denial.
    ///
    /// - Parameters:
    ///   - action: `Action.saveTo` or `Action.openFrom`.
    ///   - identity: Whose data is saved, or who takes what is opened.
    ///   - account: Whose places they are; nil where that is not known.
    public func locations(
        for action: Action, of identity: Identity, account: AccountID? = nil
    ) -> [Location: Verdict] {
        let rules = accounts.rules
        var question = Question(action, owner: EffectiveIdentity(identity))
        question.locationAccount = account
        question = rules.complete(rules.resolved(question), at: context.clock.read())
        guard let owner = question.owner else { return [:] }
        return rules.policies.locations(for: action, of: owner, account: question.locationAccount)
    }

    /// Makes the question whether the work at hand may do something: for the identities that its window shows or, where
    /// files are concerned, for its own identity (SDK-ID-05, SDK-ID-07). It covers several accounts in one window together.
    ///
    /// Ask it with ``decision(for:)`` or ``permit(for:)``. Work whose identity was lost is denied organisation data.
    ///
    /// - Parameters:
    ///   - action: What the work is about to do.
    ///   - window: Nil is the window in front.
    public func question(_ action: Action, in window: WindowID? = nil) -> Question {
        if action.isFileTask { return Question(action, owner: reportingLostWork(IdentityContext.current)) }
        let shown = IdentityContext.currentInterface(in: window).map { inForce($0) }
        let first = shown.first { $0.account != nil } ?? shown.first ?? .lost
        var question = Question(action, owner: reportingLostWork(first))
        question.coVisibleIdentities = shown.filter { $0 != first }.compactMap {
            $0.account.map { .managed($0) } ?? .personal
        }
        return question
    }

    /// The rules in force for an identity, to adapt an app's screens by (SDK-CO-05); nil when none apply.
    public func policy(of identity: Identity) -> EffectivePolicy? {
        accounts.rules.policies.policy(of: accounts.resolved(EffectiveIdentity(identity)))
    }

    /// The policy for the work at hand, the one that counts for its files (SDK-ID-44); nil when none applies.
    public func currentPolicy() -> EffectivePolicy? {
        accounts.rules.policies.policy(of: inForce(IdentityContext.current))
    }

    /// The policy of a window: of the account it shows, or a lock-down when it shows several of which one is managed
    /// (SDK-ID-44, SDK-ID-47); nil where none applies.
    public func policy(in window: WindowID?) -> EffectivePolicy? {
        let shown = IdentityContext.currentInterface(in: window).map { inForce($0) }
        if shown.count == 1, let only = shown.first { return accounts.rules.policies.policy(of: only) }
        return policy(ofSeveral: shown.map { $0.account.map { .managed($0) } ?? .personal })
    }

    /// The policy of several accounts together: a lock-down when one of them is managed (SDK-ID-47); nil where none is.
    public func policy(ofSeveral identities: [Identity]) -> EffectivePolicy? {
        let governed = identities.map { identity in
            inForce(EffectiveIdentity(identity)).account.map { Identity.managed($0) } ?? .personal
        }
        return accounts.rules.policies.policy(ofSeveral: governed)
    }

    /// The organisation's account for which the work at hand is done.
    ///
    /// - Throws: ``ProtectionError``: `identityLost` when the identity did not follow to the caller, `notEnrolled` when the
    ///   work is personal, or for an account that is not enrolled here.
    public func currentAccount() throws(ProtectionError) -> AccountID {
        switch accounts.resolved(reportingLostWork(IdentityContext.current)) {
        case .managed(let account):
            guard accounts.state(of: account) != nil else {
                throw ProtectionError(
                    notEnrolled: "the account of this work is not enrolled in this app", among: accounts)
            }
            return account
        case .personal, .unset:
            throw ProtectionError(notEnrolled: "this work is not for an organisation's account", among: accounts)
        case .lost: throw ProtectionError(.identityLost, "the identity of this work was lost")
        }
    }

    // MARK: What the other parts ask

    /// The decision that refuses a question, with every reason; nil where its verdict is accepted, which by default every verdict is
    /// that permits.
    func refusal(
        of question: Question, unless accepts: (Verdict) -> Bool = { $0.permits }
    ) -> PolicyDecision? {
        if let permission = finalPermission(for: question), accepts(permission) { return nil }
        let asked = Asked(question, self)
        return accepts(asked.verdict) ? nil : asked.decision(recordingIn: denials)
    }

    /// Takes a permit back for good, after checking that it is for this and still in force; what it allowed.
    func spend(
        _ permit: consuming EgressPermit, for action: Action, of owner: AccountID?
    ) throws(ProtectionError) -> Question {
        if owner != nil { reportingLostWork(IdentityContext.current) }
        let owner = owner.map { accounts.resolved($0) }
        guard permit.question.action == action, permit.question.owner?.account == owner else {
            throw ProtectionError(.noPermit, "the permit is for another action or for another identity's data")
        }
        guard permit.rules == owner.map({ accounts.state(of: $0)?.number ?? 0 }) ?? 0 else {
            throw ProtectionError(.permitOutdated, "the rules changed after the permit was issued")
        }
        if let owner, permit.opening != gates.opening(of: owner), isGoverned(owner) {
            throw ProtectionError(.permitOutdated, "the gate was closed after the permit was issued")
        }
        return permit.question
    }

    /// Refuses a way out while the owner's gate is closed, with the reasons why it is.
    ///
    /// - Returns: The epoch in which the gate is open; nil where there is none to pass.
    @discardableResult
    func requireOpenGate(for question: Question) throws(ProtectionError) -> Int? {
        guard let account = question.owner?.account else { return nil }
        if let opening = gates.opening(of: account) { return opening }
        guard isGoverned(account) else { return nil }
        throw ProtectionError(denied: PolicyDecision(reasons: gates.reasonsOfClosed(account)))
    }

    /// Refuses reading while the account's gate is closed, unless the app has taken that duty upon itself; no app takes it while the account's
    /// rules cannot be read.
    func requireOpenGate(forReading account: AccountID) throws(ProtectionError) {
        guard configuration.gateGuardsFiles || accounts.isUnreadable(account), !gates.isOpen(account),
            isGoverned(account)
        else { return }
        let reason = gates.reasonsOfClosed(account).first ?? GateState.notPassed
        throw ProtectionError(.gateClosed, reason.message, hint: reason.remedy)
    }

    /// Says once, in a debug build, when organisation data is touched by work whose identity did not follow: somewhere it
    /// went through a queue, a thread or a detached task unlabelled.
    ///
    /// Called where the work's own identity is asked for, but for the pins of a connection, where files are reached by name, and where data goes
    /// out or comes in; not for a question or a path that names its owner.
    @discardableResult
    func reportingLostWork(_ identity: EffectiveIdentity) -> EffectiveIdentity {
        #if DEBUG
            if identity == .lost, !accounts.rules.managed.isEmpty, isFirstLostWork() {
                configuration.logger.warning(
                    "organisation data was asked for by work without an identity; link CordonDispatch, or bind the work",
                    metadata: ["cause": "identity lost"])
            }
        #endif
        return identity
    }

    /// A verdict that permits and that nothing which Cordon knows would change, from the compiled tables; nil where the question has
    /// to be completed first, or may be denied. Nothing is allocated and no clock is read.
    private func finalPermission(for question: Question) -> Verdict? {
        if webViewersUnmanaged, question.action.concernsWebViews { return nil }
        guard let verdict = accounts.policies.finalVerdict(for: question), verdict.permits else { return nil }
        return verdict
    }

    /// A question with every account under its one id, and completed by what Cordon knows, with the rules to ask.
    private struct Asked {
        let resolved: Question
        private let completed: Question
        private let rules: RulesInForce
        private let moment: ClockMonitor.Moment

        init(_ question: Question, _ owner: EnforcedRules) {
            moment = owner.context.clock.read()
            rules = owner.context.accounts.rules
            resolved = rules.resolved(question)
            var completed = rules.complete(resolved, at: moment)
            if owner.webViewersUnmanaged { completed.webViewersUnmanaged = true }
            self.completed = completed
        }

        /// From the compiled tables, where they suffice.
        var verdict: Verdict { rules.policies.verdict(for: completed) }

        /// The number of the owner's rules that were asked; 0 where there are none.
        var rulesOfOwner: Int { resolved.owner?.account.flatMap { rules[$0]?.number } ?? 0 }

        func decision(recordingIn denials: DenialLog) -> PolicyDecision {
            let decision = rules.policies.decision(for: completed)
            if !decision.verdict.permits { denials.record(decision, of: resolved, at: moment.now) }
            return decision
        }

        func recordDenial(_ verdict: Verdict, in denials: DenialLog) {
            denials.record(verdict, of: completed, by: rules.policies, account: resolved.owner?.account, at: moment.now)
        }
    }

    private func isFirstLostWork() -> Bool {
        hasReportedLostWork.withLock { hasReported in
            defer { hasReported = true }
            return !hasReported
        }
    }

    /// An account without targeted rules counts as personal.
    private func inForce(_ identity: EffectiveIdentity) -> EffectiveIdentity {
        let identity = accounts.resolved(identity)
        guard case .managed(let account) = identity, accounts.isUntargeted(account) else { return identity }
        return .personal
    }

    /// Whether an account's data may be shown now: its gate is open, or no rules target it, so that it has none. Not so while nothing is known
    /// of it, nor once it is gone.
    package func mayShow(_ account: AccountID) -> Bool {
        let account = accounts.resolved(account)
        return isGoverned(account) ? gates.isOpen(account) : accounts.isUntargeted(account)
    }

    /// An account without rules has no gate.
    func isGoverned(_ account: AccountID) -> Bool {
        switch accounts.state(of: account)?.rules {
        case .policy?, .unreadable?: true
        case .noneTargeted?, nil: false
        }
    }
}

extension PolicyDecision {
    /// A plain yes.
    fileprivate static let allowed = PolicyDecision(reasons: [])
}

extension Action {
    /// Whether it may depend on how far a web view belongs to the account.
    fileprivate var concernsWebViews: Bool {
        switch self {
        case .copy, .paste, .webUpload, .webPaste: true
        default: false
        }
    }

    /// Whether the identity of the work decides, and not what its window shows (SDK-ID-05, SDK-FP-09).
    fileprivate var isFileTask: Bool {
        switch self {
        case .backUp, .encryptFile: true
        default: false
        }
    }
}
