internal import CordonBase
internal import CordonIdentity
internal import CordonPolicy
internal import CordonProtocol
internal import Foundation
internal import Logging

/// The accounts of one app: their registrations and where these are stored, the rules in force, whose data is being removed,
/// and who is being enrolled. Any thread may ask, without waiting.
final class AccountTable: Sendable {
    private struct State {
        var records: [AccountID: RegistrationRecord] = [:]
        /// The accounts whose data this process is removing.
        var removing: Set<AccountID> = []
        /// The accounts whose stored registration says that a wipe has begun.
        var wiped: Set<AccountID> = []
        /// The accounts whose stored registration is not the one that was written last.
        var doubted: Set<AccountID> = []
        /// The accounts whose newest rules are stored and not counted: the ones before would count as well after a start.
        var uncounted: Set<AccountID> = []
        /// The accounts whose launch record was in doubt when they were taken up.
        var mustSignIn: Set<AccountID> = []
        /// Who is being enrolled, and has the one place of an app for one managed account meanwhile.
        var arriving: AccountID?
        /// The account that has the place of an app for one managed account.
        var place: AccountID?
        /// The account that the device is enrolled for, as its management said last.
        var deviceAccount: AccountID?
        /// The account that debug policies are in force for.
        var debugged: AccountID?
        /// This process's last contact with the service for each account: as the rules have it, and as ``LaunchRecord`` does.
        var contacts: [AccountID: (moment: Date, at: ClockReading, ran: Int64)] = [:]
    }

    private let state = Locked(State())
    /// Behind a lock of its own: every question reads it.
    private let inForce = Locked(RulesInForce())
    let drawnWindows = DrawnWindows()
    private let configuration: ProtectionConfiguration
    private let settings: Locked<ProtectionSettings>
    private let registrations: RegistrationStore
    private let wipes: WipeStore
    private let launches: LaunchStore
    private let clock: ClockMonitor

    init(
        _ configuration: ProtectionConfiguration, settings: Locked<ProtectionSettings>,
        registrations: RegistrationStore,
        wipes: WipeStore, launches: LaunchStore, clock: ClockMonitor
    ) {
        self.configuration = configuration
        self.settings = settings
        self.registrations = registrations
        self.wipes = wipes
        self.launches = launches
        self.clock = clock
    }

    // MARK: Registrations

    /// The registration of every enrolled account.
    var records: [AccountID: RegistrationRecord] { state.withLock { $0.records } }

    /// The ids of the enrolled accounts, in order.
    var enrolled: [AccountID] { records.keys.sorted { $0.rawValue < $1.rawValue } }

    /// The registration of an account, nil where it is not enrolled.
    subscript(account: AccountID) -> RegistrationRecord? { state.withLock { $0.records[account] } }

    /// Whether a registration is still the account's present one. Work that has waited asks this before it goes on.
    func holds(_ record: RegistrationRecord) -> Bool {
        self[record.account.id]?.registrationID == record.registrationID
    }

    /// The id that everything of an account is kept under, whichever of its names is given (SDK-ID-02, CQ-03).
    func resolved(_ account: AccountID) -> AccountID { IdentityContext.canonical(account) }

    /// The identity with its account under that id.
    func resolved(_ identity: EffectiveIdentity) -> EffectiveIdentity {
        identity.account.map { .managed(resolved($0)) } ?? identity
    }

    /// What is stored of all accounts.
    ///
    /// - Throws: ``ProtectionError`` with code `stateUnreadable`.
    func load() throws(ProtectionError) -> RegistrationStore.Contents {
        let contents = try registrations.load()
        let wiped = Set(contents.records.filter { $0.wipe != nil }.map(\.account.id))
        state.withLock { $0.wiped = wiped }
        return contents
    }

    /// The stored registration of an account, which another process may have changed.
    ///
    /// - Throws: ``ProtectionError`` with code `stateUnreadable`.
    func stored(_ account: AccountID) throws(ProtectionError) -> RegistrationRecord? {
        try registrations.record(of: account)
    }

    /// The generation of a registration; see ``RegistrationStore/generation(of:)``.
    ///
    /// - Throws: ``ProtectionError`` with code `stateUnreadable`.
    func generation(of record: RegistrationRecord) throws(ProtectionError) -> Int64? {
        try registrations.generation(of: record)
    }

    /// Takes over the registration of an account that an earlier version has stored.
    ///
    /// - Throws: ``ProtectionError`` with code `stateUnwritable`.
    func takeOver(_ account: AccountID) throws(ProtectionError) { try registrations.takeOver(account) }

    /// Notes that an account which an earlier version has removed has no registration.
    ///
    /// - Throws: ``ProtectionError`` with code `stateUnwritable`.
    func noteAbsence(of account: AccountID) throws(ProtectionError) { try registrations.noteAbsence(of: account) }

    /// Whether an account's registration ended here as it should, or there never was one.
    func hasNoRegistration(_ account: AccountID) -> Bool { registrations.hasNone(account) }

    /// Takes a registration over as it is; nothing is stored.
    ///
    /// Makes both names of the account known, and in an app that holds one account sets the process identity to it (SDK-ID-02,
    /// SDK-ID-11). An app that reports identities itself sets its own (SDK-ID-12).
    func put(_ record: RegistrationRecord) {
        let id = record.account.id
        let before = state.withLock { state in state.records.updateValue(record, forKey: id) }
        if before?.account != record.account { IdentityContext.learn(record.account) }
        if before == nil {
            let mustSignIn = launches.record(of: id, isEnrolled: true).mustSignIn == true
            state.withLock { state in
                if mustSignIn { state.mustSignIn.insert(id) } else { state.mustSignIn.remove(id) }
            }
            settlePlace()
        }
    }

    /// Forgets a registration; what is stored stays.
    func remove(_ account: AccountID) {
        let former = state.withLock { state in
            state.contacts[account] = nil
            return state.records.removeValue(forKey: account)
        }
        if former != nil { settlePlace() }
    }

    /// Removes what is stored of an account's registration.
    ///
    /// - Throws: ``ProtectionError`` with code `stateUnwritable`.
    func removeStored(_ account: AccountID) throws(ProtectionError) {
        try registrations.remove(account)
        state.withLock { _ = $0.wiped.remove(account) }
    }

    /// Stores a registration, durably; false when another process stored something newer, or removed it, or when the account
    /// is being wiped: what was asked before does not bring it back.
    ///
    /// - Parameters:
    ///   - isNews: Whether the service has just sent it: then it is newer than all that ever was, also where the
    ///     account was enrolled before.
    ///   - edit: What alone is new in the record, see ``change(_:_:)``.
    @discardableResult
    func keep(
        _ record: RegistrationRecord, isNews: Bool = false, changing edit: ((inout RegistrationRecord) -> Void)? = nil
    ) throws(ProtectionError) -> Bool {
        let account = record.account.id
        guard !isBeingWiped(account) else { return false }
        // What was put back must not become the newest by being written again and again.
        guard isNews || !isDoubted(account) else {
            put(record)
            return false
        }
        var isStored = false
        defer {
            // What cannot be stored counts in this process all the same: contact, and when it asks next. News are the caller's to put in force.
            if !isStored, isNews ? self[account] != nil : holds(record) {
                if !isNews { put(record) }
                if edit == nil { noteContact(of: record) }
            }
        }
        guard let (stored, isCounted, isDiskFull) = try registrations.save(record, isNews: isNews, changing: edit)
        else { return false }
        isStored = true
        if !isCounted { configuration.logger.error("the state counter could not be raised") }
        guard stored.envelope == record.envelope else { return false }
        if isNews {
            setDoubted(account, false)
            setUncounted(account, !isCounted && !isDiskFull)
        }
        put(stored)
        if edit == nil { noteContact(of: record) } else { takeOverContact(of: stored) }
        return true
    }

    /// Remembers that this process has reached the service, also by the machine's uptime; a full disk takes nothing of that away before the
    /// process ends.
    private func noteContact(of record: RegistrationRecord) {
        let (account, moment) = (record.account.id, record.lastCheckIn)
        // A time that was stored may have lost what lies below a millisecond, and is no contact.
        if let before = state(of: account)?.lastCheckIn, abs(before.timeIntervalSince(moment)) < 0.001 { return }
        let (now, ran) = (record.contacted ?? ClockReading(configuration.clock), clock.runTime().total)
        // First, so that no look at the rules in between takes the contact before for the last one.
        state.withLock { $0.contacts[account] = (moment, now, ran) }
        inForce.withLock { $0.recordContact(at: moment, of: account) }
        do {
            try launches.change(account, isEnrolled: true, where: { isStaying(account) }) { record in
                record.checkedIn = now
                record.ranAtCheckIn = ran
            }
        } catch {
            configuration.logger.warning(
                "the time of a check-in could not be kept",
                metadata: ["reason": "\(error.reason)", "at": "\(error.thrownAt)"])
        }
    }

    /// When the service was last reached, and how long the machine had run by then, where this process has reached it last: what is stored may
    /// be older.
    func ownContact(of account: AccountID) -> (at: ClockReading, ran: Int64)? {
        guard let own = state.withLock({ $0.contacts[account] }), own.moment == state(of: account)?.lastCheckIn
        else { return nil }
        return (own.at, own.ran)
    }

    /// Takes over when another process has reached the service, which has noted itself what the machine's clocks said.
    func takeOverContact(of record: RegistrationRecord) {
        inForce.withLock { rules in
            guard let before = rules[record.account.id]?.lastCheckIn, before < record.lastCheckIn else { return }
            rules.recordContact(at: record.lastCheckIn, of: record.account.id)
        }
    }

    /// Notes something beside the rules of an enrolled account, durably, and keeps what another process has noted meanwhile.
    ///
    /// - Throws: ``ProtectionError`` with code `stateUnwritable`; in this process it counts all the same, such as when it asks next.
    func change(
        _ account: AccountID, _ edit: @escaping (inout RegistrationRecord) -> Void
    ) throws(ProtectionError) {
        guard var record = self[account] else { return }
        edit(&record)
        try keep(record, changing: edit)
    }

    /// Whether an account's stored registration is not the one that was written last.
    func isDoubted(_ account: AccountID) -> Bool { state.withLock { $0.doubted.contains(account) } }

    /// Says whether an account's stored registration is not the one that was written last; news of the service settle it.
    func setDoubted(_ account: AccountID, _ isDoubted: Bool) {
        state.withLock { state in
            if isDoubted { state.doubted.insert(account) } else { state.doubted.remove(account) }
        }
    }

    /// Whether an account's newest rules are stored and not counted, so that nothing of it may be open: otherwise an attacker who restores
    /// the record before gets an app that enforces the old rules on data that arrived since.
    func isUncounted(_ account: AccountID) -> Bool { state.withLock { $0.uncounted.contains(account) } }

    /// Says whether an account's newest rules are stored and not counted.
    func setUncounted(_ account: AccountID, _ isUncounted: Bool) {
        state.withLock { state in
            if isUncounted { state.uncounted.insert(account) } else { state.uncounted.remove(account) }
        }
    }

    /// Whether what was remembered of an account's gate was in doubt when this process took the account up: only a person who signs in
    /// settles that.
    func mustSignIn(_ account: AccountID) -> Bool { state.withLock { $0.mustSignIn.contains(account) } }

    /// Says that only a person who signs in settles what is remembered of an account's gate.
    func requireSignIn(of account: AccountID) { state.withLock { _ = $0.mustSignIn.insert(account) } }

    // MARK: Rules

    /// Everything that a decision is made from.
    var rules: RulesInForce { inForce.withLock { $0 } }

    /// The policies alone.
    var policies: PolicySet { inForce.withLock { $0.policies } }

    /// What is known of an account's rules, nil where there are none.
    func state(of account: AccountID) -> AccountState? { inForce.withLock { $0[account] } }

    /// Swaps what is known of an account's rules; decisions follow from this instant on.
    ///
    /// - Returns: What was known before.
    @discardableResult
    func activate(_ now: AccountState, of account: AccountID) -> AccountState? {
        let before = replace { rules in
            defer { rules.replace(account, with: now) }
            return rules[account]
        }
        if records.count > 1 { settlePlace() }
        return before
    }

    private func replace<Result: Sendable>(_ change: @Sendable (inout RulesInForce) -> Result) -> Result {
        defer { drawnWindows.noteChange() }
        return inForce.withLock(change)
    }

    /// Puts rules in force for an account that no service stands behind.
    func activateDebugRules(_ state: AccountState, of account: AccountID) {
        self.state.withLock { $0.debugged = account }
        activate(state, of: account)
    }

    /// Treats an enrolled account whose rules or key cannot be read as managed by rules that allow nothing; what else the
    /// administrator said of it stays, such as the list of accounts, or is unknown.
    func denyEverything(of record: RegistrationRecord) {
        replace { [account = record.account.id] rules in
            let delivery = rules[account]?.delivery ?? .unknown
            rules.replace(
                account,
                with: AccountState(
                    rules: .unreadable, sequence: 0, lastCheckIn: record.lastCheckIn, delivery: delivery))
        }
    }

    /// Treats an account whose key is here and whose registration is gone as managed by rules that allow nothing.
    func denyEverything(ofUnregistered account: AccountID) {
        replace {
            $0.replace(
                account,
                with: AccountState(rules: .unreadable, sequence: 0, lastCheckIn: .distantPast, delivery: .unknown))
        }
    }

    /// Forgets an account's rules.
    func dropRules(of account: AccountID) { replace { $0.replace(account, with: nil) } }

    /// Whether an account is enrolled and no rules target it.
    func isUntargeted(_ account: AccountID) -> Bool { inForce.withLock { $0.isUntargeted(account) } }

    /// Whether an account's rules cannot be read, so that everything of it is denied.
    func isUnreadable(_ account: AccountID) -> Bool {
        if case .unreadable? = state(of: account)?.rules { true } else { false }
    }

    /// The account that debug policies are in force for.
    var debugged: AccountID? { state.withLock { $0.debugged } }

    /// The list of accounts in force: no restriction while no enrolled account has one; where several have, an account must
    /// be on all.
    var allowedAccounts: AllowedAccounts { rules.allowedAccounts }

    /// Whether the app may hold an account, as far as that is known.
    func admits(_ account: ManagedAccount) -> Bool { isOnLists(account) && !isListUnknown(for: account.id) }

    /// Whether an account is on the lists that are known; a mismatch is logged with the account's id (SDK-AA-06).
    func isOnLists(_ account: ManagedAccount) -> Bool {
        if allowedAccounts.admits(account) { return true }
        configuration.logger.warning(
            "an account is not on the administrator's list", metadata: [ProtectionLog.accountField: "\(account.id)"])
        return false
    }

    /// Whether the list of another account that was enrolled here is not known: none is admitted meanwhile that was not.
    func isListUnknown(for account: AccountID) -> Bool {
        let unknown = rules.accounts.filter { $0.key != account && $0.value.delivery.isUnknown }.keys
        return unknown.contains { registrations.isOrWasHere($0) ?? true } && registrations.isOrWasHere(account) != true
    }

    /// What the service of an account asks of every app; the usual where it has said nothing (SRV-CI-016).
    func serviceSettings(for account: AccountID) -> ServiceSettings {
        state(of: account)?.delivery.service ?? .usual
    }

    /// Why this app's version of Cordon is too old for an account, nil where it is not (SDK-CO-12).
    ///
    /// A demand or a version that cannot be read counts as not met.
    func outdatedReason(for account: AccountID) -> PolicyReason? {
        guard let wanted = serviceSettings(for: account).minimumSDKVersion else { return nil }
        let own = configuration.application.sdkVersion
        if let least = VersionNumber(wanted), let have = VersionNumber(own), have >= least { return nil }
        return PolicyReason(
            rule: .launchSDKVersion, message: Texts.gateOrganisationAsksForCordonThisApp(own: own, wanted: wanted),
            remedy: NextStep.updateApp.advice, verdict: .block)
    }

    // MARK: The place of an app for one managed account

    /// Whether the app may hold several managed accounts (SDK-ST-17).
    var allowsSeveralManagedAccounts: Bool {
        configuration.allowsSeveralIdentities || configuration.settings.holdsSeveralManagedIdentities
    }

    /// The account that has the place of an app for one managed account, nil while it is free. One that no rules target
    /// counts as unmanaged and takes none (SDK-EN-27, SDK-ID-36).
    var placeHolder: AccountID? {
        let (records, present) = state.withLock { ($0.records, $0.place) }
        let holders = records.keys.filter { !isUntargeted($0) }
        // The account that has the place keeps it if another enrolled account gets rules later.
        if let present, holders.contains(present) { return present }
        return holders.min { $0.rawValue < $1.rawValue }
    }

    /// The managed account of an app for one; nil where there is none, and in an app for several. Where two are managed, since one has
    /// rules again that had none when the other came, it is the one that has the place.
    var primary: AccountID? {
        guard !allowsSeveralManagedAccounts else { return nil }
        let (managed, holder) = (rules.managed, placeHolder)
        return managed.first { $0 == holder } ?? managed.min { $0.rawValue < $1.rawValue }
    }

    /// Whether another managed account can be enrolled.
    var isPlaceFree: Bool { allowsSeveralManagedAccounts || placeHolder == nil }

    /// Whether another account than this one is being enrolled.
    func isEnrollingAnotherAccount(than account: AccountID) -> Bool {
        state.withLock { $0.arriving ?? account } != account
    }

    /// Keeps the place for an account that is being enrolled, until ``releasePlace()``.
    func reservePlace(for account: AccountID) { state.withLock { $0.arriving = account } }

    /// Ends ``reservePlace(for:)``.
    func releasePlace() { state.withLock { $0.arriving = nil } }

    /// Says who has the place now, and gives the process that account's identity; one without rules has it where there is no other.
    private func settlePlace() {
        guard !allowsSeveralManagedAccounts else { return }
        let holder = placeHolder
        state.withLock { $0.place = holder }
        guard !settings.withLock({ $0.holdsSeveralIdentities }) else { return }
        let account = holder ?? enrolled.first
        IdentityContext.setProcessIdentity(account.map { .managed($0) })
        drawnWindows.noteChange()
    }

    /// The app configuration of an account that is here, with what the device's management gave where the device is enrolled for it
    /// (SDK-CF-08). What decides, rules, pins and addresses, goes by what the service has signed alone.
    func appConfiguration(of account: AccountID) -> AppConfiguration {
        guard let state = state(of: account) else { return .empty }
        guard deviceAccount.map({ resolved($0) }) == account else { return state.delivery.configuration }
        return state.delivery.configuration.joined(with: configuration.givenConfiguration)
    }

    /// The account that the device is enrolled for, as its management said last.
    var deviceAccount: AccountID? { state.withLock { $0.deviceAccount } }

    /// Takes over what the device's management says.
    func setDeviceAccount(_ account: AccountID?) { state.withLock { $0.deviceAccount = account } }

    // MARK: Wipes

    /// Whether this process is removing an account's data at this moment.
    func isRemoving(_ account: AccountID) -> Bool { state.withLock { $0.removing.contains(account) } }

    /// Notes that this process removes an account's data, until ``endRemoval(of:)``.
    func beginRemoval(of account: AccountID) { state.withLock { _ = $0.removing.insert(account) } }

    /// Ends ``beginRemoval(of:)``.
    func endRemoval(of account: AccountID) { state.withLock { _ = $0.removing.remove(account) } }

    /// Notes in the stored registration that a wipe of the account has begun; see ``RegistrationStore/note(_:of:)``.
    ///
    /// - Throws: ``ProtectionError`` with code `stateUnwritable`.
    func note(_ wipe: BegunWipe, of record: RegistrationRecord) throws(ProtectionError) {
        guard try registrations.note(wipe, of: record) else { return }
        state.withLock { _ = $0.wiped.insert(record.account.id) }
    }

    /// The accounts whose stored registration says that a wipe has begun.
    var wiped: Set<AccountID> { state.withLock { $0.wiped } }

    /// Whether a wipe of an account has begun and is not finished, here or in another process. What cannot be read may be
    /// one.
    func isBeingWiped(_ account: AccountID) -> Bool {
        if wiped.contains(account) { return true }
        do { return try wipes.unfinished(of: account) != nil } catch { return true }
    }

    /// Whether the app has the account, and no wipe of it has begun, here or in another process. Work that began before a wipe asks this
    /// before it stores anything of the account.
    func isStaying(_ account: AccountID) -> Bool {
        if debugged == account { return true }
        return self[account] != nil && !isRemoving(account) && !isBeingWiped(account) && !hasNoRegistration(account)
    }

    /// Whether it is certain that an account's data is being removed, here or in another process, or was.
    func isLeaving(_ account: AccountID) -> Bool {
        if isRemoving(account) || wiped.contains(account) || hasNoRegistration(account) { return true }
        return ((try? wipes.unfinished(of: account)) ?? nil) != nil
    }

    /// Whether another account than this one is being removed.
    func isRemovingAnotherAccount(than account: AccountID) -> Bool {
        guard let unfinished = try? wipes.unfinishedAccounts() else { return true }
        return unfinished.union(wiped).contains { $0 != account }
    }
}
