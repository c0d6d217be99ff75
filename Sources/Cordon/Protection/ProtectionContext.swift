internal import CordonBase
internal import CordonIdentity
internal import CordonPolicy
internal import CordonProtocol
internal import CordonVault
internal import Foundation
internal import Logging

/// What the parts of one app's protection share: configuration, and values that own their state and can be asked from any
/// thread. One object, since some thirty parts hold it.
final class ProtectionContext: Sendable {
    /// The executor of every part.
    let domain = ProtectionDomain()
    let configuration: ProtectionConfiguration
    /// The settings in force: those of the configuration with what was changed since.
    let settingsInForce: Locked<ProtectionSettings>
    let accounts: AccountTable
    let pending: PendingWork
    let events = EventBroadcaster()
    let clock: ClockMonitor
    let intervals: Intervals
    let seal: StateSeal
    /// The folder of small state files that belong to no account.
    let stateFolder: StateFolder
    let wipes: WipeStore
    let launches: LaunchStore
    let guards: GuardStore
    let vault: Vault
    /// The vault of files that no PIN guards; nil in an app that keeps none and never did.
    let backgroundVault: Vault?
    let denials = DenialLog()
    /// Records events; they wait here to be sent.
    let telemetry: TelemetryRecorder
    /// The exchanges with the service of each account, one after another.
    let exchanges = SerialTasks<AccountID>()

    /// Opens what is shared.
    ///
    /// - Throws: ``ProtectionError``: `stateUnwritable` or `vault` when the data folder cannot be used.
    init(_ configuration: ProtectionConfiguration) throws(ProtectionError) {
        self.configuration = configuration
        let folder = configuration.dataDirectory
        for place in [folder, folder.appending(path: "logs")] { StatePlaces.add(place) }
        for name in ["files", "background/files", "inbox"] { StatePlaces.add(eachIn: folder.appending(path: name)) }
        settingsInForce = Locked(configuration.settings)
        clock = ClockMonitor(configuration.clock)
        intervals = Intervals(jitter: configuration.jitter)
        stateFolder = try StateFolder(folder.appending(path: "life"))
        seal = StateSeal(
            keyStore: configuration.keyStore, folder: stateFolder,
            counter: try StateSeal.counter(configuration.stateCounter, in: folder),
            bundleID: configuration.application.bundleID)
        pending = PendingWork(folder: stateFolder, seal: seal)
        let registrations = RegistrationStore(
            folder: try StateFolder(folder.appending(path: "registrations")), seal: seal)
        wipes = WipeStore(folder: try StateFolder(folder.appending(path: "wipes")), seal: seal)
        guards = GuardStore(folder: try StateFolder(folder.appending(path: "guards")), seal: seal)
        launches = LaunchStore(folder: try StateFolder(folder.appending(path: "launch")), seal: seal)
        accounts = AccountTable(
            configuration, settings: settingsInForce, registrations: registrations, wipes: wipes, launches: launches,
            clock: clock)
        telemetry = TelemetryRecorder(
            configuration, settings: settingsInForce, accounts: accounts, pending: pending, denials: denials)
        for name in ["vault", "files", "background", "background/vault", "background/files", "inbox"] {
            try StateFolder.refuseLink(at: folder.appending(path: name))
        }
        do {
            vault = try Vault(
                directory: folder.appending(path: "vault"), keyStore: configuration.keyStore,
                name: configuration.application.bundleID,
                roots: [folder.appending(path: "files")] + configuration.protectedRoots, clock: configuration.clock.now)
            let background = folder.appending(path: "background")
            let isThere = FileManager.default.fileExists(atPath: background.path)
            // What an earlier version of the app has left there is wiped by one that keeps nothing there any more.
            backgroundVault =
                configuration.keepsBackgroundFiles || isThere
                ? try Vault(
                    directory: background.appending(path: "vault"), keyStore: configuration.keyStore,
                    name: configuration.application.bundleID + " background",
                    roots: [background.appending(path: "files")], clock: configuration.clock.now) : nil
        } catch { throw ProtectionError(error) }
        // A guard record shows that the account had a key, even if the key's record is gone and there are no files yet.
        vault.recognizeKeys { [guards] account in guards.isThere(for: account) }
        // What began before a wipe makes no key after it.
        for vault in vaults { vault.makeKeys(for: { [accounts] account in accounts.isStaying(account) }) }
    }

    /// The settings in force.
    var settings: ProtectionSettings { settingsInForce.withLock { $0 } }

    /// Where an account's files are; the folder's name tells nothing of whose they are.
    func folder(of account: AccountID) -> URL {
        configuration.dataDirectory.appending(path: "files").appending(path: FolderName.of(account))
    }

    /// Where an account's background files are.
    func backgroundFolder(of account: AccountID) -> URL {
        configuration.dataDirectory.appending(path: "background/files").appending(path: FolderName.of(account))
    }

    /// The vaults that a wipe empties, in its order.
    var vaults: [Vault] { [vault] + [backgroundVault].compactMap { $0 } }

    /// Whether a vault has a key of the account, also where that cannot be told.
    func mayKeepKey(of account: AccountID) -> Bool {
        vaults.contains { (try? $0.keepsKey(of: account)) != false }
    }

    /// The accounts whose wipe a vault has noted: all that a full disk may have taken. Nothing shows who wrote a note, as with a plain record
    /// (decision 0115). And why not all notes could be read.
    func notedWipes() async -> (accounts: Set<AccountID>, unread: VaultError?) {
        var (accounts, unread): (Set<AccountID>, VaultError?) = ([], nil)
        for vault in vaults {
            let found = await vault.wipesFound()
            accounts.formUnion(found.wipes.map(\.account))
            unread = unread ?? found.unread
        }
        return (accounts, unread)
    }

    /// Ends what is open of an account, and takes its keys out of memory.
    func lockVaults(of account: AccountID) async {
        for vault in vaults { await vault.lock(account) }
    }

    /// Refuses an account that has no files here.
    ///
    /// - Throws: ``ProtectionError`` with code `notEnrolled`.
    func requireEnrolled(_ account: AccountID) throws(ProtectionError) {
        guard accounts[account] != nil || accounts.debugged == account else {
            throw ProtectionError(notEnrolled: "the account is not enrolled in this app", among: accounts)
        }
    }

    /// What is remembered of an account's launch gate.
    func launchRecord(of account: AccountID) -> LaunchRecord {
        var record = launches.record(of: account, isEnrolled: accounts[account] != nil)
        if let contact = accounts.ownContact(of: account) { (record.checkedIn, record.ranAtCheckIn) = contact }
        return record
    }

    /// Changes what is remembered of an account's launch gate, durably.
    ///
    /// - Throws: ``ProtectionError``: `wipeUnderWay` for an account whose data is being removed, or was; `stateUnwritable`.
    func changeLaunchRecord(
        of account: AccountID, _ change: (inout LaunchRecord) -> Void
    ) throws(ProtectionError) {
        let contact = knownContact(of: account)
        try launches.change(
            account, isEnrolled: accounts[account] != nil, where: { accounts.isStaying(account) }
        ) { record in
            change(&record)
            // One that was lost, and is made anew, says it as long as it can be told: after the machine's next start it cannot.
            if record.checkedIn == nil, let contact { (record.checkedIn, record.ranAtCheckIn) = contact }
        }
    }

    /// When the service was last reached, and how long the machine had run by then, as this process knows it or the registration, which says
    /// it for this run of the machine alone.
    private func knownContact(of account: AccountID) -> (at: ClockReading, ran: Int64)? {
        if let own = accounts.ownContact(of: account) { return own }
        guard let stored = accounts[account]?.contacted,
            let since = stored.sameRun(until: ClockReading(configuration.clock))
        else { return nil }
        return (stored, clock.runTime().total - Int64(min(since / .milliseconds(1), 1e15)))
    }

    /// Tells of stored state that could not be used.
    func publishSetAside(_ reason: String) {
        configuration.logger.error("stored state was set aside", metadata: ["reason": "\(reason)"])
        events.post(.stateSetAside(reason: reason))
    }

    /// Posts how an operation ended to all observers; of a wipe that the organisation asked for also, where it is done, that the
    /// account is no longer enrolled (SRV-TG-30).
    func publish(_ outcome: Outcome, _ operation: StatusReport.Operation, of account: AccountID) {
        let record = accounts[account]
        // Of an account that was just removed, no name goes into the log.
        configuration.logger.info(
            "\(operation.rawValue) ended with \(outcome.status.rawValue)",
            metadata: record == nil ? [:] : [ProtectionLog.accountField: "\(account)"])
        let outdated = outcome.status.didSucceed ? accounts.outdatedReason(for: account) : nil
        events.post(
            .status(
                StatusReport(
                    operation, of: account, outcome.status, detail: outcome.detail ?? outdated?.message,
                    nextStep: outdated == nil ? nil : .updateApp)))
        var fields: [TelemetryEvent.Field: String] = [
            .operation: operation.rawValue, .status: String(outcome.status.rawValue),
        ]
        fields[.milliseconds] = outcome.duration.map { String(Int64(max($0, .zero) / .milliseconds(1))) }
        if let record {
            telemetry.record(.enrollment, of: record.account, fields)
        } else {
            telemetry.recordForApp(.enrollment, fields)
        }
        guard outcome.status == .wipeReceived, record == nil, !accounts.isBeingWiped(account) else { return }
        publish(Outcome(.unenrolled), .unenrollment, of: account)
    }

    func log(_ what: String, _ failure: ServiceFailure) {
        configuration.logger.warning("\(what)", metadata: ["reason": "\(failure.reason)"])
    }

    /// Tells of a list of allowed accounts that changed, and of every account present that is not on it (SDK-AA-03, SDK-AA-04).
    func publishAllowedAccounts(before: AllowedAccounts) {
        let now = accounts.allowedAccounts
        guard now.list != before.list else { return }
        events.post(.allowedAccountsChanged(now.list))
        let records = accounts.records
        let waiting = pending.registered.map(\.account).filter { records[$0.id] == nil }
        for account in records.values.map(\.account) + waiting where !accounts.isOnLists(account) {
            events.post(.accountNotAllowed(account.id))
        }
    }

    /// The person's working-time status: `notConfigured` where the service does not know it, a stale one where it was not
    /// refreshed in time.
    func workingTime(of account: AccountID) -> ClockStatus {
        let moment = clock.read()
        guard let known = accounts.state(of: account)?.delivery.workingTime else { return .notConfigured }
        return moment.turnedBack > 0 ? .unknown : known.status(at: Int64(moment.now.timeIntervalSince1970))
    }

    /// Whether a command in an envelope is to be carried out: for this account, and not lapsed (SRV-CI-086) when the service last said that the
    /// envelope holds. A clock that is set ahead after that must not have a wipe lapse that did not come to its beginning.
    ///
    /// A wipe runs once because it ends the registration that its envelope was made for.
    func isDue(_ command: Command, for record: RegistrationRecord) -> Bool {
        let moment = min(configuration.clock.now(), record.lastCheckIn)
        return command.account == record.account.id && moment.timeIntervalSince1970 < Double(command.notAfter)
    }

    /// Runs an exchange with the service after those of the same account that came before, to its end, whatever becomes of
    /// the caller.
    ///
    /// - Parameter refusal: The end of one that is asked for while the account's data is being removed, which may be by the
    ///   app's own part of that: the removal would wait for the exchange, and the exchange for the removal.
    func inTurn(
        _ account: AccountID, or refusal: EnrollmentStatus, isolation: isolated (any Actor)? = #isolation,
        _ exchange: @escaping @Sendable () async -> Outcome
    ) async -> Outcome {
        guard !accounts.isRemoving(account) else { return Outcome(refusal, detail: Wipes.underWay.reason) }
        return await exchanges.run(account) { await timed(exchange) }
    }

    /// Runs work to its end, whatever becomes of the caller, and notes how long it took.
    func timed(_ work: @escaping @Sendable () async -> Outcome) async -> Outcome {
        await Task {
            let began = configuration.clock.boot().uptime
            var outcome = await work()
            outcome.duration = configuration.clock.boot().uptime - began
            return outcome
        }.value
    }

    /// Runs work to its end, whatever becomes of the caller.
    func uninterrupted<Value: Sendable>(
        _ work: @escaping @Sendable () async throws(ProtectionError) -> Value
    ) async throws(ProtectionError) -> Value {
        @Sendable func result() async -> Result<Value, ProtectionError> {
            do { return .success(try await work()) } catch { return .failure(error) }
        }
        return try await Task { await result() }.value.get()
    }

    /// Starts work in the background, outside the caller's turn, so that it waits for a turn of its own.
    func startUnattended(_ work: @escaping @Sendable () async -> Void) {
        Turn.outside { _ = Task(operation: work) }
    }

    /// What the app says of its device; nothing where it does not say it in time.
    func statedFacts(for account: AccountID) async -> StatedFacts {
        let stated = configuration.deviceFacts
        return await Deadline.answer(within: .seconds(10), by: configuration.clock) {
            StatedFacts(await stated(account))
        } ?? StatedFacts(.unknown)
    }
}
