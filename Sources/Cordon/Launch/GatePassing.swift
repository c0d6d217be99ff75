internal import CordonBase
internal import CordonIdentity
internal import CordonPolicy

/// How launch gates are passed: one attempt at a gate at a time, which callers share, and what is under way when the app leaves the
/// front. The gates themselves are ``GateStates``; what closes them is ``LaunchGates``'.
actor GatePassing {
    /// The executor that all parts of the protection share.
    nonisolated var unownedExecutor: UnownedSerialExecutor { tools.context.domain.unownedExecutor }

    private let tools: LaunchTools
    private let requests: IdentityRequests
    private let keys: GateKeys
    /// The attempts that are being made; callers who want the same gate passed at the same time share one. One is put off where no one
    /// was refused anything, and yet the gate is closed at its end.
    private let attempts = AbandonableTask<AccountID, (outcome: LaunchOutcome, isPutOff: Bool)>()
    /// The changes of a PIN that are being made. No other occasion joins one: it ends where the gate it began at does.
    private let changes = AbandonableTask<AccountID, LaunchOutcome>()
    /// Notes when the person was last there; an attempt looks at that after it was noted.
    private let departure = Locked<Task<Void, Never>?>(nil)
    /// What other parts do about conditions that are not met; nil before the parts are connected.
    private var remedies: LaunchRemedies?

    init(_ tools: LaunchTools, requests: IdentityRequests, keys: GateKeys) {
        self.tools = tools
        self.requests = requests
        self.keys = keys
    }

    /// Says what other parts do about conditions that are not met; to be called once, before any gate is passed.
    func connect(_ remedies: LaunchRemedies) { self.remedies = remedies }

    private var context: ProtectionContext { tools.context }
    private var configuration: ProtectionConfiguration { tools.context.configuration }

    /// Passes an account's gate as far as the app is in front; the account under the id that its rules are kept under.
    ///
    /// Who joins an attempt that is put off has come back after what closed the gate, and so makes another.
    func pass(_ account: AccountID, on occasion: LaunchOccasion) async -> LaunchOutcome {
        let cancelled = LaunchOutcome(account: account, result: .cancelled)
        if occasion == .pinChange {
            await finish(at: account)
            return await changes.value(account, whenCancelled: cancelled) {
                await self.attempt(account, on: occasion).outcome
            }
        }
        let isKnown = context.accounts.state(of: account) != nil
        while true {
            // A change of the PIN may have begun while an attempt was put off.
            if !tools.gates.isOpen(account) { giveUpPINChange(of: account) }
            await changes.end(of: account)
            let (outcome, isPutOff) = await attempts.value(account, whenCancelled: (cancelled, isPutOff: false)) {
                await self.attempt(account, on: occasion)
            }
            guard isPutOff, !tools.gates.isBehind else { return outcome }
            if isKnown, context.accounts.state(of: account) == nil {
                return LaunchOutcome(account: account, result: .wiped)
            }
        }
    }

    private func attempt(
        _ account: AccountID, on occasion: LaunchOccasion
    ) async -> (outcome: LaunchOutcome, isPutOff: Bool) {
        guard let remedies else { return (LaunchOutcome(account: account, result: .blocked), isPutOff: false) }
        let wasKnown = context.accounts.state(of: account) != nil
        await takeUpStored()
        if wasKnown, context.accounts.state(of: account) == nil {
            return (LaunchOutcome(account: account, result: .wiped), isPutOff: false)
        }
        let epoch = tools.gates.epoch(of: account)
        let isKnown = context.accounts.state(of: account) != nil
        await departure.withLock { $0 }?.value
        // What the clock has shown is kept, so that turning it back across a restart of the machine is seen.
        await remedies.recordClock()
        var attempt = LaunchAttempt(tools, remedies, at: account, on: occasion)
        if occasion == .launch, !context.accounts.isUntargeted(account) { await attempt.session.takeOver() }
        var result = await attempt.run()
        let opening = await open(account, isKnown: isKnown, in: epoch, after: &result, of: &attempt)
        // An attempt that every caller has left before the gate opened changes nothing any more; the key that it has brought goes again.
        if Task.isCancelled, opening != .opened {
            await withdrawKey(of: account)
        } else {
            await finish(account, result, &attempt)
            // No condition refused where it was only put off: the gate is passed again when the app is back.
            if opening != .isBehind {
                let outcome = LaunchOutcome(account: account, result: result, reasons: attempt.reasons)
                tools.gates.setBlock(after: outcome, of: account)
            }
            if result != .opened, opening != .isBehind, !tools.gates.isBehind {
                await requests.takeAway(account, &attempt.session)
            }
        }
        await attempt.session.handBack()
        // That took as long as the interface wanted, and what closes a gate does not wait for it.
        guard opening == .opened, !tools.gates.isOpen(account) else {
            return (attempt.outcome(result), isPutOff: opening == .isBehind)
        }
        let isGone = context.accounts.state(of: account) == nil
        return (attempt.outcome(isGone ? .wiped : .cancelled), isPutOff: !isGone)
    }

    /// Opens the gate after an attempt that found nothing against it. Where the gate was closed since the attempt began, everything
    /// is looked at once more before; a change of the PIN has nothing to open then. Nobody is let in where it was open all the time.
    ///
    /// - Parameter isKnown: Whether there was such an account when the attempt began.
    private func open(
        _ account: AccountID, isKnown: Bool, in epoch: Int, after result: inout LaunchOutcome.Result,
        of attempt: inout LaunchAttempt
    ) async -> GateStates.Opening? {
        var epoch = epoch
        var hasLostKey = false
        while result == .opened, !Task.isCancelled {
            // An account whose data was removed in this very moment has no gate to open.
            guard context.accounts.state(of: account) != nil else {
                if isKnown { result = .wiped }
                return nil
            }
            if attempt.session.occasion.isDuringUse, tools.gates.opening(of: account) == epoch { return .opened }
            // Taken before, since the process may be frozen at any instant after.
            let moment = ClockReading(configuration.clock)
            let opening = tools.gates.open(account, in: epoch, askingAfter: attempt.pinPeriod)
            switch opening {
            case .opened:
                // The key's timer may have locked it since the attempt looked. While the gate is open, nothing locks it.
                if await tools.guards.isClosed(account) {
                    tools.gates.close(account, because: [])
                    guard !hasLostKey else {
                        result = .blocked
                        return nil
                    }
                    hasLostKey = true
                    epoch = tools.gates.epoch(of: account)
                    result = await attempt.runAgain()
                    continue
                }
                await tools.recordActivity(of: account, at: moment, letInAskingAfter: attempt.pinPeriod)
                return opening
            case .isBehind:
                result = .cancelled
                return opening
            case .wasClosed where attempt.session.occasion == .pinChange:
                result = .cancelled
                return opening
            case .wasClosed:
                epoch = tools.gates.epoch(of: account)
                result = await attempt.runAgain()
            }
        }
        return nil
    }

    /// Puts in force that the gate stays closed, and notifies observers.
    private func finish(
        _ account: AccountID, _ result: LaunchOutcome.Result, _ attempt: inout LaunchAttempt
    ) async {
        switch result {
        case .opened:
            guard tools.gates.isOpen(account) else { return }
            keys.applyRules(to: account, with: attempt.givenPIN)
            if let countdown = tools.postUrgentCountdown(of: account) { await attempt.session.show(countdown) }
        case .cancelled, .blocked:
            tools.gates.close(account, because: attempt.reasons)
            await withdrawKey(of: account)
        case .wiped:
            tools.gates.forget(account)
        }
    }

    /// Takes the key from memory that an attempt has brought whose gate stays closed; behind the front, when its time is over.
    private func withdrawKey(of account: AccountID) async {
        guard tools.gates.isBehind else { return await keys.close(account) }
        keys.closeWhenDue(account, after: departure.withLock { $0 }, anew: false)
    }

    /// Passes the gate of the account to be shown: the one named, else the only managed one, or in an app for one the primary one.
    func passFirst(_ account: AccountID?, on occasion: LaunchOccasion) async -> LaunchOutcome {
        if let account { return await pass(context.accounts.resolved(account), on: occasion) }
        await takeUpStored()
        let managed = context.accounts.rules.managed
        if managed.isEmpty { return await passWithoutPolicy(on: occasion) }
        let shown = managed.count == 1 ? managed.first : context.accounts.primary
        guard let shown, !configuration.settings.holdsSeveralIdentities else {
            return LaunchOutcome(account: nil, result: .opened)
        }
        return await pass(shown, on: occasion)
    }

    /// An app without any policy: closed, warned of, or simply not managed, as its settings say (SDK-ST-10, ST-11).
    private func passWithoutPolicy(on occasion: LaunchOccasion) async -> LaunchOutcome {
        let settings = configuration.settings
        guard settings.requiresPolicy || settings.warnsWithoutPolicy else {
            return LaunchOutcome(account: nil, result: .opened)
        }
        let reason = PolicyReason(
            rule: .policyUnknown, message: Texts.gateNoOrganisationManagesThisAppYet,
            remedy: Texts.denialSignInWithWorkAccount, verdict: settings.requiresPolicy ? .block : .warn)
        var session = InterfaceSession(tools.screens, account: nil, occasion: occasion)
        let answer = await session.present(
            ProtectionNotice(
                settings.requiresPolicy ? .blocked : .warning, account: nil, causes: [.init(reason)],
                answers: settings.requiresPolicy ? [.cancel] : [.goOn, .cancel]),
            as: settings.requiresPolicy ? .block : .warning)
        await session.handBack()
        let result: LaunchOutcome.Result =
            settings.requiresPolicy
            ? .blocked : answer == .goOn || configuration.interface == nil ? .opened : .cancelled
        return LaunchOutcome(account: nil, result: result, reasons: [reason], steps: session.steps)
    }

    // MARK: The front

    /// Has an extension take up what its app has stored since. It asks no service itself, so the rules and the contact that it began with grow
    /// old while it runs: a condition would be judged by them, and data removed for want of a contact that the app had.
    func takeUpStored() async {
        if configuration.isExtension { await remedies?.takeUpStored() }
    }

    /// Passes the gate of the account to be shown, after the app has come back to the front.
    func passAfterReturn(_ account: AccountID?) async -> LaunchOutcome {
        await remedies?.askDeviceAccount()
        return await passFirst(account, on: .resume)
    }

    /// Gives a change of the account's PIN up, where one is under way: who asked for it hears how far it came. Any thread.
    nonisolated func giveUpPINChange(of account: AccountID) { changes.cancel(account) }

    /// Notes when the person was last at accounts whose gates have just closed because the app left the front, and takes from memory
    /// when it is time the keys of these and of others, whose gates may just be being passed. Any thread, no waiting.
    nonisolated func noteDeparture(from closed: [AccountID], others: [AccountID]) {
        let moment = ClockReading(tools.context.configuration.clock)
        // An attempt that is under way may open a gate again.
        let openings = closed.map { ($0, tools.gates.pinPeriodAtOpening(of: $0)) }
        departure.withLock { [tools, keys] departure in
            departure = Task { [before = departure] in
                await before?.value
                for (account, period) in openings {
                    await tools.recordActivity(of: account, at: moment, letInAskingAfter: period)
                }
            }
            for account in closed { keys.closeWhenDue(account, after: departure, anew: true) }
            for account in others { keys.closeWhenDue(account, after: departure, anew: false) }
        }
    }

    /// Returns when what ``noteDeparture(from:)`` began has ended.
    func finishDeparture() async { await departure.withLock { $0 }?.value }

    /// Returns when nothing is asked at the account's gate, except by a change of its PIN that goes on.
    func finish(at account: AccountID) async {
        // The person is back: what was given up behind the front would ask nothing.
        await changes.endOfCancelled(account)
        await attempts.end(of: account)
    }
}
