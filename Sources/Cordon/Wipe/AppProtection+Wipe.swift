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
    /// Works offline: the receipt waits on the device until the service has it. Other accounts are not touched.
    /// - Throws: ``ProtectionError``: `notEnrolled`, or `stateUnwritable` when nothing could be begun.
    public func wipe(_ account: AccountID) async throws(ProtectionError) {
        guard let record = records[account] else {
            throw ProtectionError(.notEnrolled, "the account is not enrolled in this app")
        }
        let now = Int64(configuration.clock.now().timeIntervalSince1970)
        let command = Command(
            id: "local-\(UUID().uuidString)", kind: .wipe, account: account, reason: .conditional, issuedAt: now,
            notAfter: now + 86_400)
        guard let lock = try FileLock.take(wipes.folder.lock) else { return await forget(account) }
        try await carryOn(try journal(command, of: record), under: lock)
    }

    /// Whether a command in an envelope is to be carried out: for this account, and not lapsed (SRV-CI-086).
    ///
    /// A wipe runs once because it ends the registration that its envelope was made for.
    func isDue(_ command: Command, for record: RegistrationRecord) -> Bool {
        command.account == record.account.id
            && configuration.clock.now().timeIntervalSince1970 < Double(command.notAfter)
    }

    /// Begins what a verified envelope commands.
    func begin(_ command: Command) async {
        guard let record = records[command.account] else { return }
        do throws(ProtectionError) {
            switch command.kind {
            case .wipe:
                // Another process of the app that is wiping has the lock; one that has wiped has left no registration.
                guard let lock = try FileLock.take(wipes.folder.lock),
                    try registrations.record(of: record.account.id)?.registrationID == record.registrationID
                else { return await forget(command.account) }
                try await carryOn(try journal(command, of: record), under: lock)
            }
        } catch {
            configuration.logger.error("a wipe could not be carried on", metadata: ["reason": "\(error.reason)"])
        }
    }

    private func journal(_ command: Command, of record: RegistrationRecord) throws(ProtectionError) -> WipeRecord {
        let wipe = WipeRecord(
            command: command, registration: record, started: configuration.clock.now(), stage: .begun, vault: nil,
            failures: [], receipt: nil)
        try wipes.save(wipe)
        return wipe
    }

    /// Carries a journalled wipe on until only its receipt is left to be handed in; nothing here waits for a network.
    private func finish(_ wipe: WipeRecord) async throws(ProtectionError) -> WipeRecord {
        var wipe = wipe
        let account = wipe.registration.account
        if wipe.stage == .begun {
            records[account.id] = nil
            dropRules(of: account.id)
            denials.forget(account.id)
            let report = try await wipeVault(account.id)
            wipe.vault = WipeRecord.VaultPart(
                destroyedKeyIDs: report.destroyedKeyIDs, files: report.files, bytes: report.bytes)
            wipe.failures += report.failures
            wipe.failures += await forgetGroup(account.id)
            try forgetGate(of: account.id)
            forgetLog(of: account)
            wipe.stage = .vaultWiped
            try wipes.save(wipe)
            await vault.discardReport(for: account.id)
            try removeFolder(of: account.id)
        }
        if wipe.stage == .vaultWiped {
            configuration.wipeObserver("app")
            if case .failed(let reason) = await configuration.wipeHook(account) { wipe.failures.append(reason) }
            wipe.stage = .appWiped
            try wipes.save(wipe)
        }
        if wipe.stage == .appWiped {
            configuration.wipeObserver("receipt")
            wipe.receipt = await receipt(of: wipe)
            wipe.stage = .receiptSigned
            try wipes.save(wipe)
        }
        if wipe.stage == .receiptSigned {
            configuration.wipeObserver("session")
            try await endSession(of: account.id)
            configuration.wipeObserver("registration")
            // Nobody enrols the account again by itself: that is the person's or the app's decision (SDK-EN-19).
            try changeLife { life in life.registered.removeAll { $0.account.id == account.id } }
            try registrations.remove(account.id)
            wipe.stage = .forgotten
            try wipes.save(wipe)
        }
        return wipe
    }

    private func endSession(of account: AccountID) async throws(ProtectionError) {
        do throws(SignInError) { try await configuration.sessions.end(account) } catch {
            throw ProtectionError(.stateUnwritable, "the account's session could not be destroyed")
        }
    }

    /// Carries a wipe on, tells who observes, and hands the receipt in; no other process does it meanwhile.
    private func carryOn(_ wipe: WipeRecord, under lock: FileLock) async throws(ProtectionError) {
        defer { withExtendedLifetime(lock) {} }
        let account = wipe.registration.account.id
        broadcast.post(.wipeStarted(account: account, commandID: wipe.command.id))
        let begun = Task { await reportBegun(wipe) }
        let finished = try await finish(wipe)
        broadcast.post(
            .wipeFinished(account: account, commandID: wipe.command.id, succeeded: finished.failures.isEmpty))
        noteTelemetry(.wipePhase, [.phase: finished.failures.isEmpty ? "succeeded" : "failed"])
        _ = await begun.value
        await handIn(finished)
    }

    /// Finishes what a crash interrupted; receipts are handed in by a courier, so that nobody waits for the network.
    ///
    /// - Returns: How many wipes could not be read. Whose they were is not known, so everything stays closed until the
    ///   service, which waits for the receipt, has sent them again.
    func resumeWipes() async throws(ProtectionError) -> Int {
        guard let lock = try FileLock.take(wipes.folder.lock) else { return 0 }
        defer { withExtendedLifetime(lock) {} }
        let (unfinished, damaged) = try wipes.load()
        if !damaged.isEmpty { setAside("\(damaged.count) unfinished wipes could not be read") }
        for wipe in unfinished {
            let isNews = wipe.stage != .forgotten
            let finished = try await finish(wipe)
            guard isNews else { continue }
            broadcast.post(
                .wipeFinished(
                    account: wipe.registration.account.id, commandID: wipe.command.id,
                    succeeded: finished.failures.isEmpty))
        }
        if !unfinished.isEmpty { Task { await self.deliverReceipts() } }
        return damaged.count
    }

    /// Puts wipes away that cannot be read, once the service has told every account what is to be done.
    func putDamagedWipesAside() {
        guard !records.keys.contains(where: { isDenyingEverything($0) }) else { return }
        for file in (try? wipes.load().damaged) ?? [] { file.setAside() }
    }

    /// Hands in every receipt that the service has not got yet, with growing pauses until it has.
    ///
    /// Started by itself after a restart; returns when nothing is left, or when the calling task is cancelled.
    public func deliverReceipts() async {
        var failures = 0
        while !Task.isCancelled {
            guard await handInReceipts() > 0 else { return }
            failures += 1
            try? await configuration.clock.sleep(Self.pause(after: failures))
        }
    }

    /// Tries once to hand in every receipt; how many are left.
    func handInReceipts() async -> Int {
        for wipe in (try? wipes.load().records) ?? [] where wipe.stage == .forgotten { await handIn(wipe) }
        return (try? wipes.load().records.count) ?? 0
    }

    /// Gives the service a signed receipt and puts the wipe away once it has it.
    private func handIn(_ wipe: WipeRecord) async {
        configuration.wipeObserver("hand-in")
        do {
            if let receipt = wipe.receipt {
                let phase: Acknowledgement.Phase = wipe.failures.isEmpty ? .succeeded : .failed
                try await ServiceClient.handIn(
                    acknowledgement(phase, of: wipe, receipt: receipt), registration: wipe.registration.registrationID,
                    at: wipe.registration.discovery, over: configuration.transport)
            }
        } catch ServiceFailure.refused(let problem) where [401, 404, 409, 410].contains(problem.status) {
            // The service has closed or forgotten the matter: there is nobody left to tell.
        } catch {
            return
        }
        configuration.wipeObserver("put-away")
        do throws(ProtectionError) { try wipes.remove(wipe) } catch {
            configuration.logger.error("a finished wipe could not be put away", metadata: ["reason": "\(error.reason)"])
        }
    }

    /// Tells the service that the wipe has begun, if it can be told; nothing depends on it.
    private func reportBegun(_ wipe: WipeRecord) async {
        let registration = wipe.registration
        guard let signer = try? await configuration.sessions.signer(for: registration.account.id) else { return }
        try? await serviceClient(signer, discovery: registration.discovery).acknowledge(
            acknowledgement(.started, of: wipe, receipt: nil), registration: registration.registrationID)
    }

    private func acknowledgement(
        _ phase: Acknowledgement.Phase, of wipe: WipeRecord, receipt: String?
    ) -> Acknowledgement {
        Acknowledgement(
            commandID: wipe.command.id, phase: phase, time: configuration.clock.now(), receipt: receipt)
    }

    /// The files in it are gone already; the empty folder would only say that there was an account.
    private func removeFolder(of account: AccountID) throws(ProtectionError) {
        try? FileManager.default.removeItem(at: folder(of: account))
    }

    private func wipeVault(_ account: AccountID) async throws(ProtectionError) -> WipeReport {
        do throws(VaultError) {
            // A report left behind is that of the wipe which a crash cut off before its record said so.
            let left = await vault.finishedReports().first { $0.account == account }
            let observer = configuration.wipeObserver
            let report =
                if let left { left } else { try await vault.wipe(account) { observer("vault-\($0.kind.rawValue)") } }
            return report
        } catch { throw ProtectionError(error) }
    }

    /// The signed receipt; nil when the session whose key signs it is gone, which must not keep the app from starting.
    private func receipt(of wipe: WipeRecord) async -> String? {
        let registration = wipe.registration
        let receipt = WipeReceipt(
            commandID: wipe.command.id, tenant: registration.account.tenant,
            registrationID: registration.registrationID, account: registration.account.id,
            bundleID: configuration.application.bundleID, destroyedKeyIDs: wipe.vault?.destroyedKeyIDs ?? [],
            files: wipe.vault?.files ?? 0, bytes: wipe.vault?.bytes ?? 0, started: wipe.started,
            finished: configuration.clock.now(), failures: wipe.failures)
        do {
            let signer = try await configuration.sessions.signer(for: registration.account.id)
            return try receipt.signed(by: signer)
        } catch {
            configuration.logger.error("the device key that signs a wipe's receipt is not available")
            return nil
        }
    }
}
