internal import CordonIdentity
internal import CordonProtocol
internal import Foundation
internal import Logging

/// Makes registrations at the service, and takes in the envelopes that come with them and with check-ins: verified, stored,
/// put in force, and obeyed.
actor Registrations {
    private let context: ProtectionContext
    private let service: ServiceAccess
    private let changes: AccountChanges
    private let stored: StoredAccounts
    private let wipes: Wipes
    private let commands: Commands

    init(
        _ context: ProtectionContext, service: ServiceAccess, changes: AccountChanges, stored: StoredAccounts,
        wipes: Wipes, commands: Commands
    ) {
        self.context = context
        self.service = service
        self.changes = changes
        self.stored = stored
        self.wipes = wipes
        self.commands = commands
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor { context.domain.unownedExecutor }

    private var configuration: ProtectionConfiguration { context.configuration }

    /// Registers an account's key at the service and puts the first envelope in force.
    ///
    /// The service's keys come first: no token is sent to a server that cannot present keys signed by the pinned root key. They are public
    /// and name no address, so they prove nothing of who shows them.
    ///
    /// - Parameter previous: The record of a registration that the service has forgotten; it stays until this succeeds.
    func register(
        _ account: ManagedAccount, with discovery: ServiceDiscovery, from source: RegistrationRequest.Source,
        inPlaceOf previous: RegistrationRecord?
    ) async throws(ServiceFailure) -> EnrollmentStatus {
        // Do not renew a registration that is about to end.
        if let previous, context.pending.hasLeft(previous) { return .notEnrolledAccount }
        let keys = try await service.verifiedKeys(of: discovery)
        // What was signed before the set that the last registration had may hold a key that leaked since.
        do { _ = try configuration.trusted(keys, at: .distantPast, after: previous?.keys) } catch {
            throw .unacceptable(error)
        }
        let keysFetched = configuration.clock.now()
        let session = try await service.session(for: account.id, discovery: discovery, enrolls: true)
        let nonce = UUID().uuidString
        let tag = service.deviceTag(of: account, known: previous?.deviceTag)
        let result = try await session.client.register(
            RegistrationRequest(
                application: service.application(of: account), device: service.device(tagged: tag), source: source,
                nonce: nonce, formerRegistrationID: context.guards.registration(of: account.id),
                replacedRegistrationID: previous?.registrationID),
            token: session.token)
        guard result.account.id == account.id else { return .notEnrolledAccount }
        await beginLaunches(of: account.id)
        let now = configuration.clock.now()
        var record = RegistrationRecord(
            generation: previous?.generation ?? 0, registrationID: result.registrationID, account: account,
            discovery: discovery, keys: keys, keysFetched: keysFetched, envelope: SignedEnvelope(result.envelope),
            lastCheckIn: now, contacted: ClockReading(configuration.clock),
            nextCheckIn: now + context.intervals.afterCheckIn(serviceAsksFor: result.nextCheckInSeconds), planned: now,
            isAccountDisabled: false, deviceTag: tag)
        do {
            let envelope = try await accept(
                record.envelope, into: &record, after: nil, nonce: nonce, client: session.client)
            if previous == nil, !takesPlaceOfLeft(record) { return .internalError }
            return await adopt(envelope, of: record)
        } catch {
            refuse(error, for: account.id)
            throw .unacceptable(error)
        }
    }

    /// Begins what the gate remembers of an account that is enrolled, before the account is: what is missing of one that is enrolled
    /// was removed. Where the account's key is here already, it was enrolled before, and who chooses a PIN has to sign in.
    private func beginLaunches(of account: AccountID) async {
        guard context.accounts[account] == nil else { return }
        await wipes.noteEnrollment(of: account)
        let wasEnrolled = (try? context.vault.mayHaveKey(account)) ?? true
        // The new enrolment takes over what an unfinished removal has left, which must not be removed later.
        if context.pending.leaving?.contains(account) == true {
            try? context.pending.change { $0.endLeaving(account) }
        }
        do { try context.launches.begin(account, wasEnrolled: wasEnrolled) } catch {
            configuration.logger.error(
                "the launch record could not be made; a sign-in makes it",
                metadata: ["reason": "\(error.reason)", "at": "\(error.thrownAt)"])
        }
    }

    /// Notes that an account which has left is enrolled again, so that the notes of it end no new registration; whether that could be noted.
    private func takesPlaceOfLeft(_ record: RegistrationRecord) -> Bool {
        let account = record.account.id
        do {
            // First, so that a kill leaves nothing of it that is no longer marked.
            if try context.pending.isLeaving(account, context.accounts.stored(account)) {
                try context.accounts.removeStored(account)
            }
            try context.pending.endLeave(of: account, replacedBy: record.registrationID)
            return true
        } catch {
            configuration.logger.error(
                "an account cannot be enrolled again",
                metadata: ["reason": "\(error.reason)", "at": "\(error.thrownAt)"])
            return false
        }
    }

    /// Verifies a new envelope; where its key is not known yet, the key set is fetched once more (SRV-CI-084).
    ///
    /// A key set that is older than the service allows vouches for nothing new: without a fresh one the envelope is refused.
    func accept(
        _ received: SignedEnvelope, into record: inout RegistrationRecord,
        after current: (sequence: Int64, digest: String)?, nonce: String, client: ServiceClient
    ) async throws(ProtocolError) -> PolicyEnvelope {
        let receiver = record.receiver(bundleID: configuration.application.bundleID)
        let now = configuration.clock.now()
        do throws(ProtocolError) {
            guard record.hasFreshKeys(under: context.accounts.serviceSettings(for: record.account.id), at: now) else {
                throw ProtocolError(.expired, "the key set is too old, and no newer one could be fetched")
            }
            return try received.accepted(
                by: try configuration.trusted(record.keys, at: .distantPast), for: receiver,
                after: current, nonce: nonce, at: now)
        } catch {
            guard error.code == .unknownKey || error.code == .expired, let fresh = try? await client.keySet() else {
                throw error
            }
            let keys = try configuration.trusted(fresh, at: now, after: record.keys)
            let envelope = try received.accepted(by: keys, for: receiver, after: current, nonce: nonce, at: now)
            record.keys = fresh
            record.keysFetched = now
            return envelope
        }
    }

    /// Tells of an envelope that was not accepted, and reports it at the next check-in; the rules in force stay.
    func refuse(_ error: ProtocolError, for account: AccountID) {
        configuration.logger.error(
            "an envelope was refused", metadata: ["reason": "\(error.reason)", "at": "\(error.thrownAt)"])
        context.events.post(.envelopeRefused(account: account, error: error))
        let refusal = RefusedEnvelope(account: account, code: error.code.rawValue, time: configuration.clock.now())
        try? context.pending.change { $0.refusals = ($0.refusals + [refusal]).suffix(20) }
    }

    /// Stores an accepted envelope as received, puts it in force, and begins what it commands.
    ///
    /// Stored rules are in force whatever fails afterwards. Rules that do not fit on a full disk are in force until the app exits. Rules that
    /// could not be stored, or counted, for another reason close the account until they are: the next start could go by the rules before
    /// (decision 134). Without the account's key, everything is denied until a check-in can open it.
    func adopt(_ envelope: PolicyEnvelope, of record: RegistrationRecord) async -> EnrollmentStatus {
        var record = record
        record.sequence = envelope.sequence
        let account = record.account.id
        let due = envelope.commands.filter { context.isDue($0, for: record) }
        let dueWipes = due.filter { $0.kind == .wipe }
        do {
            guard try context.accounts.keep(record, isNews: true) else {
                // Another process of the app has newer rules, or has ended the enrolment; that counts.
                await stored.sync()
                return context.accounts[account] == nil ? .notEnrolled : .policiesUnchanged
            }
        } catch {
            configuration.logger.error("accepted rules could not be stored")
            guard context.accounts[account] != nil else { return .internalError }
            let status = await takeUnstored(error.isDiskFull ? envelope : nil, of: record, due)
            return status == .internalError ? postpone(record, after: Outcome(status)).status : status
        }
        if context.accounts.isUncounted(account) { return await takeUnstored(nil, of: record, due) }
        await changes.activate(envelope, of: record)
        await changes.publishRules(of: account)
        await stored.announce(envelope, of: record)
        if let status = await wipe(dueWipes, of: record) { return status }
        do {
            try await changes.open(account)
        } catch {
            configuration.logger.error(
                "the account's key cannot be opened",
                metadata: ["reason": "\(error.reason)", "at": "\(error.thrownAt)"])
            if context.accounts[account] != nil { context.accounts.denyEverything(of: record) }
            await changes.publishRules(of: account)
            return postpone(record, after: Outcome(.internalError)).status
        }
        await changes.requestLogs(envelope.logRequests ?? [], of: account)
        return await obey(due) ?? standing(of: account)
    }

    /// Does what can be done of an envelope that is not stored, or not counted: the service says it again.
    ///
    /// - Parameter envelope: What is in force in this process all the same; nil closes the account.
    private func takeUnstored(
        _ envelope: PolicyEnvelope?, of record: RegistrationRecord, _ due: [Command]
    ) async -> EnrollmentStatus {
        // A wipe needs no rules.
        if let status = await wipe(due.filter { $0.kind == .wipe }, of: record) { return status }
        if let envelope {
            // What is stored uncounted is older than these, and must not come in force over them once it is counted.
            context.accounts.setUncounted(record.account.id, false)
            await changes.activate(envelope, of: record)
            await changes.publishRules(of: record.account.id)
        } else {
            await close(record)
        }
        _ = await obey(due.filter { $0.kind == .resetPIN })
        return .internalError
    }

    /// Closes an account until it is known again what is to be done.
    private func close(_ record: RegistrationRecord) async {
        await changes.close(record)
        await changes.publishRules(of: record.account.id)
    }

    /// Obeys commands that are no wipes; the status of a registration that one of them renewed.
    func obey(_ due: [Command]) async -> EnrollmentStatus? {
        await commands.obey(due) { await self.registerAnew($0) }
    }

    /// Begins wipes that are commanded; `nil` where none is. What could not be begun, or could not be cleared yet, is told of besides
    /// (SDK-SW-07).
    private func wipe(_ due: [Command], of record: RegistrationRecord) async -> EnrollmentStatus? {
        guard !due.isEmpty else { return nil }
        for command in due { await wipes.begin(command) }
        let account = record.account.id
        let hasBegun = context.accounts[account] == nil
        if !hasBegun {
            // What cannot be noted is not finished, but nothing is readable until it can be; the service says it again.
            await close(record)
            _ = postpone(record, after: Outcome(.wipeIncomplete))
        }
        if !hasBegun || context.accounts.isBeingWiped(account) {
            context.publish(Outcome(.wipeIncomplete), .unenrollment, of: account)
        }
        return .wipeReceived
    }

    /// Makes a registration anew because the organisation commands it.
    private func registerAnew(_ record: RegistrationRecord) async -> EnrollmentStatus {
        do {
            return try await register(
                record.account, with: record.discovery, from: .appRegistered, inPlaceOf: record)
        } catch {
            context.log("the registration could not be made anew", error)
            return error.status(network: .enrollmentNetworkFailure)
        }
    }

    /// What an accepted envelope means for its account: the rules of a second managed account hold too, but an app for one
    /// is told that there is no place for it (SDK-EN-27).
    private func standing(of account: AccountID) -> EnrollmentStatus {
        if context.accounts.isUntargeted(account) { return .noPolicyTargeted }
        return context.accounts.allowsSeveralManagedAccounts || context.accounts.placeHolder == account
            ? .newPolicies : .singleAccountOnly
    }

    /// Plans the next check-in after one that failed.
    func postpone(
        _ record: RegistrationRecord, after outcome: Outcome, of failure: ServiceFailure? = nil
    ) -> Outcome {
        let (now, intervals) = (configuration.clock.now(), context.intervals)
        let backOff = context.accounts.serviceSettings(for: record.account.id).backOffSeconds
        do {
            try context.accounts.change(record.account.id) { record in
                record.failures += 1
                if let failure {
                    record.isAccountDisabled = failure.isAccountDisabled(before: record.isAccountDisabled)
                }
                record.planned = now
                record.nextCheckIn =
                    now
                    + intervals.afterFailedCheckIn(
                        outcome.status, failures: record.failures, retryAfter: outcome.retryAfter, backOff: backOff)
            }
        } catch {
            configuration.logger.error("a failed check-in could not be noted")
        }
        return outcome
    }
}
