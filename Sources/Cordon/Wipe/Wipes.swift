internal import CordonBase
internal import CordonIdentity
internal import CordonProtocol
internal import CordonSignIn
internal import CordonVault
internal import Foundation
internal import Logging

/// Selective wipes: a journal of stages, the account's key first, a receipt signed by the device last.
actor Wipes {
    let context: ProtectionContext
    let changes: AccountChanges
    private let receipts: WipeReceipts
    /// The removals of accounts without a registration that this process has begun and not finished.
    var unregistered: [AccountID: Removal] = [:]

    init(_ context: ProtectionContext, service: ServiceAccess, changes: AccountChanges) {
        self.context = context
        self.changes = changes
        receipts = WipeReceipts(context, service: service)
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor { context.domain.unownedExecutor }

    static var underWay: ProtectionError { ProtectionError(.wipeUnderWay, "the account's data is being removed") }

    // MARK: Beginning

    /// Removes everything of an account, for a cause that the receipt names (SDK-SW-04, SRV-CI-012); see
    /// ``AppProtection/wipe(_:)``.
    ///
    /// - Parameter farewell: Tells the service, once the data is gone and while a token can still be had. A wipe that a later start finishes
    ///   is told by its receipt alone.
    /// - Throws: ``ProtectionError``: `notEnrolled`, `wipeUnderWay`, `stateUnwritable`, `stateUnreadable` or `vault`.
    func wipe(
        _ account: AccountID, because cause: String, telling farewell: @escaping @Sendable () async -> Void = {}
    ) async throws(ProtectionError) {
        let account = context.accounts.resolved(account)
        guard let record = context.accounts[account] else {
            throw context.accounts.isRemoving(account)
                ? Self.underWay : ProtectionError(.notEnrolled, "the account is not enrolled in this app")
        }
        try await carryOut(ownCommand(for: account), because: cause, on: record, telling: farewell) { $0 ?? record }
    }

    /// The command of a wipe that no service asks for.
    func ownCommand(for account: AccountID) -> Command {
        let now = Int64(context.configuration.clock.now().timeIntervalSince1970)
        return Command(
            id: "local-\(UUID().uuidString)", kind: .wipe, account: account, reason: .conditional, issuedAt: now,
            notAfter: now + 86_400)
    }

    /// Begins a wipe that a verified envelope commands, and waits for its end, but no longer than for a person.
    func begin(_ command: Command) async {
        await wait(for: Task { await self.obey(command) })
    }

    /// Waits for a wipe as long as a person may take to answer. The app's own part may take longer, and the wipe goes on; who waits here has
    /// other accounts to see to, or the app to start.
    private func wait(for wipe: Task<Void, Never>) async {
        let (limit, clock) = (context.configuration.interfaceDeadline, context.configuration.clock)
        // A caller that is cancelled waits as well.
        await Task { _ = await Deadline.answer(within: limit, by: clock) { await wipe.value } }.value
    }

    private func obey(_ command: Command) async {
        guard let record = context.accounts[command.account] else { return }
        do {
            // Another process of the app that was quicker has left no registration, or has made another one since.
            try await carryOut(command, because: nil, on: record, telling: {}) { [accounts = context.accounts] stored in
                // One that was only put aside has ended nothing.
                guard let stored else { return accounts.hasNoRegistration(command.account) ? nil : record }
                return stored.registrationID == record.registrationID ? record : nil
            }
        } catch {
            context.configuration.logger.error(
                "a wipe could not be carried on", metadata: ["reason": "\(error.reason)", "at": "\(error.thrownAt)"])
        }
    }

    /// Carries a wipe out, and hands its receipt in when everything is done; before, only the farewell waits for the network.
    ///
    /// - Parameter wanted: What of the registration on disk is to be wiped; nil when there is nothing left to do.
    private func carryOut(
        _ command: Command, because cause: String?, on record: RegistrationRecord,
        telling farewell: @escaping @Sendable () async -> Void,
        _ wanted: (RegistrationRecord?) -> RegistrationRecord?
    ) async throws(ProtectionError) {
        let account = record.account.id
        let taken: AdvisoryLock?
        do { taken = try await lock(of: account) } catch {
            guard let registration = wanted(try context.accounts.stored(account)) else {
                return await changes.forget(account)
            }
            await wipeUnnoted(command, because: cause, of: registration)
            throw error
        }
        guard let lock = taken else {
            // The holder of the lock removes the account: nothing of it may stay open here.
            await changes.forget(account)
            throw Self.underWay
        }
        let finished: WipeRecord
        let begun: Task<Void, Never>
        do {
            defer { lock.end() }
            guard let registration = wanted(try context.accounts.stored(account)) else {
                return await changes.forget(account)
            }
            let wipe = try await journal(command, because: cause, of: registration)
            context.events.post(.wipeStarted(account: account, commandID: wipe.command.id))
            begun = Task { [receipts] in await receipts.reportBegun(wipe) }
            finished = try await finish(wipe, telling: farewell)
        }
        publishFinished(of: account, finished.command.id, succeeded: finished.failures.isEmpty)
        _ = await begun.value
        await receipts.handIn(finished)
    }

    /// The lock of an account's wipe; nil where another process removes the account. That one has noted so in a moment, and a start that clears
    /// away a lock which a kill has left has let go of it by then: this wipe must not get lost for it.
    private func lock(of account: AccountID) async throws(ProtectionError) -> AdvisoryLock? {
        let file = context.wipes.lock(of: account)
        if let lock = try StateLock.take(file) { return lock }
        guard !context.accounts.isLeaving(account),
            let lock = try? await StateLock.waiting(for: file, atMost: .seconds(1))
        else { return nil }
        guard context.accounts.isLeaving(account) else { return lock }
        lock.end()
        return nil
    }

    func publishFinished(of account: AccountID, _ id: String, succeeded isComplete: Bool) {
        context.events.post(.wipeFinished(account: account, commandID: id, succeeded: isComplete))
        context.telemetry.recordForApp(.wipePhase, [.phase: isComplete ? "succeeded" : "failed"])
    }

    private func journal(
        _ command: Command, because cause: String?, of record: RegistrationRecord
    ) async throws(ProtectionError) -> WipeRecord {
        var registration = record
        // What the wipe needs of it is who and where; the rules go with the registration itself.
        registration.envelope = SignedEnvelope("")
        registration.wipe = nil
        let wipe = WipeRecord(
            command: command, registration: registration, started: context.configuration.clock.now(), stage: .begun,
            vault: nil, failures: [], receipt: nil, cause: cause, binding: UUID().uuidString)
        do {
            if let begun = try context.wipes.unfinished(of: record.account.id) { return begun }
            // What a crash or an attacker left of another wipe does not count for this one, by its binding, and goes after this is noted.
            try context.wipes.save(wipe)
        } catch {
            await wipeUnnoted(command, because: cause, of: record)
            // What was removed may have made room.
            guard (try? context.wipes.save(wipe)) != nil else { throw error }
        }
        return wipe
    }

    /// Ends the key of an account whose wipe cannot be noted: a disk that takes no note takes what is overwritten in place. The rest, and the
    /// receipt, come when the wipe is resumed, for which the registration or a vault's note tells of it.
    private func wipeUnnoted(_ command: Command, because cause: String?, of record: RegistrationRecord) async {
        note(BegunWipe(command: command, cause: cause), of: record)
        let isExtension = context.configuration.isExtension
        for vault in context.vaults {
            _ = try? await vault.wipe(record.account.id, boundTo: nil, endingKeyAlone: isExtension)
        }
    }

    // MARK: Stages

    /// Carries a journalled wipe on until only its receipt is left to be handed in, whatever becomes of the caller: the app's own part is
    /// asked for once, and in a cancelled task it could fail. Only the farewell waits for the network. The caller holds the account's lock.
    private func finish(
        _ wipe: WipeRecord, telling farewell: @escaping @Sendable () async -> Void = {}
    ) async throws(ProtectionError) -> WipeRecord {
        let account = wipe.registration.account.id
        context.accounts.beginRemoval(of: account)
        defer { context.accounts.endRemoval(of: account) }
        return try await context.uninterrupted { () async throws(ProtectionError) in
            try await self.carryOn(wipe, telling: farewell)
        }
    }

    private func carryOn(
        _ wipe: WipeRecord, telling farewell: @Sendable () async -> Void
    ) async throws(ProtectionError) -> WipeRecord {
        var wipe = wipe
        let account = wipe.registration.account
        // Whatever the record says, and whatever lies in the folder, no receipt is signed while there may be a key.
        if wipe.stage != .begun, context.mayKeepKey(of: account.id) { wipe = wipe.begunAnew }
        if wipe.stage != .begun { try requireApp() }
        if wipe.stage == .begun {
            note(BegunWipe(command: wipe.command, cause: wipe.cause), of: wipe.registration)
            await changes.release(account.id)
            // Nothing enrols it again by itself (SDK-EN-19).
            do { try context.pending.change { $0.unregister(account.id) } } catch {
                // The wipe's end removes it with the rest, and no account is enrolled before that.
                context.configuration.logger.error("an account that is removed could not be taken from those to enrol")
            }
            try await removeSealed(&wipe)
        }
        if wipe.stage == .vaultWiped {
            context.configuration.wipeObserver("app")
            if case .failed(let reason) = await appPart(of: account) { wipe.failures.append(reason) }
            wipe.stage = .appWiped
            try context.wipes.save(wipe)
        }
        if wipe.stage == .appWiped {
            context.configuration.wipeObserver("receipt")
            wipe.receipt = try await receipts.receipt(of: wipe) ?? wipe.receipt
            wipe.stage = .receiptSigned
            try context.wipes.save(wipe)
        }
        if wipe.stage == .receiptSigned {
            await farewell()
            try await removeRest(&wipe)
        }
        return wipe
    }

    /// An extension ends the account's key and goes no further: the app's own part, its sessions and what it shares are the app's, and its
    /// receipt must not be signed before they are gone (decision 151).
    private func requireApp() throws(ProtectionError) {
        guard context.configuration.isExtension else { return }
        throw ProtectionError(
            .wipeUnderWay, "the account's data is being removed, and the app itself finishes that",
            hint: "Open the app.")
    }

    /// Has the registration say that the wipe has begun, in case its record is lost.
    private func note(_ wipe: BegunWipe, of registration: RegistrationRecord) {
        do { try context.accounts.note(wipe, of: registration) } catch {
            context.configuration.logger.warning(
                "a wipe could not be noted in the registration",
                metadata: ["reason": "\(error.reason)", "at": "\(error.thrownAt)"])
        }
    }

    /// The account's key, its files and everything sealed.
    private func removeSealed(_ wipe: inout WipeRecord) async throws(ProtectionError) {
        let account = wipe.registration.account
        var removed = WipeRecord.VaultPart(destroyedKeyIDs: [], files: 0, bytes: 0)
        let binding = bind(&wipe)
        for vault in context.vaults {
            let report = try await self.report(of: account.id, boundTo: binding, in: vault)
            removed.destroyedKeyIDs += report.destroyedKeyIDs
            removed.files += report.files
            removed.bytes += report.bytes
            wipe.failures += report.failures
        }
        try requireApp()
        wipe.vault = removed
        wipe.failures += try await changes.erase(account)
        wipe.failures += removeFolders(of: account.id)
        wipe.stage = .vaultWiped
        try context.wipes.save(wipe)
    }

    /// The files in them are gone already; an empty folder would only say that there was an account. What could not be removed.
    func removeFolders(of account: AccountID) -> [String] {
        [context.folder(of: account), context.backgroundFolder(of: account)].compactMap { folder in
            do { try FileManager.default.removeItem(at: folder) } catch CocoaError.fileNoSuchFile {} catch {
                return "an account's folder could not be removed"
            }
            return nil
        }
    }

    /// What the vaults' notes of this wipe are known by. Those of a wipe whose record has none yet are another wipe's, or an older version's.
    private func bind(_ wipe: inout WipeRecord) -> String {
        if let binding = wipe.binding { return binding }
        let binding = UUID().uuidString
        wipe.binding = binding
        // The key does not wait for a disk that takes nothing: after a kill the vaults begin once more.
        try? context.wipes.save(wipe)
        return binding
    }

    /// Removes what a vault has of the account, and goes on where a crash has cut this very wipe off. In an extension the key alone ends:
    /// what it sees of the files is not all that the app removes and counts.
    private func report(
        of account: AccountID, boundTo binding: String, in vault: Vault
    ) async throws(ProtectionError) -> WipeReport {
        let observer = context.configuration.wipeObserver
        do {
            // Notes of an earlier wipe may have been put back.
            try await vault.forgetWipes(of: account, besides: binding)
            let report = try await vault.wipe(
                account, boundTo: binding, endingKeyAlone: context.configuration.isExtension
            ) { observer("vault-\($0.kind.rawValue)") }
            if try !vault.keepsKey(of: account) { return report }
        } catch { throw ProtectionError(error) }
        throw ProtectionError(.vault, "a key of the account is still there")
    }

    /// The app's own part. It is waited for however long it takes, because only it knows what is left; an app that takes
    /// too long is named in the log (CQ-23).
    func appPart(of account: ManagedAccount) async -> AppWipeOutcome {
        let configuration = context.configuration
        let (clock, limit, logger) = (configuration.clock, configuration.interfaceDeadline, configuration.logger)
        let watch = Task {
            do { try await clock.sleep(limit) } catch { return }
            // Whose it is has just been removed from the log.
            logger.warning("the app's own part of a wipe is not done yet; the account stays locked until it is")
        }
        defer { watch.cancel() }
        return await configuration.wipeHook(account)
    }

    /// Session and registration, and who the account was.
    private func removeRest(_ wipe: inout WipeRecord) async throws(ProtectionError) {
        let account = wipe.registration.account.id
        context.configuration.wipeObserver("session")
        try await endSession(of: account)
        context.configuration.wipeObserver("registration")
        for vault in context.vaults {
            do { try await vault.discardReport(for: account) } catch { throw ProtectionError(error) }
        }
        // Nothing enrols the account again by itself: that is the person's or the app's decision (SDK-EN-19).
        let ended = wipe.registration.registrationID
        try context.pending.change { work in
            work.forget(account)
            // The receipt ends it at the service.
            work.unenrollments.removeAll { $0.registrationID == ended }
        }
        try context.accounts.removeStored(account)
        let gone = wipe.registration.account
        wipe.registration.account = ManagedAccount(id: gone.id, tenant: gone.tenant, userPrincipalName: "")
        wipe.stage = .forgotten
        try context.wipes.save(wipe)
    }

    func endSession(of account: AccountID) async throws(ProtectionError) {
        let sessions = context.configuration.sessions
        let isEnded = await Deadline.answer(within: ServiceClient.timeout, by: context.configuration.clock) {
            () async -> Bool in
            do {
                try await sessions.end(account)
                return true
            } catch { return false }
        }
        guard isEnded == true else {
            throw ProtectionError(.stateUnwritable, "the account's session could not be destroyed")
        }
        try await changes.sessionEnded(of: account)
    }

    // MARK: What a crash or a failure interrupted

    /// Takes up at the start what an earlier run of the app could not finish; receipts are handed in by a courier, so that
    /// no caller waits for the network. A wipe that fails again keeps its account closed, and nothing else.
    ///
    /// - Returns: How many wipes could not be read. Whose they were is not known, so everything stays closed until the
    ///   service, which waits for the receipt, has sent them again; those of a newer version count until it has told what is to be done.
    /// - Throws: ``ProtectionError`` with code `stateUnreadable` when it cannot be told what is unfinished.
    func resumeAtStart() async throws(ProtectionError) -> Int {
        let (records, damaged, newer) = try context.wipes.load()
        if !damaged.isEmpty { context.publishSetAside("\(damaged.count) unfinished wipes could not be read") }
        if !newer.isEmpty {
            context.publishSetAside("\(newer.count) unfinished wipes are from a newer version of the app")
        }
        if !records.isEmpty {
            await resume()
            context.startUnattended { [receipts] in await receipts.deliver() }
        }
        // Their names would tell whose data was wiped. An extension might hold one at the moment at which its app wants it.
        if !context.configuration.isExtension {
            for folder in [context.wipes.folder, context.guards.folder] { folder.removeLeftLocks() }
        }
        return damaged.count + newer.count { context.pending.settledWipes?.contains($0.url.lastPathComponent) != true }
    }

    /// Begins the wipes anew whose records are lost, or were never written, and of which registrations or vaults tell.
    ///
    /// - Returns: Whether there was one.
    func resumeLost() async -> Bool {
        let begun = context.accounts.wiped.union(await notedAccounts())
        guard !begun.isEmpty, let unfinished = try? context.wipes.unfinishedAccounts() else { return false }
        let lost = begun.subtracting(unfinished)
        guard !lost.isEmpty else { return false }
        await resume(lost)
        context.startUnattended { [receipts] in await receipts.deliver() }
        return true
    }

    /// Resumes every unfinished wipe that no process is carrying out.
    ///
    /// - Parameter held: The account whose turn the caller has.
    func resume(inTurnOf held: AccountID? = nil) async {
        // While records cannot be read, a note may be that of one of them, and its receipt would be lost.
        let known = try? context.wipes.unfinishedAccounts()
        let found = await notedAccounts()
        let (unfinished, noted) = (known ?? [], known == nil ? [] : found)
        let unregistered = noted.subtracting(unfinished).union(context.pending.leaving ?? []).union(unnoted)
        for account in unregistered.sorted(by: { $0.rawValue < $1.rawValue }) {
            let removal = Task { await resumeUnregistered(account, inTurnOf: held) }
            // It is part of the caller's turn.
            if account == held { await removal.value } else { await wait(for: removal) }
        }
        await resume(unfinished.union(context.accounts.wiped).union(noted))
    }

    /// The accounts of whose wipes vaults have notes; says where there may be more.
    private func notedAccounts() async -> Set<AccountID> {
        let (accounts, unread) = await context.notedWipes()
        if let unread {
            context.configuration.logger.warning(
                "the notes of wipes cannot all be read", metadata: ["reason": "\(unread.reason)"])
        }
        return accounts
    }

    /// Whether a wipe of an account has begun and is not finished, also where a vault alone has a note of it, or its notes cannot be read, or
    /// where it could be noted nowhere: a later try would take what was registered since.
    func isUnfinished(_ account: AccountID) async -> Bool {
        if context.accounts.isBeingWiped(account) || unnoted.contains(account) { return true }
        let noted = await context.notedWipes()
        return noted.accounts.contains(account) || noted.unread != nil
    }

    private func resume(_ accounts: Set<AccountID>) async {
        for account in accounts.sorted(by: { $0.rawValue < $1.rawValue })
        // An extension has nothing left to do then, see ``requireApp()``.
        where !context.configuration.isExtension || context.mayKeepKey(of: account) {
            await wait(for: Task { await self.resume(account) })
        }
    }

    private func resume(_ account: AccountID) async {
        do {
            guard let lock = try StateLock.take(context.wipes.lock(of: account)) else { return }
            defer { lock.end() }
            // Another process may have carried it on in the meantime.
            guard let left = try await unfinished(account) else { return }
            let finished = try await finish(left)
            publishFinished(of: account, finished.command.id, succeeded: finished.failures.isEmpty)
        } catch {
            context.configuration.logger.error(
                "a wipe is not finished yet", metadata: ["reason": "\(error.reason)", "at": "\(error.thrownAt)"])
        }
    }

    /// The wipe of an account that has begun and is not finished; it begins anew where there is no record of it.
    private func unfinished(_ account: AccountID) async throws(ProtectionError) -> WipeRecord? {
        if let wipe = try context.wipes.unfinished(of: account) { return wipe }
        guard let registration = try context.accounts.stored(account) else { return nil }
        var begun = registration.wipe
        if begun == nil, await context.notedWipes().accounts.contains(account) {
            begun = BegunWipe(command: ownCommand(for: account), cause: "interrupted")
        }
        guard let begun else { return nil }
        context.publishSetAside("there is no record of a wipe that has begun, and the wipe begins anew")
        return try await journal(begun.command, because: begun.cause, of: registration)
    }

    /// When wipes that are not finished are tried again, and receipts that the service has not got.
    func nextAttempts() async -> [Date] {
        let now = context.configuration.clock.now()
        // While the records or the vaults' notes cannot be read, there may be one.
        var begun: [Date?] = [nil]
        let noted = await context.notedWipes()
        if noted.unread == nil, let records = try? context.wipes.load().records {
            let unfinished = Set(records.filter { $0.stage != .forgotten }.map(\.registration.account.id))
            let others = context.accounts.wiped.union(noted.accounts).union(context.pending.leaving ?? [])
            begun = records.map(\.started) + others.union(unnoted).subtracting(unfinished).map { _ in nil }
        }
        return begun.map { now + context.intervals.afterWaiting(since: $0, at: now) }
    }

    /// Has wipes that cannot be read close nothing any more, once the service has told every account what is to be done: damaged ones are
    /// put away, those of a newer version wait for it.
    func settleUnreadable() {
        guard !context.accounts.records.keys.contains(where: context.accounts.isUnreadable),
            let (_, damaged, newer) = try? context.wipes.load()
        else { return }
        context.wipes.setAside(damaged)
        let settled = newer.isEmpty ? nil : newer.map(\.url.lastPathComponent)
        if settled != context.pending.settledWipes { try? context.pending.change { $0.settledWipes = settled } }
    }

    // MARK: Receipts

    /// Hands in every receipt that the service has not got yet, with growing pauses until it has; see
    /// ``AppProtection/deliverReceipts()``.
    func deliverReceipts() async { await receipts.deliver() }

    /// Tries once to hand in every receipt; how many are left.
    @discardableResult
    func handInReceipts() async -> Int { await receipts.handInAll() }
}
