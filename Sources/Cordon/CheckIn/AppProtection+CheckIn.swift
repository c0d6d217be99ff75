internal import CordonBase
public import CordonIdentity
public import CordonProtocol
internal import Foundation
internal import Logging

extension AppProtection {
    /// Asks the service for news of an account and applies them at once, commands included (SRV-CI-019).
    ///
    /// Whatever goes wrong, the rules in force stay in force (SRV-CI-087). A registration that the service has forgotten, or
    /// whose key a new sign-in has replaced, is made anew, without asking anybody (SRV-CI-069).
    /// - Returns: How it went; also posted as ``ProtectionEvent/status(_:)``.
    @discardableResult
    public func checkIn(_ account: AccountID) async -> EnrollmentStatus {
        let account = resolved(account)
        let outcome = await inTurn(account, or: .wipeIncomplete) { await $0.checkInNow(account) }
        context.publish(outcome, .checkIn, of: account)
        return outcome.status
    }

    private func checkInNow(_ account: AccountID) async -> Outcome {
        guard !configuration.isExtension else { return Outcome(.unsupportedCall) }
        await syncWithDisk()
        guard let record = records[account] else {
            return Outcome(records.isEmpty ? .notEnrolled : .notEnrolledAccount)
        }
        do throws(ServiceFailure) {
            return Outcome(try await exchange(record))
        } catch {
            context.log("check-in failed", error)
            let outcome =
                error.wantsNewRegistration
                ? await registerAgain(record)
                : postpone(record, after: Outcome(error, network: .checkInNetworkFailure), of: error)
            await accountRefused(account)
            return outcome
        }
    }

    /// Makes a registration anew that the service has forgotten, or knows by a key that this device has no more; until that
    /// succeeds the old rules stay.
    private func registerAgain(_ record: RegistrationRecord) async -> Outcome {
        do throws(ServiceFailure) {
            let discovery = (try? await discovered()) ?? record.discovery
            return Outcome(
                try await register(record.account, with: discovery, from: .appRegistered, inPlaceOf: record))
        } catch {
            context.log("the registration could not be made anew", error)
            return postpone(record, after: Outcome(error, network: .checkInNetworkFailure), of: error)
        }
    }

    /// Plans the next check-in after one that failed.
    private func postpone(
        _ record: RegistrationRecord, after outcome: Outcome, of failure: ServiceFailure? = nil
    ) -> Outcome {
        guard var record = records[record.account.id] else { return outcome }
        record.failures += 1
        if let failure { record.isAccountDisabled = failure.isAccountDisabled(before: record.isAccountDisabled) }
        let now = configuration.clock.now()
        record.planned = now
        record.nextCheckIn =
            now
            + intervals.afterFailedCheckIn(
                outcome.status, failures: record.failures, retryAfter: outcome.retryAfter,
                backOff: accounts.serviceSettings(for: record.account.id).backOffSeconds)
        guard !accounts.isRolledBack(record) else {
            // What was put back must not become the newest by being written again and again.
            accounts.put(record)
            return outcome
        }
        do { try accounts.keep(record) } catch { configuration.logger.error("a failed check-in could not be noted") }
        return outcome
    }

    private func exchange(_ record: RegistrationRecord) async throws(ServiceFailure) -> EnrollmentStatus {
        var record = record
        let account = record.account.id
        let (client, token, refusal) = try await checkInSession(for: account, discovery: record.discovery)
        let nonce = UUID().uuidString
        record.deviceTag = deviceTag(of: record.account, known: record.deviceTag)
        // Rules that are not in force must not count as applied, or the service would not send them again.
        let current = accounts.isUnreadable(account) ? nil : try? verifiedAgain(record)
        let health = await health(for: account)
        let refusals = pending.refusals.filter { $0.account == account }
        let outcomes = (pending.outcomes ?? []).filter { $0.account == account }
        let request = CheckInRequest(
            appliedSequence: current?.sequence ?? 0, appliedVersion: current?.version,
            appliedDigest: current == nil ? nil : record.envelope.digest, application: application(of: record.account),
            device: device(tagged: record.deviceTag), health: health,
            refusedEnvelopes: refusals.isEmpty ? nil : refusals,
            clientTime: configuration.clock.now(), nonce: nonce,
            outcomes: outcomes.isEmpty ? nil : outcomes.map(\.outcome))
        let response: CheckInResponse
        do throws(ServiceFailure) {
            response = try await client.checkIn(request, registration: record.registrationID, token: token)
        } catch {
            // Without a token only the word that the account is disabled counts; else it is the sign-in that failed.
            throw error.saysAccountDisabled ? error : refusal ?? error
        }
        if refusal == nil { record.isAccountDisabled = false }
        let now = configuration.clock.now()
        record.lastCheckIn = now
        record.planned = now
        record.nextCheckIn = now + intervals.afterCheckIn(serviceAsksFor: response.nextCheckInSeconds)
        record.failures = 0
        guard let text = response.envelope else {
            guard current != nil else {
                throw .unacceptable(ProtocolError(.malformed, "the service sent no envelope where one is needed"))
            }
            try stored(record)
            noteContact(reporting: refusals, outcomes)
            return response.statusCode
        }
        let received = SignedEnvelope(text)
        do throws(ProtocolError) {
            let envelope = try await accept(
                received, into: &record, after: current.map { ($0.sequence, record.envelope.digest) }, nonce: nonce,
                client: client)
            record.envelope = received
            noteContact(reporting: refusals, outcomes)
            return await adopt(envelope, of: record)
        } catch {
            refuse(error, for: account)
            throw .unacceptable(error)
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
            guard record.hasFreshKeys(under: accounts.serviceSettings(for: record.account.id), at: now) else {
                throw ProtocolError(.expired, "the key set is too old, and no newer one could be fetched")
            }
            return try received.accepted(
                by: try record.keys.verified(pin: configuration.rootKeyPin, at: .distantPast), for: receiver,
                after: current, nonce: nonce, at: now)
        } catch {
            guard error.code == .unknownKey || error.code == .expired, let fresh = try? await client.keySet() else {
                throw error
            }
            let keys = try fresh.verified(pin: configuration.rootKeyPin, at: now)
            let envelope = try received.accepted(by: keys, for: receiver, after: current, nonce: nonce, at: now)
            record.keys = fresh
            record.keysFetched = now
            return envelope
        }
    }

    /// Stores an accepted envelope as received, puts it in force, and begins what it commands.
    ///
    /// What is stored is in force, whatever fails afterwards; without the account's key, everything is denied until a
    /// check-in can open it.
    func adopt(_ envelope: PolicyEnvelope, of record: RegistrationRecord) async -> EnrollmentStatus {
        var record = record
        record.sequence = envelope.sequence
        let account = record.account.id
        do {
            guard try accounts.keep(record, isNews: true) else {
                // Another process of the app has newer rules, or has ended the enrolment; that counts.
                await syncWithDisk()
                return records[account] == nil ? .notEnrolled : .policiesUnchanged
            }
        } catch {
            configuration.logger.error("accepted rules could not be stored")
            return .internalError
        }
        await activate(envelope, of: record)
        await publishRules(of: account)
        putDamagedWipesAside()
        broadcast.post(.policyChanged(account: account, version: envelope.version, sequence: envelope.sequence))
        telemetry.record(.policyApplied, of: record.account, [.sdkVersion: configuration.application.sdkVersion])
        let due = envelope.commands.filter { isDue($0, for: record) }
        let wipes = due.filter { $0.kind == .wipe }
        for command in wipes { await begin(command) }
        guard wipes.isEmpty else {
            let hasBegun = records[account] == nil
            if !hasBegun {
                // Without a journal nothing may be removed, but nothing is readable until it can be; the service says it again.
                await close(record)
                await publishRules(of: account)
                _ = postpone(record, after: Outcome(.wipeIncomplete))
            }
            // What could not be cleared yet is told of besides (SDK-SW-07).
            if !hasBegun || accounts.isBeingWiped(account) { context.publish(Outcome(.wipeIncomplete), .unenrollment, of: account) }
            return .wipeReceived
        }
        do {
            try await open(account)
        } catch {
            configuration.logger.error("the account's key cannot be opened", metadata: ["reason": "\(error.reason)"])
            if records[account] != nil { accounts.denyEverything(of: record) }
            await publishRules(of: account)
            return postpone(record, after: Outcome(.internalError)).status
        }
        noteLogRequests(envelope.logRequests ?? [], for: account)
        return await obey(due) ?? standing(of: account)
    }

    /// What an accepted envelope means for its account: the rules of a second managed account hold too, but an app for one
    /// is told that there is no place for it (SDK-EN-27).
    private func standing(of account: AccountID) -> EnrollmentStatus {
        if isUntargeted(account) { return .noPolicyTargeted }
        return accounts.allowsSeveralManagedAccounts || accounts.placeHolder == account ? .newPolicies : .singleAccountOnly
    }

    private func stored(_ record: RegistrationRecord) throws(ServiceFailure) {
        do throws(ProtectionError) { try accounts.keep(record) } catch {
            throw .refused(ProblemDetails(title: error.reason, status: 0, code: .internalError))
        }
    }
}
