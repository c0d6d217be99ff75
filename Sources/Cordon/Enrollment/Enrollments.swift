internal import CordonBase
public import CordonIdentity
public import CordonPolicy
internal import CordonProtocol
internal import CordonSignIn
internal import Foundation
internal import Logging

/// The accounts that the app has registered, those that the administrator admits, and the one that the device itself is
/// enrolled for. Use it as ``AppProtection/enrollments``.
public actor Enrollments {
    private let context: ProtectionContext
    private let service: ServiceAccess
    private let stored: StoredAccounts
    private let wipes: Wipes
    private let registrations: Registrations
    /// How often the device's management was asked, and which of these questions was answered last.
    private var deviceAccountAsks = (begun: 0, answered: 0)

    init(
        _ context: ProtectionContext, service: ServiceAccess, stored: StoredAccounts, wipes: Wipes,
        registrations: Registrations
    ) {
        self.context = context
        self.service = service
        self.stored = stored
        self.wipes = wipes
        self.registrations = registrations
    }

    /// The executor of all parts of the protection.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { context.domain.unownedExecutor }

    private var configuration: ProtectionConfiguration { context.configuration }

    // MARK: What is known of accounts

    /// The accounts that the app has registered, enrolled or not (SDK-EN-26).
    public var registeredAccounts: [ManagedAccount] {
        context.pending.registered.map(\.account).sorted { $0.id.rawValue < $1.id.rawValue }
    }

    /// The administrator's list of accounts that the app may hold: no restriction while no enrolled account has one; if
    /// several have, an account must be on all of them (SDK-AA-01…06). Any thread.
    ///
    /// Its `list` names every account by its object id and by its sign-in name; letter case does not matter.
    public nonisolated var allowedAccounts: AllowedAccounts { context.accounts.allowedAccounts }

    /// Whether the app may hold an account; a mismatch is logged with the account's id (SDK-AA-06). While an account's stored state is
    /// not the one written last, its list is unknown, and no new account is admitted. Any thread.
    public nonisolated func admits(_ account: ManagedAccount) -> Bool { context.accounts.admits(account) }

    /// Asks the device's management which account the device is enrolled for, and remembers its answer (SDK-EN-29). If there is no
    /// answer in time, the last one stands.
    ///
    /// Cordon also asks at the start, at ``AppProtection/resume(_:)`` and before an enrolment. It posts an answer that differs from
    /// the last one as ``ProtectionEvent/deviceAccountChanged(_:)``, and every enrolled account that contradicts it
    /// gets a report with `EnrollmentStatus.deviceManagedForAnotherAccount`: the app removes that account (SDK-EN-22).
    /// - Returns: The account, nil if the device is not managed or its management names no account.
    @discardableResult
    public func deviceAccount() async -> AccountID? {
        guard let ask = configuration.askDeviceAccount else {
            recordDeviceAccount(configuration.statedDeviceAccount)
            return context.accounts.deviceAccount
        }
        deviceAccountAsks.begun += 1
        let number = deviceAccountAsks.begun
        let answer = await Deadline.answer(within: ServiceClient.timeout, by: configuration.clock) { await ask() }
        // An answer that was overtaken by a later one says nothing any more.
        if let answer, number > deviceAccountAsks.answered {
            deviceAccountAsks.answered = number
            recordDeviceAccount(answer)
        }
        return context.accounts.deviceAccount
    }

    /// The last answer of the device's management, which may be from an earlier run of the app. Does not wait; Cordon asks again
    /// meanwhile.
    public func lastDeviceAccount() -> AccountID? {
        askForDeviceAccount()
        return context.accounts.deviceAccount
    }

    /// Takes up what an earlier run of the app was told of the device's account, and asks again.
    func recallDeviceAccount() {
        context.accounts.setDeviceAccount(context.pending.deviceAccount)
        askForDeviceAccount()
    }

    /// Asks for the device's account; no caller waits for the answer.
    func askForDeviceAccount() {
        guard configuration.askDeviceAccount != nil else {
            return recordDeviceAccount(configuration.statedDeviceAccount)
        }
        context.startUnattended { _ = await self.deviceAccount() }
    }

    private func recordDeviceAccount(_ account: AccountID?) {
        let former = context.accounts.deviceAccount
        guard account != former else { return }
        context.accounts.setDeviceAccount(account)
        guard !configuration.isExtension else { return }
        do { try context.pending.change { $0.deviceAccount = account } } catch {
            configuration.logger.error("what the device's management says could not be remembered")
        }
        context.events.post(.deviceAccountChanged(account))
        publishConfigurations(from: former, to: account)
        guard let account else { return }
        for enrolled in context.accounts.records.keys where enrolled != context.accounts.resolved(account) {
            context.publish(Outcome(.deviceManagedForAnotherAccount), .checkIn, of: enrolled)
        }
    }

    /// Tells that what the device's management gave the app has gone from one account to another (SDK-CF-07).
    private func publishConfigurations(from former: AccountID?, to account: AccountID?) {
        let (former, account) = (
            former.map { context.accounts.resolved($0) }, account.map { context.accounts.resolved($0) }
        )
        guard former != account, !configuration.managedConfiguration.isEmpty else { return }
        for case let changed? in [former, account] where context.accounts.state(of: changed) != nil {
            context.events.post(.configurationChanged(account: changed))
        }
    }

    // MARK: Enrolling

    /// Signs a person in and enrols the account; see ``AppProtection/signInAndEnroll(_:)``.
    func signInAndEnroll(_ name: String?) async -> EnrollmentStatus {
        let expected = configuration.expectedAccounts
        let named = name == nil && !configuration.isExtension ? await deviceAccount() : nil
        let hint = name ?? (named ?? expected.management)?.rawValue
        guard !configuration.isExtension, let signIn = configuration.signIn else {
            context.publish(Outcome(.unsupportedCall), .enrollment, of: AccountID(hint ?? ""))
            return .unsupportedCall
        }
        if let known = await signedIn(as: hint) {
            let status = await enroll(known, from: .loginAndEnroll)
            // A service that does not take the token wants a fresh one.
            guard status == .authenticationRequired else { return status }
        }
        // Verify the service before asking for a password: it must be the organisation's, and able to enrol.
        do { _ = try await service.verified() } catch {
            context.log("the person was not asked to sign in, since the service could not be verified", error)
            let outcome = Outcome(error, network: .discoveryFailed)
            context.publish(outcome, .enrollment, of: AccountID(hint ?? ""))
            return outcome.status
        }
        let account: ManagedAccount
        do {
            account = try await signIn(hint)
        } catch {
            let outcome = Outcome(ServiceFailure.signIn(error), network: .enrollmentNetworkFailure)
            context.publish(outcome, .enrollment, of: AccountID(hint ?? ""))
            return outcome.status
        }
        return await enroll(account, from: .loginAndEnroll)
    }

    /// The one account that is signed in under a name, is not enrolled, and can get a token without asking the person (SDK-EN-10,
    /// CQ-28).
    ///
    /// - Parameter name: Either name of the account; nil for the account that is signed in, where there is one.
    /// - Returns: Nil where none is, where several could be meant, or where no token is to be had.
    private func signedIn(as name: String?) async -> ManagedAccount? {
        let sessions = configuration.sessions
        let known =
            await Deadline.answer(within: ServiceClient.timeout, by: configuration.clock) {
                await sessions.signedInAccounts()
            }
            ?? []
        let wanted = name.map { context.accounts.resolved(AccountID($0)) }
        let candidates = known.filter { account in
            guard context.accounts[account.id] == nil else { return false }
            guard let wanted else { return true }
            return account.id == wanted || AccountID(account.userPrincipalName) == wanted
        }
        guard let account = candidates.first, candidates.count == 1, let discovery = try? await service.discovered(),
            (try? await service.session(for: account.id, discovery: discovery)) != nil
        else { return nil }
        return account
    }

    /// Enrols a known account at launch, where the settings ask for it (`AutoEnrollOnLaunch`, SDK-EN-25).
    ///
    /// An account that the app has registered is tried without asking the person. Where there is none, or no token can be had
    /// for it, the person is asked to sign in only if the app stays closed without a policy (`PolicyRequired`).
    /// - Returns: How it went; nil where nothing was to be done. And whether a person signed in, who is an account that the
    ///   app does not know.
    func enrollAtLaunch() async -> (status: EnrollmentStatus?, hasSignedIn: Bool) {
        let settings = context.settings
        guard settings.enrollsAtLaunch, !configuration.isExtension else { return (nil, false) }
        await stored.sync()
        guard context.accounts.records.isEmpty else { return (nil, false) }
        var status: EnrollmentStatus?
        for waiting in context.pending.registered where context.accounts.records.isEmpty {
            status = await enroll(waiting.account, from: waiting.source, asking: false)
        }
        guard context.accounts.records.isEmpty, context.settings.requiresPolicy, configuration.signIn != nil else {
            return (status, false)
        }
        guard status == nil || status?.nextStep == .signIn else { return (status, false) }
        return (await signInAndEnroll(nil), true)
    }

    /// Enrols an account in its turn, and remembers it as its source says.
    func enroll(
        _ account: ManagedAccount, from source: RegistrationRequest.Source, asking: Bool = true
    ) async -> EnrollmentStatus {
        if let refusal = mistake(in: account) {
            context.publish(Outcome(refusal), .enrollment, of: account.id)
            return refusal
        }
        let outcome = await context.inTurn(account.id, or: .removingExistingAccount) {
            await self.enrollNow(account, from: source, asking: asking)
        }
        // What its first envelope has wiped is registered no more. Where the wipe could not begin, the account is enrolled, and closed.
        if outcome.status == .wipeReceived, context.accounts[account.id] == nil {
            context.publish(outcome, .enrollment, of: account.id)
            return outcome.status
        }
        let isLasting =
            outcome.status.didSucceed || outcome.status == .alreadyEnrolled || outcome.status == .wipeReceived
        if outcome.status == .alreadyEnrolled {
            configuration.logger.warning(
                "an account that is enrolled was registered again",
                metadata: [ProtectionLog.accountField: "\(account.id)"])
        }
        let now = context.clock.read().now
        let failures = context.pending.registered.first { $0.account.id == account.id }?.failures ?? 0
        let next =
            now
            + context.intervals.afterFailedEnrollment(
                outcome.status, failures: failures + 1, retryAfter: outcome.retryAfter)
        try? context.pending.change { work in
            let known = work.registered.firstIndex { $0.account.id == account.id }
            guard known != nil || isLasting || source == .appRegistered else { return }
            let index = known ?? work.registered.endIndex
            if known == nil {
                work.registered.append(PendingWork.Registered(account: account, source: source, nextAttempt: next))
            }
            // A second registration may bring better facts about the account than the first (SDK-EN-01).
            work.registered[index].account = account
            work.registered[index].failures = isLasting ? 0 : work.registered[index].failures + 1
            work.registered[index].nextAttempt = next
            work.registered[index].planned = now
            work.registered[index].lastStatus = outcome.status
        }
        context.publish(outcome, .enrollment, of: account.id)
        return outcome.status
    }

    /// Enrols every registered account whose time has come, while no other account is enrolled in an app that holds one account only
    /// (SDK-EN-05).
    func enrollWhoIsDue() async {
        for waiting in context.pending.registered
        where context.accounts[waiting.account.id] == nil && context.accounts.isPlaceFree
            && Intervals.isDue(waiting.nextAttempt, plannedAt: waiting.planned, at: configuration.clock.now())
        {
            _ = await enroll(waiting.account, from: waiting.source)
        }
    }

    /// What is wrong with the call itself; such an account is not remembered.
    private func mistake(in account: ManagedAccount) -> EnrollmentStatus? {
        if configuration.isExtension { return .unsupportedCall }
        return account.id.rawValue.isEmpty ? .nilAccount : nil
    }

    private func enrollNow(
        _ account: ManagedAccount, from source: RegistrationRequest.Source, asking: Bool
    ) async -> Outcome {
        await stored.sync()
        var isBeingWiped = await wipes.isUnfinished(account.id)
        if isBeingWiped {
            await wipes.resume(inTurnOf: account.id)
            isBeingWiped = await wipes.isUnfinished(account.id)
        }
        await deviceAccount()
        if let obstacle = obstacle(to: account) { return Outcome(obstacle) }
        if isBeingWiped { return Outcome(.removingExistingAccount) }
        context.accounts.reservePlace(for: account.id)
        defer { context.accounts.releasePlace() }
        if let confirm = configuration.confirmEnrollment {
            guard asking else { return Outcome(.authenticationRequired) }
            let answer = await Deadline.answer(within: .seconds(300), by: configuration.clock) {
                await confirm(account)
            }
            guard answer == true else { return Outcome(.enrollmentRefused) }
        }
        let discovery: ServiceDiscovery
        do { discovery = try await service.discovered() } catch {
            context.log("the service could not be found", error)
            let isTimeout = error.status(network: .discoveryFailed) == .timedOut
            // A host without a service belongs to no organisation that uses one: a day is soon enough (SRV-CI-062).
            let wait = error.isNotThere ? Int(Intervals.day) : error.retryAfter
            return Outcome(isTimeout ? .timedOut : .discoveryFailed, detail: error.reason, retryAfter: wait)
        }
        guard let member = discovery.member(account) else { return Outcome(.anotherOrganization) }
        do {
            let status = try await registrations.register(member, with: discovery, from: source, inPlaceOf: nil)
            if status == .newPolicies { context.adviseRestart(account.id) }
            return Outcome(status)
        } catch {
            context.log("enrolment failed", error)
            return Outcome(error, network: .enrollmentNetworkFailure)
        }
    }

    /// What is in the way of enrolling an account on this device, before the person is asked.
    func obstacle(to account: ManagedAccount) -> EnrollmentStatus? {
        let (accounts, expected) = (context.accounts, configuration.expectedAccounts)
        // A device's management may know the account by its sign-in name (SDK-ID-02).
        let names = [account.id, AccountID(account.userPrincipalName)]
        func isOther(_ other: AccountID?) -> Bool { other.map { !names.contains(accounts.resolved($0)) } ?? false }
        if isOther(expected.management) { return .unexpectedAccount }
        if isOther(accounts.deviceAccount) { return .deviceManagedForAnotherAccount }
        if isOther(expected.deviceOwner) { return .notDeviceAccount }
        if accounts[account.id] != nil { return .alreadyEnrolled }
        if accounts.isBeingWiped(account.id) { return .removingExistingAccount }
        if !accounts.isOnLists(account) {
            context.events.post(.accountNotAllowed(account.id))
            return .enrollmentRefused
        }
        if accounts.isListUnknown(for: account.id) {
            configuration.logger.warning("nobody new is admitted until another account has checked in")
            return .checkInNetworkFailure
        }
        if accounts.allowsSeveralManagedAccounts { return nil }
        guard accounts.isPlaceFree, !accounts.isEnrollingAnotherAccount(than: account.id) else {
            return .singleAccountOnly
        }
        return accounts.isRemovingAnotherAccount(than: account.id) ? .removingExistingAccount : nil
    }
}

extension ProtectionContext {
    /// Calls the app back after the first rules of an account, or after its replacement (SDK-RS-04). One that never answers, or has
    /// nothing to be called, has not restarted (SDK-RS-03).
    func adviseRestart(_ account: AccountID) {
        guard let restart = configuration.restartApplication else {
            return events.post(.restartAdvised(account: account))
        }
        startUnattended { [clock = configuration.clock, events] in
            let isSeenTo = await Deadline.answer(within: .seconds(60), by: clock) { await restart(account) }
            if isSeenTo != true { events.post(.restartAdvised(account: account)) }
        }
    }
}

extension ProtectionConfiguration {
    /// The key under which a device's management names the account in an app's configuration, by the field's spelling and by
    /// Cordon's own.
    private static let accountKeys = ["IntuneMAMOID", "CordonUserID"]

    /// The account that the configuration itself names for the device.
    fileprivate var statedDeviceAccount: AccountID? {
        if let stated = expectedAccounts.deviceEnrollment { return stated }
        let named = Self.accountKeys.lazy.compactMap { managedConfiguration[$0]?.string }.first { !$0.isEmpty }
        return named.map { AccountID($0) }
    }
}
