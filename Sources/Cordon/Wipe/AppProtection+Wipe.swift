internal import CordonBase
public import CordonIdentity
internal import CordonProtocol
internal import CordonSignIn
internal import CordonVault
internal import Foundation
internal import Logging

/// A selective wipe: a journal of stages, the account's key first, a receipt signed by the device last.
extension AppProtection {
    /// Removes everything of an account that Cordon holds, as if the organisation had commanded it (SDK-SW-04).
    ///
    /// Works offline: the receipt waits on the device until the service has it. Other accounts are not touched. A wipe
    /// that could not be finished is taken up again by ``performDueWork()`` and at the next start; until it is finished
    /// the account stays closed and cannot be enrolled.
    /// - Throws: ``ProtectionError``: `notEnrolled`; `wipeUnderWay` when this or another process of the app removes the
    ///   account at this moment; `stateUnwritable` or `vault` when the wipe could not be begun or not be finished yet.
    public func wipe(_ account: AccountID) async throws(ProtectionError) {
        try await wipe(account, because: "app")
    }

    /// Removes everything of an account, for a cause that the receipt names (SRV-CI-012).
    func wipe(_ account: AccountID, because cause: String) async throws(ProtectionError) {
        let account = resolved(account)
        guard let record = records[account] else {
            guard accounts.isRemoving(account) else {
                throw ProtectionError(.notEnrolled, "the account is not enrolled in this app")
            }
            throw Self.underWay
        }
        let now = Int64(configuration.clock.now().timeIntervalSince1970)
        let command = Command(
            id: "local-\(UUID().uuidString)", kind: .wipe, account: account, reason: .conditional, issuedAt: now,
            notAfter: now + 86_400)
        try await carryOut(command, because: cause, on: record) { $0 ?? record }
    }

    /// Whether a command in an envelope is to be carried out: for this account, and not lapsed (SRV-CI-086).
    ///
    /// A wipe runs once because it ends the registration that its envelope was made for.
    func isDue(_ command: Command, for record: RegistrationRecord) -> Bool {
        command.account == record.account.id
            && configuration.clock.now().timeIntervalSince1970 < Double(command.notAfter)
    }

    /// Begins a wipe that a verified envelope commands.
    func begin(_ command: Command) async {
        guard let record = records[command.account] else { return }
        do throws(ProtectionError) {
            // Another process of the app that was quicker has left no registration, or has made another one since.
            try await carryOut(command, because: nil, on: record) {
                $0?.registrationID == record.registrationID ? record : nil
            }
        } catch {
            configuration.logger.error("a wipe could not be carried on", metadata: ["reason": "\(error.reason)"])
        }
    }

    static var underWay: ProtectionError { ProtectionError(.wipeUnderWay, "the account's data is being removed") }

    /// Carries a wipe out, and hands its receipt in when everything is done; nobody waits for the network before.
    ///
    /// - Parameter wanted: What of the registration on disk is to be wiped; nil when there is nothing left to do.
    private func carryOut(
        _ command: Command, because cause: String?, on record: RegistrationRecord,
        _ wanted: (RegistrationRecord?) -> RegistrationRecord?
    ) async throws(ProtectionError) {
        let account = record.account.id
        guard let lock = try StateLock.take(wipes.lock(of: account)) else {
            // Whoever has the lock removes the account: nothing of it may stay open here.
            await forget(account)
            throw Self.underWay
        }
        let finished: WipeRecord
        let begun: Task<Void, Never>
        do {
            defer { lock.end() }
            guard let registration = wanted(try accounts.stored(account)) else {
                return await forget(account)
            }
            let wipe = try await journal(command, because: cause, of: registration)
            broadcast.post(.wipeStarted(account: account, commandID: wipe.command.id))
            begun = Task { await reportBegun(wipe) }
            finished = try await finish(wipe)
        }
        tellFinished(finished)
        _ = await begun.value
        await handIn(finished)
    }

    func tellFinished(_ wipe: WipeRecord) {
        let isComplete = wipe.failures.isEmpty
        broadcast.post(
            .wipeFinished(
                account: wipe.registration.account.id, commandID: wipe.command.id, succeeded: isComplete))
        telemetry.record(.wipePhase, [.phase: isComplete ? "succeeded" : "failed"])
    }

    private func journal(
        _ command: Command, because cause: String?, of record: RegistrationRecord
    ) async throws(ProtectionError) -> WipeRecord {
        let account = record.account.id
        if let begun = try wipes.unfinished(of: account) { return begun }
        // No report can be that of a wipe which has not begun; one that a crash left would stand for this wipe's own.
        do throws(VaultError) { try await vault.discardReport(for: account) } catch { throw ProtectionError(error) }
        var registration = record
        // What the wipe needs of it is who and where; the rules go with the registration itself.
        registration.envelope = SignedEnvelope("")
        let wipe = WipeRecord(
            command: command, registration: registration, started: configuration.clock.now(), stage: .begun, vault: nil,
            failures: [], receipt: nil, cause: cause)
        try wipes.save(wipe)
        return wipe
    }

    /// Carries a journalled wipe on until only its receipt is left to be handed in; nothing here waits for a network.
    /// The caller holds the account's lock.
    func finish(_ wipe: WipeRecord) async throws(ProtectionError) -> WipeRecord {
        var wipe = wipe
        let account = wipe.registration.account
        accounts.beginRemoval(of: account.id)
        defer { accounts.endRemoval(of: account.id) }
        if wipe.stage == .begun {
            let lists = accounts.allowedAccounts
            accounts.remove(account.id)
            accounts.dropRules(of: account.id)
            await accountLeft(account.id)
            context.publishAllowedAccounts(before: lists)
            try await removeSealed(&wipe)
        }
        if wipe.stage == .vaultWiped {
            configuration.wipeObserver("app")
            if case .failed(let reason) = await appPart(of: account) { wipe.failures.append(reason) }
            wipe.stage = .appWiped
            try wipes.save(wipe)
        }
        if wipe.stage == .appWiped {
            configuration.wipeObserver("receipt")
            wipe.receipt = try await receipt(of: wipe)
            wipe.stage = .receiptSigned
            try wipes.save(wipe)
        }
        if wipe.stage == .receiptSigned { try await removeRest(&wipe) }
        return wipe
    }

    /// The app's own part. It is waited for however long it takes, because only it knows what is left; an app that takes
    /// too long is named in the log (CQ-23).
    private func appPart(of account: ManagedAccount) async -> AppWipeOutcome {
        let (clock, limit, logger) = (configuration.clock, configuration.interfaceDeadline, configuration.logger)
        let watch = Task {
            do { try await clock.sleep(limit) } catch { return }
            // Whose it is has just been removed from the log.
            logger.warning("the app's own part of a wipe is not done yet; the account stays locked until it is")
        }
        defer { watch.cancel() }
        return await configuration.wipeHook(account)
    }

    /// The account's key, its files and everything sealed.
    private func removeSealed(_ wipe: inout WipeRecord) async throws(ProtectionError) {
        let account = wipe.registration.account.id
        let report = try await wipeVault(account)
        wipe.vault = WipeRecord.VaultPart(
            destroyedKeyIDs: report.destroyedKeyIDs, files: report.files, bytes: report.bytes)
        wipe.failures += report.failures
        wipe.failures += try await eraseState(of: account)
        wipe.failures += await eraseLogs(of: wipe.registration.account)
        wipe.stage = .vaultWiped
        try wipes.save(wipe)
        // The next wipe of the account begins by discarding it, should it stay now.
        do throws(VaultError) { try await vault.discardReport(for: account) } catch {
            configuration.logger.warning(
                "a wipe's report could not be discarded", metadata: ["reason": "\(error.reason)"])
        }
        // The files in it are gone already; the empty folder would only say that there was an account.
        try? FileManager.default.removeItem(at: folder(of: account))
    }

    /// Session and registration, and who the account was.
    private func removeRest(_ wipe: inout WipeRecord) async throws(ProtectionError) {
        let account = wipe.registration.account.id
        configuration.wipeObserver("session")
        try await endSession(of: account)
        configuration.wipeObserver("registration")
        // Nobody enrols the account again by itself: that is the person's or the app's decision (SDK-EN-19).
        try pending.change { $0.forget(account) }
        try accounts.removeStored(account)
        let gone = wipe.registration.account
        wipe.registration.account = ManagedAccount(id: gone.id, tenant: gone.tenant, userPrincipalName: "")
        wipe.stage = .forgotten
        try wipes.save(wipe)
    }

    private func endSession(of account: AccountID) async throws(ProtectionError) {
        let sessions = configuration.sessions
        let isEnded = await Deadline.answer(within: ServiceClient.timeout, by: configuration.clock) {
            () async -> Bool in
            do throws(SignInError) {
                try await sessions.end(account)
                return true
            } catch { return false }
        }
        guard isEnded == true else {
            throw ProtectionError(.stateUnwritable, "the account's session could not be destroyed")
        }
    }

    private func wipeVault(_ account: AccountID) async throws(ProtectionError) -> WipeReport {
        do throws(VaultError) {
            // A report left behind is that of this wipe, which a crash cut off before its record said so.
            let left = await vault.finishedReports().first { $0.account == account }
            let observer = configuration.wipeObserver
            let report =
                if let left { left } else { try await vault.wipe(account) { observer("vault-\($0.kind.rawValue)") } }
            return report
        } catch { throw ProtectionError(error) }
    }
}
