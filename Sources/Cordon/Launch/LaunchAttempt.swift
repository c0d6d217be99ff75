internal import CordonBase
internal import CordonIdentity
internal import CordonPolicy
internal import CordonProtocol
internal import Foundation
internal import Logging

/// What an attempt to pass an account's gate needs of the protection's parts.
struct LaunchTools: Sendable {
    let context: ProtectionContext
    let rules: EnforcedRules
    let gates: GateStates
    let conditions: LaunchConditions
    let screens: InterfaceScreens
    let pins: PINKeeper
    /// The PINs that the app keeps itself, or has kept before it came to share them; nil where it never did.
    let ownPINs: PINKeeper?
    let guards: KeyGuards
    let guardService: KeyGuards.Service

    /// - Throws: ``ProtectionError`` with code `stateUnwritable` if the PIN folder cannot be used.
    init(_ context: ProtectionContext, rules: EnforcedRules, gates: GateStates) throws(ProtectionError) {
        let configuration = context.configuration
        self.context = context
        self.rules = rules
        self.gates = gates
        func keeper(in folder: StateFolder, isShared: Bool = false) -> PINKeeper {
            PINKeeper(
                folder: folder, seal: context.seal, clock: configuration.clock,
                cost: configuration.pinCost ?? configuration.usualPINCost, observer: configuration.pinObserver,
                isShared: isShared, memoryLimit: configuration.isExtension ? PINCost.extensionLimit : nil,
                isStaying: { [accounts = context.accounts] in accounts.isStaying($0) })
        }
        let own = configuration.dataDirectory.appending(path: "pins")
        if let given = configuration.pinDirectory {
            pins = keeper(in: try StateFolder(given: given), isShared: true)
            ownPINs = FileManager.default.fileExists(atPath: own.path) ? keeper(in: try StateFolder(own)) : nil
        } else {
            pins = keeper(in: try StateFolder(own))
            ownPINs = pins
        }
        conditions = LaunchConditions(context, rules: rules, gates: gates, pins: pins)
        screens = InterfaceScreens(context)
        guards = KeyGuards(context, rules: rules) { [pins] verifier, account in
            guard case .value(let record)? = try? pins.contents(of: account) else { return false }
            return record.verifier == verifier
        }
        guardService = KeyGuards.Service(ServiceAccess(context), context.accounts)
    }

    /// Notes that the person was in the app at a moment, as far as the rules ask for a PIN: without one they let in anybody.
    ///
    /// - Parameter opening: After what time the rules asked for the PIN that let the person in, which may have become stricter since.
    nonisolated(nonsending) func recordActivity(
        of account: AccountID, at moment: ClockReading, letInAskingAfter opening: Duration?
    ) async {
        guard let opening, let period = await conditions.pinPeriod(of: account) else { return }
        // What cannot be kept makes the next look ask sooner, never later.
        try? await pins.recordActivity(of: account, at: moment, askedAfter: max(opening, period))
    }

    /// How long the account may still be without contact, where that is short; posted, for the caller to show.
    func postUrgentCountdown(of account: AccountID) -> OfflineCountdown? {
        guard let countdown = conditions.offlineCountdown(of: account), countdown.isUrgent else { return nil }
        context.events.post(.gate(account: account, .countdown(countdown)))
        return countdown
    }
}

/// What an attempt has other parts do about a condition that is not met.
struct LaunchRemedies: Sendable {
    /// Keeps what the clock has shown.
    let recordClock: @Sendable () async -> Void
    /// Takes up what another process of the app has stored.
    let takeUpStored: @Sendable () async -> Void
    /// Asks the service for news of an account.
    let checkIn: @Sendable (AccountID) async -> EnrollmentStatus
    /// Removes an account's data, for a cause that the receipt names.
    let wipe: @Sendable (AccountID, String) async throws(ProtectionError) -> Void

    /// Asks the device's management for its account, without waiting for the answer.
    let askDeviceAccount: @Sendable () async -> Void

    /// Has these parts do it; they outlive the gates' work, or nothing is done.
    init(stored: StoredAccounts, checkIns: CheckIns, wipes: Wipes, enrollments: Enrollments) {
        askDeviceAccount = { [weak enrollments] in await enrollments?.askForDeviceAccount() }
        recordClock = { [weak stored] in await stored?.recordClock() }
        takeUpStored = { [weak stored] in await stored?.sync() }
        checkIn = { [weak checkIns] account in await checkIns?.checkIn(account) ?? .internalError }
        wipe = { [weak wipes] (account, cause) async throws(ProtectionError) in
            // Nothing may say that data is gone that is not; the next start finds the same reason to remove it.
            guard let wipes else { throw ProtectionError(.stateUnwritable, "the app has released its AppProtection") }
            try await wipes.wipe(account, because: cause)
        }
    }
}

/// One attempt to pass an account's gate, from the first question to the outcome.
struct LaunchAttempt: Sendable {
    /// What follows from a check.
    enum Next {
        /// Look again.
        case again
        /// The attempt ends here.
        case end(LaunchOutcome.Result)
    }

    /// More rounds than any person or policy needs: a gate that does not settle stays closed.
    private static let roundLimit = 200
    /// How long contact with the service may take before the gate goes on without.
    static let checkInDeadline = Duration.seconds(60)
    /// How long the service may take to be told before data is removed.
    private static let reportDeadline = Duration.seconds(10)

    let tools: LaunchTools
    let account: AccountID
    private let remedies: LaunchRemedies
    /// The person, as far as they are asked.
    var session: InterfaceSession
    /// What the last look found.
    var reasons: [PolicyReason] = []
    /// After what time the rules of the last look ask for the PIN; nil where they ask for none.
    var pinPeriod: Duration?
    /// The person signed in afresh on this attempt.
    var hasSignedIn = false
    /// The PIN that the person entered or made on this attempt.
    var enteredPIN: PINVerifier?
    /// What the person has shown on this attempt: the PIN, or a finger in its place, and a sign-in.
    var shown: LaunchConditions.Shown = []
    /// What the PIN has opened that the person entered or made on this attempt, or that a finger has opened in its place.
    var givenPIN: GivenPIN?
    /// What the service has given out on this attempt, for the PIN that is made next.
    var recovered: RecoveryShare?
    /// Biometry did not open the account's key on this attempt.
    var biometryFailed = false
    /// The guess before was wrong.
    var lastPINWasWrong = false
    /// The person changes the PIN at will, and may leave it at the old one.
    var isChangingPIN = false
    /// How long to wait before the next guess.
    var pinWait = Duration.zero
    /// What was recorded of conditions that acted.
    var reported: Set<String> = []
    /// The service was asked for contact, and there is no use in asking again.
    var hasCheckedIn = false
    /// The service was told why data is about to be removed.
    private var hasReportedRemoval = false

    init(_ tools: LaunchTools, _ remedies: LaunchRemedies, at account: AccountID, on occasion: LaunchOccasion) {
        self.remedies = remedies
        self.tools = tools
        self.account = account
        session = InterfaceSession(tools.screens, account: account, occasion: occasion)
    }

    func outcome(_ result: LaunchOutcome.Result) -> LaunchOutcome {
        LaunchOutcome(account: account, result: result, reasons: reasons, steps: session.steps)
    }

    /// Passes the gate; then, where that is what the person came for, changes the PIN.
    nonisolated(nonsending) mutating func run() async -> LaunchOutcome.Result {
        var result = await runChecks()
        guard result == .opened, session.occasion == .pinChange else { return result }
        result = await changePIN()
        // The person may have taken long: what was found before may not hold any more.
        return result == .opened ? await runChecks() : result
    }

    /// Looks at everything anew, because the gate was closed since the attempt began; what the person showed before counts only as
    /// far as it was recorded.
    nonisolated(nonsending) mutating func runAgain() async -> LaunchOutcome.Result {
        (hasSignedIn, enteredPIN, hasCheckedIn, shown) = (false, nil, false, [])
        return await runChecks()
    }

    /// Looks, carries out what the gravest reason asks for, and looks again.
    nonisolated(nonsending) mutating func runChecks() async -> LaunchOutcome.Result {
        // An account without targeted rules is like a personal one (SDK-CL-01).
        let isUntargeted = tools.context.accounts.isUntargeted(account)
        if isUntargeted, await !tools.guards.isClosed(account) { return .opened }
        let isEnrolled = tools.context.accounts[account] != nil
        if !isUntargeted, case .end(let result) = await showManagedNotice() { return result }
        for _ in 0..<Self.roundLimit {
            // The organisation's own command may come first.
            if isEnrolled, tools.context.accounts[account] == nil { return .wiped }
            let decision: PolicyDecision
            (decision, pinPeriod) =
                tools.context.accounts.isUntargeted(account)
                ? (PolicyDecision(reasons: []), nil)
                : await tools.conditions.look(at: account, on: session.occasion, after: shown)
            // A look that is given up finds that nothing is known of the device.
            guard !Task.isCancelled else { return .cancelled }
            reasons = decision.reasons
            let seen = tools.gates.seenWarnings(of: account)
            let left = PolicyDecision(reasons: decision.reasons.filter { !seen.contains(Self.mark(of: $0)) })
            let next: Next
            if let action = left.launchActions.first {
                next = await act(action, on: left)
            } else if let step = await openKey() {
                next = step
            } else {
                return .opened
            }
            if case .end(let result) = next { return result }
        }
        configuration.logger.error("a launch gate did not come to an end and stays closed")
        return .blocked
    }

    private nonisolated(nonsending) mutating func act(
        _ action: LaunchAction, on decision: PolicyDecision
    ) async -> Next {
        // What only the lack of contact asks for is settled by contact first.
        if !isWaitingForContact(action, decision) { recordOutcomes(of: action, decision) }
        return switch action {
        case .wipe: await remove(decision)
        case .checkIn: await seekContact(decision)
        case .signIn: await freshSignIn(decision.reasons.first?.message ?? "")
        case .resetPIN: await renewPIN()
        case .askPIN: await askPIN()
        case .refuse where isClockUnknown(decision): await seekContact(decision)
        case .refuse: await showBlock(decision.reasons)
        case .notify: await warn(decision.reasons)
        }
    }

    /// The first time: the organisation manages this account's data here (SDK-CL-10).
    private nonisolated(nonsending) mutating func showManagedNotice() async -> Next {
        guard configuration.interface != nil, tools.rules.policy(of: .managed(account)) != nil,
            !tools.context.launchRecord(of: account).noticeSeen
        else { return .again }
        let cause = ProtectionNotice.Cause(
            message: Texts.gateItsRulesHoldForWorkAccount(name: holder.userPrincipalName),
            remedy: Texts.gateItCanRemoveThisAccountData)
        let notice = ProtectionNotice(
            .managed, account: account, causes: [cause], answers: hidesCancel ? [.goOn] : [.goOn, .cancel])
        guard await session.present(notice, as: .managedNotice) == .goOn else { return cancelled }
        do { try tools.context.changeLaunchRecord(of: account) { $0.noticeSeen = true } } catch {
            return await showFailure(error)
        }
        return .again
    }

    /// Too long without contact: one attempt to reach the service, then the person is told.
    private nonisolated(nonsending) mutating func seekContact(_ decision: PolicyDecision) async -> Next {
        guard hasCheckedIn else {
            await contact()
            return .again
        }
        return await showBlock(decision.reasons)
    }

    /// Asks the service for news; nil where it does not answer in time.
    nonisolated(nonsending) func checkIn(within limit: Duration) async -> EnrollmentStatus? {
        await Deadline.answer(within: limit, by: configuration.clock) { [remedies, account] in
            await remedies.checkIn(account)
        }
    }

    private func isWaitingForContact(_ action: LaunchAction, _ decision: PolicyDecision) -> Bool {
        let mayChange = [Rule.launchOffline.rawValue, Rule.launchAccount.rawValue]
        return action == .wipe && !hasCheckedIn
            && decision.reasons.allSatisfy { $0.verdict != .wipe || mayChange.contains($0.rule) }
    }

    /// Whether contact may settle what only the clock is in the way of.
    private func isClockUnknown(_ decision: PolicyDecision) -> Bool {
        decision.reasons.contains { $0.rule == Rule.launchClockTurnedBack.rawValue }
    }

    private nonisolated(nonsending) mutating func contact() async {
        hasCheckedIn = true
        let status = await checkIn(within: Self.checkInDeadline)
        let isReached = status.map { [.newPolicies, .policiesUnchanged, .noPolicyTargeted].contains($0) } ?? false
        session.steps.append(LaunchStep(.checkIn, isReached ? .done : .unavailable))
    }

    /// The rules want the data gone. Where only the lack of contact is the cause, or what the service said of the account some
    /// time ago, contact is sought first.
    private nonisolated(nonsending) mutating func remove(_ decision: PolicyDecision) async -> Next {
        let gravest = decision.reasons.filter { $0.verdict == .wipe }
        if isWaitingForContact(.wipe, decision) {
            await contact()
            return .again
        }
        if !hasReportedRemoval, tools.context.accounts[account] != nil {
            hasReportedRemoval = true
            // The registration that can say why is still there. The removal does not depend on it.
            _ = await checkIn(within: Self.reportDeadline)
            // Newer rules, or the organisation's own command, may have come with the answer.
            return .again
        }
        // First, so that observers hear why: the removal closes only what is still open.
        tools.gates.close(account, because: decision.reasons)
        let usedUp = gravest.contains { $0.rule == Rule.launchPINAttempts.rawValue }
        var failure: ProtectionError?
        do { try await remedies.wipe(account, gravest.first?.rule ?? "app") } catch { failure = error }
        // Other apps of the organisation go on with a PIN of their common person; a used-up one must be replaced, also where the wipe is
        // not finished yet.
        if usedUp, configuration.pinDirectory != nil, failure == nil || tools.context.accounts.isLeaving(account) {
            try? await tools.pins.takeAway(from: account)
        }
        // An extension has ended the account's key, and its app does the rest.
        let isLeftToApp =
            configuration.isExtension && failure?.code == .wipeUnderWay && tools.context.accounts.isLeaving(account)
        session.steps.append(LaunchStep(.wipe, failure == nil ? .done : .unavailable))
        if let failure, !isLeftToApp { return await showFailure(failure) }
        await session.tell(ProtectionNotice(.removed, account: account, causes: gravest.map { .init($0) }))
        return .end(.wiped)
    }

    /// Shows why the data stays closed; the person may have it looked at again.
    nonisolated(nonsending) mutating func showBlock(_ reasons: [PolicyReason]) async -> Next {
        let notice = ProtectionNotice(
            .blocked, account: account, causes: causes(reasons.filter { !$0.verdict.permits }),
            answers: [.tryAgain, .cancel])
        guard await session.present(notice, as: .block) == .tryAgain else { return .end(.blocked) }
        hasCheckedIn = false
        return .again
    }

    private func causes(_ reasons: [PolicyReason]) -> [ProtectionNotice.Cause] {
        let configuration = tools.rules.appConfiguration(of: account)
        return reasons.map { .init($0, configuration: configuration) }
    }

    /// Shows what Cordon itself could not do, and how to mend it.
    nonisolated(nonsending) mutating func showFailure(_ error: ProtectionError) async -> Next {
        // The person has answered an account that is on its way out.
        if error.code == .wipeUnderWay, tools.context.accounts.isLeaving(account) { return .end(.wiped) }
        configuration.logger.error(
            "a launch check failed", metadata: ["reason": "\(error.reason)", "at": "\(error.thrownAt)"])
        let reason = PolicyReason(
            rule: .launchGate, message: Texts.gateCheckCouldNotBeMade(reason: error.reason.withoutFullStop),
            remedy: error.hint, verdict: .block)
        reasons.insert(reason, at: 0)
        return await showBlock([reason])
    }

    private nonisolated(nonsending) mutating func warn(_ reasons: [PolicyReason]) async -> Next {
        // Without an interface, a warning stands in the outcome and in the log; what is left is the key.
        guard configuration.interface != nil else { return await openKey() ?? .end(.opened) }
        let notice = ProtectionNotice(
            .warning, account: account, causes: causes(reasons),
            answers: hidesCancel ? [.goOn] : [.goOn, .cancel])
        guard await session.present(notice, as: .warning) == .goOn else { return cancelled }
        tools.gates.addSeenWarnings(reasons.map(Self.mark), of: account)
        return .again
    }

    /// Whether the person may cancel here: always a change of their own will (SDK-ST-15).
    var mayCancel: Bool { isChangingPIN || !hidesCancel }

    /// If cancelling is disabled, cancelling closes the gate.
    var cancelled: Next { .end(hidesCancel ? .blocked : .cancelled) }

    /// The account as prompts name it.
    var holder: ManagedAccount {
        tools.context.accounts[account]?.account
            ?? ManagedAccount(id: account, tenant: TenantID(""), userPrincipalName: account.rawValue)
    }
    var configuration: ProtectionConfiguration { tools.context.configuration }
    private var hidesCancel: Bool { configuration.settings.hidesCancel }

    /// What makes a warning the same as one that was seen.
    private static func mark(of reason: PolicyReason) -> String {
        reason.verdict.permits ? "\(reason.rule) \(reason.setting) \(reason.message)" : ""
    }
}
