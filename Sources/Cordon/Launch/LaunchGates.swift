internal import CordonBase
public import CordonIdentity
internal import CordonPolicy
internal import Logging

/// The launch gates of an app's accounts: whether they are open, what closes them while the app is in front, and the PIN behind them.
///
/// Use it as ``AppProtection/gate``. An app passes gates with ``AppProtection/launch(_:)`` and ``AppProtection/resume(_:)``, and
/// closes all of them with ``leftFront()``. A wiped account has no gate any more, and nothing of it can be read.
///
/// ```swift
/// let watch = Task { await protection.gate.watch(account) }  // closes the gate when time or device say so
/// protection.gate.leftFront()                                // the app leaves the front
/// protection.gate.cameToFront(account)                       // it comes back: asks for the PIN if one is due
/// ```
public actor LaunchGates: AccountFollower {
    /// The longest time between two looks at an open gate.
    private static let lookInterval = Duration.seconds(300)

    /// The executor that all parts of the protection share.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { tools.context.domain.unownedExecutor }

    private let tools: LaunchTools
    /// The keys behind the gates.
    nonisolated let keys: GateKeys
    private let passing: GatePassing

    init(_ tools: LaunchTools, requests: IdentityRequests) {
        self.tools = tools
        keys = GateKeys(tools)
        passing = GatePassing(tools, requests: requests, keys: keys)
    }

    /// Says what other parts do about conditions that are not met; to be called once, before any gate is passed.
    func connect(_ remedies: LaunchRemedies) async { await passing.connect(remedies) }

    private var context: ProtectionContext { tools.context }
    private var configuration: ProtectionConfiguration { tools.context.configuration }

    // MARK: Asking

    /// Whether an account's gate was passed and is open. Any thread.
    ///
    /// Without an interface, Cordon cannot ask the person anything. Until the gate is tried, it then counts as open if the rules
    /// ask the person for nothing, and as closed if they want a PIN or a fresh sign-in; once it was tried, the outcome counts.
    public nonisolated func isOpen(for account: AccountID) -> Bool {
        tools.gates.isOpen(tools.context.accounts.resolved(account))
    }

    /// How long the account may still be without contact; nil when no policy limits it.
    public func offlineCountdown(of account: AccountID) -> OfflineCountdown? {
        tools.conditions.offlineCountdown(of: context.accounts.resolved(account))
    }

    /// How long the account may still be without contact: now, and again after every interval, until the stream is dropped.
    public nonisolated func offlineCountdowns(
        of account: AccountID, every interval: Duration
    ) -> AsyncStream<OfflineCountdown> {
        let clock = tools.context.configuration.clock
        let isFirst = Locked(true)
        return AsyncStream {
            let waits = isFirst.withLock { isFirst in
                defer { isFirst = false }
                return !isFirst
            }
            if waits {
                do { try await clock.sleep(interval) } catch { return nil }
            }
            return await self.offlineCountdown(of: account)
        }
    }

    // MARK: Passing

    /// Passes an account's gate: checks every condition of its policy, in order, and asks the person or the service where they
    /// can meet one, until the data may be shown or it is clear that it may not.
    ///
    /// Calls made while the gate is being passed join that pass. If the gate closes again before the screen is handed back, Cordon
    /// checks everything anew as long as the app is in front. A cancelled caller returns at once with
    /// ``LaunchOutcome/Result/cancelled``; when the last caller is gone, the open question is cancelled too.
    public func pass(_ account: AccountID, on occasion: LaunchOccasion) async -> LaunchOutcome {
        if occasion == .launch || occasion == .resume { tools.gates.comeToFront() }
        return await passInFront(account, on: occasion)
    }

    /// Passes an account's gate as far as the app is in front.
    func passInFront(_ account: AccountID, on occasion: LaunchOccasion) async -> LaunchOutcome {
        await passing.pass(context.accounts.resolved(account), on: occasion)
    }

    /// Passes the gate of the account to be shown: the one named, else the only managed one, or in an app for one the primary one.
    func passFirst(_ account: AccountID?, on occasion: LaunchOccasion) async -> LaunchOutcome {
        await passing.passFirst(account, on: occasion)
    }

    // MARK: Closing

    /// Closes every gate, because the app leaves the front. The gates stay closed until ``cameToFront(_:)``; the time away counts
    /// from here (SDK-CL-03). Any thread, no waiting.
    ///
    /// A gate that is being passed meanwhile opens only if the app is in front again by then, after another look at its
    /// conditions. A change of the PIN that is under way is abandoned.
    ///
    /// ```swift
    /// func sceneDidEnterBackground(_ scene: UIScene) { cover(protection.gate.leftFront()) }
    /// ```
    /// - Returns: The accounts whose data you have to cover before the system takes its snapshot of the app, in order; each is also
    ///   posted as ``ProtectionEvent/gate(account:_:)``.
    @discardableResult
    public nonisolated func leftFront() -> [AccountID] {
        let closed = tools.gates.leaveFront()
        let accounts = tools.context.accounts
        let all = accounts.enrolled + [accounts.debugged].compactMap { $0 }
        for account in all { passing.giveUpPINChange(of: account) }
        passing.noteDeparture(from: closed, others: all.filter { !closed.contains($0) })
        return closed
    }

    /// Lets gates open again, because the app comes back to the front, and passes the account's gate as ``AppProtection/resume(_:)`` does.
    /// Any thread, no waiting.
    ///
    /// Call it where the system says so, in the same place as ``leftFront()``. Of the two, the call made last counts,
    /// however late the work that they begin is done.
    ///
    /// ```swift
    /// func sceneWillEnterForeground(_ scene: UIScene) { protection.gate.cameToFront() }
    /// ```
    /// - Returns: A task that passes the gate, for callers that wait for the outcome.
    @discardableResult
    public nonisolated func cameToFront(_ account: AccountID? = nil) -> Task<LaunchOutcome, Never> {
        noteFront()
        return Task { [passing] in await passing.passAfterReturn(account) }
    }

    /// Does what ``cameToFront(_:)`` does, for a caller who may leave.
    func comeBack(_ account: AccountID?) async -> LaunchOutcome {
        noteFront()
        return await passing.passAfterReturn(account)
    }

    /// Lets gates be opened again; none opens by it. Any thread.
    nonisolated func noteFront() { tools.gates.comeToFront() }

    /// Closes every gate, and waits until it is noted when the person was last there.
    func suspend() async {
        leftFront()
        await passing.finishDeparture()
    }

    /// Watches an account's open gate until the calling task is cancelled, or the account is removed or not enrolled any more.
    ///
    /// When a condition stops being met, the gate closes at once (``ProtectionEvent/gate(account:_:)``: hide the data),
    /// and Cordon passes it again with ``LaunchOccasion/timer``. If it stays closed, Cordon asks the app to take the account off
    /// its windows (SDK-ID-48). It leaves a closed gate alone until its data is due for removal. When
    /// little time without contact is left, it shows the countdown, and from then on posts it at every look.
    public func watch(_ account: AccountID) async {
        let account = context.accounts.resolved(account)
        var isShort = false
        while !Task.isCancelled {
            do { try await configuration.clock.sleep(untilNextLook(at: account)) } catch { return }
            await passing.takeUpStored()
            guard context.accounts[account] != nil || context.accounts.debugged == account else { return }
            let decision = await tools.conditions.decision(of: account, on: .timer)
            // A look that is given up finds that nothing is known of the device, which closes no gate.
            guard !Task.isCancelled else { return }
            if tools.gates.isOpen(account) {
                let countdown = tools.postUrgentCountdown(of: account)
                // The interface may take its time, and a gate that closes does not wait for it.
                guard await close(account, after: decision) else {
                    // It covers what the person is doing.
                    if let countdown, !isShort { await show(countdown) }
                    isShort = countdown != nil
                    continue
                }
            } else if decision.verdict != .wipe {
                continue
            }
            guard await passInFront(account, on: .timer).result != .wiped else { return }
        }
    }

    private func show(_ countdown: OfflineCountdown) async {
        var session = InterfaceSession(tools.screens, account: countdown.account, occasion: .timer)
        await session.show(countdown)
        await session.handBack()
    }

    /// Closes an open gate that would not be opened any more; whether it did.
    private func close(_ account: AccountID, after decision: PolicyDecision) async -> Bool {
        guard !decision.verdict.permits, tools.gates.isOpen(account) else { return false }
        tools.gates.setBlock(
            after: LaunchOutcome(account: account, result: .blocked, reasons: decision.reasons), of: account)
        tools.gates.close(account, because: decision.reasons)
        await keys.close(account)
        return true
    }

    /// Goes on after an open gate was closed by something else than a look at it: while the app is in front its windows are
    /// covered, what can be asked is asked, and an account that stays closed is taken away.
    private func passAgain(_ account: AccountID) {
        guard !tools.gates.isBehind, configuration.interface != nil else { return }
        Turn.outside { _ = Task { await self.passInFront(account, on: .timer) } }
    }

    private func untilNextLook(at account: AccountID) -> Duration {
        guard let countdown = tools.conditions.offlineCountdown(of: account) else { return Self.lookInterval }
        // A moment past the limit, since a limit is met until it is exceeded.
        let due = [countdown.untilBlock, countdown.untilWipe].compactMap { $0 }.filter { $0 > .zero }
            .map { $0 + .seconds(1) }
        return min(due.min() ?? Self.lookInterval, Self.lookInterval)
    }

    // MARK: The PIN

    /// Has the person choose another PIN, for an app that offers this in its settings.
    ///
    /// Cordon asks for the old PIN first, and nothing else will do: biometry shows who is there, not who knows the PIN. Guesses
    /// count like those at the gate, with the same action when they are used up. The new PIN has to meet the rules in
    /// force (SRV-RS-043…045, SRV-RS-049). Cordon asks through ``ProtectionInterface``, after whatever the gate is
    /// asking now. A person who has forgotten the old PIN signs in afresh.
    /// - Returns: How it ended; also posted as ``ProtectionEvent/gate(account:_:)`` where the gate
    ///   opened or closed on the way.
    public func changePIN(of account: AccountID) async -> PINChange {
        let account = context.accounts.resolved(account)
        await passing.finish(at: account)
        guard tools.hasPIN(account) else { return .noPIN }
        let outcome = await passInFront(account, on: .pinChange)
        if outcome.steps.contains(LaunchStep(.newPIN, .done)) { return .changed }
        return outcome.isOpen ? .kept : .closed
    }

    // MARK: What other parts say of an account

    func rulesChanged(of account: AccountID, from before: AccountState?, to now: AccountState) {
        let hasInterface = configuration.interface != nil
        // What was open because there were no rules is closed until the gate was passed under them.
        let isFirst = if case .noneTargeted? = before?.rules, case .policy = now.rules { true } else { false }
        // Without an interface, rules that have come to ask the person close what was open without; to others an untried gate is open.
        let asks = !hasInterface && now.rules.asksPerson && before?.rules.asksPerson != true
        // An account that has just come had no gate before.
        let wasOpenUntried = asks && before != nil && !context.accounts.mustSignIn(account)
        if isFirst || asks,
            tools.gates.forget(account, isClosing: hasInterface || asks, wasOpenUntried: wasOpenUntried)
        {
            passAgain(account)
        }
        // Rules that ask for no PIN any more leave the key to the device alone, while it is at hand.
        if before != nil { keys.applyRules(to: account, with: nil) }
    }

    func accountRefused(_ account: AccountID) async {
        guard tools.gates.isOpen(account) else { return }
        if await close(account, after: await tools.conditions.decision(of: account, on: .timer)) { passAgain(account) }
    }

    /// A gate that was open would stay so over a key that only passing it brings back. One that was not tried follows the rules.
    func accountClosed(_ account: AccountID) async {
        guard tools.gates.closeIfTried(account) else { return }
        await keys.close(account)
        passAgain(account)
    }

    func resetPIN(of account: AccountID, evenIfFilesAreLost isForced: Bool) async -> Bool {
        // First, so that nothing stays open that the disk or the service holds up.
        let wasOpen = tools.gates.closeIfTried(account)
        let hasOtherWay = await tools.guards.keepAnotherWay(to: account, through: tools.guardService)
        await keys.close(account)
        let isTakenAway = hasOtherWay || isForced ? await takePINAway(from: account) : false
        // An attempt that looked while the PIN still counted may have opened it.
        let wasOpenedAgain = tools.gates.closeIfTried(account)
        if wasOpenedAgain { await keys.close(account) }
        if wasOpen || wasOpenedAgain { passAgain(account) }
        return isTakenAway
    }

    private func takePINAway(from account: AccountID) async -> Bool {
        await tools.guards.forgetItem(of: account)
        do { try context.changeLaunchRecord(of: account) { $0.hadPIN = true } } catch {
            // The PIN's own record says it too.
            logUnstored(error)
        }
        do {
            try await tools.pins.takeAway(from: account)
            return true
        } catch {
            logUnstored(error)
            return false
        }
    }

    private func logUnstored(_ error: ProtectionError) {
        configuration.logger.error(
            "a PIN could not be taken away", metadata: ["reason": "\(error.reason)", "at": "\(error.thrownAt)"])
    }

    func accountLeft(_ account: AccountID, from before: AccountState?) {
        let wasOpenUntried =
            configuration.interface == nil && before?.rules.asksPerson == false && !context.accounts.mustSignIn(account)
        tools.gates.forget(account, wasOpenUntried: wasOpenUntried)
        tools.gates.setBlock(.notBlocked, of: account)
    }

    /// Forgets the gate, the PIN and the sign-in; a PIN that other apps of the organisation use stays theirs.
    func eraseState(of account: AccountID) async throws(ProtectionError) -> [String] {
        tools.gates.forget(account)
        try context.launches.remove(account)
        let isItemGone = await tools.guards.forgetItem(of: account)
        try context.guards.remove(account)
        try await tools.ownPINs?.remove(account)
        // Without the account's key it opens nothing, and a device may have come to be without any biometry.
        return isItemGone ? [] : ["a key behind the device's biometry could not be removed"]
    }
}
