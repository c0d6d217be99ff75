internal import CordonBase
public import CordonIdentity
internal import CordonPolicy

/// Whose data each window shows, as the app states it and as Cordon asks it to. State it before the data appears: at launch, at every
/// change of account, and for personal accounts too (SDK-ID-15, SDK-ID-16).
///
/// Use it as ``AppProtection/windows``. A wipe closes the account's gate: hide the account when
/// ``ProtectionEvent/gate(account:_:)`` says so.
///
/// ```swift
/// guard await protection.windows.switchIdentity(to: .managed(account)).result == .switched else { return }
/// show(account)
/// ```
public actor WindowIdentities {
    private let context: ProtectionContext
    private let tools: LaunchTools
    private let gate: LaunchGates
    private let requests: IdentityRequests

    /// The executor that all parts of the protection share.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { context.domain.unownedExecutor }

    init(_ tools: LaunchTools, gate: LaunchGates, requests: IdentityRequests) {
        context = tools.context
        self.tools = tools
        self.gate = gate
        self.requests = requests
    }

    /// Makes a window show an identity's data. An organisation's account passes its launch gate first, a personal one does
    /// not (SDK-ID-17). Wait for this before you do what the switch is for, and abandon it on anything but
    /// ``IdentitySwitchOutcome/Result/switched``.
    ///
    /// - Parameters:
    ///   - identity: Nil gives the window back to the process identity (SDK-NA-01).
    ///   - window: Nil is the window in front.
    public func switchIdentity(to identity: Identity?, in window: WindowID? = nil) async -> IdentitySwitchOutcome {
        let window = window ?? IdentityContext.keyWindow
        if let refusal = refusal(of: [identity].compactMap(\.self)) { return refusal }
        let shown = identity ?? IdentityContext.processIdentity
        return await change(window, to: identity.map { [$0] }, passing: [shown].compactMap(\.self))
    }

    /// Makes a window show several accounts at once, under a lock-down policy if any of them is managed
    /// (SDK-ID-45, SDK-ID-47). Cordon passes the gate of each managed one, in order. An empty list shows no identity (SDK-NA-03).
    ///
    /// Only for apps that may hold several managed accounts; any other gets
    /// ``IdentitySwitchOutcome/Result/failed``.
    public func switchIdentities(
        to identities: [Identity], in window: WindowID? = nil
    ) async -> IdentitySwitchOutcome {
        guard context.accounts.allowsSeveralManagedAccounts || identities.count < 2 else {
            return IdentitySwitchOutcome(.failed, "this app shows one account in a window")
        }
        if let refusal = refusal(of: identities) { return refusal }
        return await change(window ?? IdentityContext.keyWindow, to: identities, passing: identities)
    }

    /// Has the app show an identity's data in a window, for something that came from outside: a URL, documents (SDK-ID-30).
    ///
    /// Cordon passes the gate, then asks the app, and after its yes the window shows the identity. A window that
    /// shows it already only needs the gate to be open. If the gate closes while the app is asked, Cordon passes it again. Abandon
    /// what you were about to do on anything but ``IdentitySwitchOutcome/Result/switched``.
    ///
    /// - Parameters:
    ///   - identity: Whose data came.
    ///   - window: Nil is the window in front.
    ///   - reason: What came from outside; the app's delegate is told.
    public func requireIdentity(
        _ identity: Identity, in window: WindowID? = nil, because reason: IdentitySwitchReason
    ) async -> IdentitySwitchOutcome {
        let window = window ?? IdentityContext.keyWindow
        let isShown = IdentityContext.windowIdentity(of: window).map { IdentityContext.areSame($0, identity) } ?? false
        if isShown, identity.account.map({ gate.isOpen(for: $0) }) ?? true { return .switched }
        if let refusal = refusal(of: [identity]) { return refusal }
        let accounts = [identity.account].compactMap(\.self)
        let change = Change(number: requests.windows.begin(window), window: window, present: accounts.filter(isPresent))
        if let refusal = await pass(accounts, for: change) { return refusal }
        if isShown { return await finish(change, with: [identity]) }
        let request = IdentityRequest(identity: identity, window: window, reason: reason)
        let agreed = await requests.ask("switch") { delegate, answer in
            try await delegate.identitySwitchRequired(request, answer: answer)
        }
        guard agreed else { return IdentitySwitchOutcome(.failed, "the app did not switch") }
        // The app may have taken minutes, in which the person left.
        if let refusal = await pass(accounts.filter(isShut), for: change) { return refusal }
        return await finish(change, with: [identity])
    }

    /// Passes the gates of everything that the windows show, once per account, after the app has come back to the front (SDK-ID-39) or rules
    /// have changed. If a gate stays closed, the app takes the account off its windows, under Cordon's own
    /// screens (SDK-ID-48); if it does not, Cordon tells the person, and
    /// ``ProtectionConfiguration/identityExit`` ends the app (SDK-ID-49).
    ///
    /// This does not mark the app as in front; call ``LaunchGates/cameToFront(_:)`` first. While the app is behind, and in a cancelled
    /// task, nobody is asked, no gate opens and no window loses its account.
    ///
    /// - Returns: The outcome for each window that shows an organisation's data.
    @discardableResult
    public func resume() async -> [WindowID: IdentitySwitchOutcome] {
        let windows = IdentityContext.everyWindow.sorted { $0.key.rawValue < $1.key.rawValue }
            .map { (window: $0.key, accounts: $0.value.compactMap(\.account)) }
        let accounts = windows.flatMap(\.accounts)
        var refusals: [AccountID: IdentitySwitchOutcome] = [:]
        var passed: Set<AccountID> = []
        while !tools.gates.isBehind, !Task.isCancelled,
            let account = accounts.first(where: { refusals[$0] == nil && (!passed.contains($0) || isShut($0)) })
        {
            let refusal = await passGate(of: account, on: .resume)
            // Put off, and passed again where the app is back by now.
            if refusal == .behind { continue }
            passed.insert(account)
            refusals[account] = refusal
        }
        // Nor is anything said by who has given up waiting.
        let isBehind = tools.gates.isBehind || Task.isCancelled
        // Where the gate had no screens of its own to do it under.
        for account in isBehind ? [] : refusals.keys.sorted(by: { $0.rawValue < $1.rawValue }) {
            var session = InterfaceSession(tools.screens, account: account, occasion: .resume)
            for window in requests.windows(showing: account) { await requests.hide(account, in: window, &session) }
            await session.handBack()
        }
        var outcomes: [WindowID: IdentitySwitchOutcome] = [:]
        for (window, accounts) in windows where !accounts.isEmpty {
            outcomes[window] = accounts.compactMap { refusals[$0] }.last ?? (isBehind ? .behind : .switched)
        }
        return outcomes
    }

    /// Asks the app to add an account that Cordon enrolled on its own (SDK-ID-35).
    ///
    /// - Returns: Whether the app added it.
    public func offerAccount(_ account: ManagedAccount) async -> Bool {
        await requests.ask("add an account") { delegate, answer in
            try await delegate.accountAdded(account, answer: answer)
        }
    }

    /// Why an account's data is kept from the person at present (SDK-ID-50); any thread.
    public nonisolated func block(of account: AccountID) -> AccountBlock {
        tools.gates.block(of: tools.context.accounts.resolved(account))
    }

    /// The accounts whose data is kept from the person at present, in order; any thread.
    public nonisolated var blockedAccounts: [AccountID] { tools.gates.blockedAccounts }

    /// Has something look again when a window shows another identity, which every change waits for, or its rules change.
    package nonisolated func whenShown(_ look: @escaping @Sendable () async -> Void) {
        context.accounts.drawnWindows.drawn(by: look)
    }

    /// What forbids a change before the app or the person is asked (SDK-ID-20, CQ-34).
    private func refusal(of identities: [Identity]) -> IdentitySwitchOutcome? {
        if let own = IdentityContext.currentScope, !identities.allSatisfy({ IdentityContext.areSame($0, own) }) {
            return IdentitySwitchOutcome(.notAllowed, "the work that asks has another identity; leave its scope first")
        }
        let accounts = context.accounts
        guard !accounts.allowsSeveralManagedAccounts else { return nil }
        let holder = accounts.placeHolder
        for account in identities.compactMap(\.account) where !accounts.isUntargeted(accounts.resolved(account)) {
            if let holder, !IdentityContext.areSame(account, holder) {
                return IdentitySwitchOutcome(.notAllowed, "another managed account is present, and one is supported")
            }
        }
        return nil
    }

    /// Passes every gate, then notes what the window shows, unless a later change came in between.
    private func change(
        _ window: WindowID, to identities: [Identity]?, passing shown: [Identity]
    ) async -> IdentitySwitchOutcome {
        let accounts = shown.compactMap(\.account)
        let change = Change(number: requests.windows.begin(window), window: window, present: accounts.filter(isPresent))
        if let refusal = await pass(accounts, for: change) { return refusal }
        return await finish(change, with: identities)
    }

    /// A change of what a window shows.
    private struct Change {
        let number: Int
        let window: WindowID
        /// The accounts to be shown that were here when it began.
        let present: [AccountID]
    }

    /// Passes gates, in order, until all of them are open at once: while one is being passed, whatever closes the others may happen.
    private func pass(_ accounts: [AccountID], for change: Change) async -> IdentitySwitchOutcome? {
        var passed: Set<AccountID> = []
        while let account = accounts.first(where: { !passed.contains($0) || isShut($0) }) {
            passed.insert(account)
            // First, since what is refused is taken from the window, which is a later change of it.
            if let refusal = await passGate(of: account, on: .identitySwitch) { return refusal }
            guard requests.windows.isLatest(change.number, of: change.window) else { return .superseded }
        }
        return nil
    }

    /// Notes what the window shows, where everything that it shows is still here.
    private func finish(_ change: Change, with identities: [Identity]?) async -> IdentitySwitchOutcome {
        guard change.present.allSatisfy(isPresent) else { return .removed }
        let outcome = requests.windows.finish(change.number, of: change.window, identities)
        // Before the app draws what it waits for.
        await context.accounts.drawnWindows.look()
        return outcome
    }

    private func isPresent(_ account: AccountID) -> Bool {
        context.accounts.state(of: context.accounts.resolved(account)) != nil
    }

    /// Whether an account's gate has to be passed before its data is shown.
    private func isShut(_ account: AccountID) -> Bool {
        let account = context.accounts.resolved(account)
        return context.configuration.switchGate == nil && tools.rules.isGoverned(account)
            && !tools.gates.isOpen(account)
    }

    /// Passes an account's gate; nil when its data may be shown. An account without rules has no gate.
    private func passGate(of account: AccountID, on occasion: LaunchOccasion) async -> IdentitySwitchOutcome? {
        let account = context.accounts.resolved(account)
        if context.accounts.isUntargeted(account) { return nil }
        let answer: SwitchGateAnswer
        if let standIn = context.configuration.switchGate {
            answer = await standIn(account, occasion)
            tools.gates.setBlock(AccountBlock(answer), of: account)
        } else if context.configuration.interface == nil {
            answer = await gateAnswer(of: account, on: occasion)
            // No person can have cancelled: it was only put off.
            if answer != .cancelled { tools.gates.setBlock(AccountBlock(answer), of: account) }
        } else {
            answer = SwitchGateAnswer(await gate.passInFront(account, on: occasion))
        }
        return switch answer {
        case .passed: nil
        case .cancelled: tools.gates.isBehind ? .behind : IdentitySwitchOutcome(.cancelled, "the person cancelled")
        case .blocked(let reason, _): IdentitySwitchOutcome(.notAllowed, reason)
        case .wiped: .removed
        }
    }

    /// What the launch conditions say by themselves, of this device as it is. The person is not asked, so that is how the gate stands.
    private func gateAnswer(of account: AccountID, on occasion: LaunchOccasion) async -> SwitchGateAnswer {
        while true {
            let epoch = tools.gates.epoch(of: account)
            let (decision, pinPeriod) = await tools.conditions.look(at: account, on: occasion)
            // A look that is given up finds that nothing is known of the device, which closes no gate.
            guard !Task.isCancelled else { return .cancelled }
            if let reason = decision.reasons.first(where: { !$0.verdict.permits }) {
                tools.gates.close(account, because: decision.reasons)
                return .blocked(reason: reason.message, isClockedOut: reason.rule == Rule.launchClock.rawValue)
            }
            switch tools.gates.open(account, in: epoch, askingAfter: pinPeriod) {
            case .opened: return .passed
            case .isBehind: return .cancelled
            case .wasClosed: continue
            }
        }
    }
}

extension AccountBlock {
    /// What an answer of the gate means for the account's data.
    init(_ answer: SwitchGateAnswer) {
        self =
            switch answer {
            case .passed, .wiped: .notBlocked
            case .cancelled: .launchCancelled
            case .blocked(_, let isClockedOut): isClockedOut ? .clockedOut : .launchBlocked
            }
    }
}

extension SwitchGateAnswer {
    /// The outcome of the launch gate, as a window's change of identity takes it.
    init(_ outcome: LaunchOutcome) {
        switch outcome.result {
        case .opened: self = .passed
        case .cancelled: self = .cancelled
        case .wiped: self = .wiped
        case .blocked:
            let reason = outcome.reasons.first { !$0.verdict.permits } ?? GateState.notPassed
            self = .blocked(reason: reason.message, isClockedOut: reason.rule == Rule.launchClock.rawValue)
        }
    }
}
