internal import CordonBase
internal import CordonIdentity
internal import CordonProtocol
internal import CordonSignIn
internal import Foundation
internal import Logging

/// Asks the service for news of the enrolled accounts, now or when it is due.
actor CheckIns {
    private let context: ProtectionContext
    private let service: ServiceAccess
    private let changes: AccountChanges
    private let stored: StoredAccounts
    private let registrations: Registrations
    /// Of whom it could not be noted that a sign-in is due.
    private var unnoted: Set<AccountID> = []

    init(
        _ context: ProtectionContext, service: ServiceAccess, changes: AccountChanges, stored: StoredAccounts,
        registrations: Registrations
    ) {
        self.context = context
        self.service = service
        self.changes = changes
        self.stored = stored
        self.registrations = registrations
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor { context.domain.unownedExecutor }

    /// A line to the service, which checks in here.
    nonisolated var line: ServiceLine { ServiceLine(context, service: service, checkIns: self) }

    private var configuration: ProtectionConfiguration { context.configuration }

    /// Asks the service for news of an account; see ``AppProtection/checkIn(_:)``.
    @discardableResult
    func checkIn(_ account: AccountID) async -> EnrollmentStatus {
        let account = context.accounts.resolved(account)
        let outcome = await context.inTurn(account, or: .wipeIncomplete) { await self.checkInNow(account) }
        context.publish(outcome, .checkIn, of: account)
        return outcome.status
    }

    private func checkInNow(_ account: AccountID) async -> Outcome {
        await stored.sync()
        // It goes by what its app has been told, which may be what the caller waits for.
        guard !configuration.isExtension else { return Outcome(.unsupportedCall) }
        // One that leaves has seen the service for the last time.
        guard let record = context.accounts[account], !context.pending.hasLeft(record) else {
            return Outcome(context.accounts.records.isEmpty ? .notEnrolled : .notEnrolledAccount)
        }
        do {
            return Outcome(try await exchange(record))
        } catch {
            context.log("check-in failed", error)
            return error.wantsNewRegistration ? await registerAgain(record) : await fail(record, after: error)
        }
    }

    /// Ends a check-in that failed: plans the next one, and closes what an account that is refused as disabled has open.
    private func fail(_ record: RegistrationRecord, after failure: ServiceFailure) async -> Outcome {
        let outcome = await registrations.postpone(
            record, after: Outcome(failure, network: .checkInNetworkFailure), of: failure)
        if failure.accountDisabled != nil { await changes.recordRefusal(of: record.account.id) }
        return outcome
    }

    /// Makes a registration anew that the service has forgotten, or knows by a key that this device has no more; until that
    /// succeeds the old rules stay.
    private func registerAgain(_ record: RegistrationRecord) async -> Outcome {
        // A registration's answer has no number that would tell of the older copy again.
        if unnoted.contains(record.account.id) {
            do { try noteSignIn(of: record.account.id) } catch { return await fail(record, after: error) }
        }
        do {
            let discovery = (try? await service.discovered()) ?? record.discovery
            return Outcome(
                try await registrations.register(
                    record.account, with: discovery, from: .appRegistered, inPlaceOf: record))
        } catch {
            context.log("the registration could not be made anew", error)
            return await fail(record, after: error)
        }
    }

    private func exchange(_ record: RegistrationRecord) async throws(ServiceFailure) -> EnrollmentStatus {
        var record = record
        let account = record.account.id
        let (client, token, refusal) = try await service.checkInSession(for: account, discovery: record.discovery)
        let nonce = UUID().uuidString
        record.deviceTag = service.deviceTag(of: record.account, known: record.deviceTag)
        // Rules that are not in force must not count as applied, or the service would not send them again.
        let current = context.accounts.isUnreadable(account) ? nil : try? stored.verifiedAgain(record)
        let health = await service.health(for: account)
        let refusals = context.pending.refusals.filter { $0.account == account }
        let outcomes = (context.pending.outcomes ?? []).filter { $0.account == account }
        var request = CheckInRequest(
            appliedSequence: current?.sequence ?? 0, appliedVersion: current?.version,
            appliedDigest: current == nil ? nil : record.envelope.digest,
            application: service.application(of: record.account), device: service.device(tagged: record.deviceTag),
            health: health, refusedEnvelopes: refusals.isEmpty ? nil : refusals,
            clientTime: configuration.clock.now(), nonce: nonce,
            outcomes: outcomes.isEmpty ? nil : outcomes.map(\.outcome), stateGeneration: record.generation,
            recoveryShareDigest: context.guards.leftShare(of: account, registrationID: record.registrationID))
        let answer: Answer
        do { answer = try await askUntilVouched(&request, &record, of: client, token) } catch {
            // Without a token only the word that the account is disabled counts; else it is the sign-in that failed.
            let isDisabled = await isDisabled(by: error, to: request, &record, client)
            if isDisabled == false { noteEnabled(account) }
            guard let problem = error.accountDisabled else { throw refusal ?? error }
            throw isDisabled == true ? .disabled(problem) : error
        }
        let response = answer.response
        let news = try await news(in: answer, of: &record, after: current, nonce: nonce, client)
        // From here on everything that counts is the service's.
        if answer.proof?.hasRecoveryShare == false, let left = request.recoveryShareDigest {
            await noteLostShare(left, of: account)
        }
        if let told = answer.proof?.stateGeneration {
            do { try await compareGeneration(of: &record, with: told) } catch {
                // A wipe ends what is doubted, unless it has lapsed by the time of this very answer.
                var answered = record
                answered.lastCheckIn = request.clientTime
                let isWipe = news?.commands.contains { $0.kind == .wipe && context.isDue($0, for: answered) } ?? false
                guard isWipe else { throw error }
            }
        }
        if refusal == nil { record.isAccountDisabled = false }
        let now = configuration.clock.now()
        record.lastCheckIn = request.clientTime
        record.contacted = answer.asked
        record.planned = now
        record.nextCheckIn = now + context.intervals.afterCheckIn(serviceAsksFor: response.nextCheckInSeconds)
        record.failures = 0
        // Contact is this process's first, whatever the disk takes.
        await stored.recordContact(reporting: refusals, outcomes)
        guard let news else {
            do { try context.accounts.keep(record) } catch {
                throw .refused(ProblemDetails(title: error.reason, status: 0, code: .internalError))
            }
            // Not signed: without an envelope there is no other news than that no policy is meant.
            return response.statusCode == .noPolicyTargeted ? .noPolicyTargeted : .policiesUnchanged
        }
        return await registrations.adopt(news, of: record)
    }

    /// An answer whose word, if it has one, the service signed on this very request.
    private struct Answer {
        let response: CheckInResponse
        let proof: ContactProof?
        /// When the request was made.
        let asked: ClockReading
    }

    /// Sends a check-in. An answer without an envelope is contact only where the service's word names the envelope that is in force here,
    /// and the next start could verify that one by the keys that the answer brought. Otherwise a whole envelope is asked for, which every
    /// version of the service signs: anyone who strips the envelope from the answer could keep old rules in force.
    private func askUntilVouched(
        _ request: inout CheckInRequest, _ record: inout RegistrationRecord, of client: ServiceClient, _ token: String?
    ) async throws(ServiceFailure) -> Answer {
        let first = try await ask(&request, &record, of: client, token)
        if first.response.envelope != nil { return first }
        if let told = first.proof?.envelopeDigest {
            if told != request.appliedDigest {
                configuration.logger.error("an envelope was taken off the service's answer")
            } else if (try? stored.verifiedAgain(record)) != nil {
                return first
            }
        }
        (request.appliedSequence, request.appliedVersion, request.appliedDigest) = (0, nil, nil)
        let second = try await ask(&request, &record, of: client, token)
        guard second.response.envelope != nil else {
            throw .unacceptable(
                ProtocolError(.wrongSignature, "no envelope came, and nothing signed says that none is meant"))
        }
        return second
    }

    /// Sends a check-in that says what time it is here, in whole seconds as the message has it.
    private func ask(
        _ request: inout CheckInRequest, _ record: inout RegistrationRecord, of client: ServiceClient, _ token: String?
    ) async throws(ServiceFailure) -> Answer {
        let asked = ClockReading(configuration.clock)
        request.clientTime = Date(timeIntervalSince1970: (Double(asked.wall) / 1000).rounded(.down))
        let response = try await client.checkIn(request, registration: record.registrationID, token: token)
        do {
            let proof = try await takeContact(of: response, to: request, into: &record, client)
            return Answer(response: response, proof: proof, asked: asked)
        } catch { throw .unacceptable(error) }
    }

    /// The envelope of an answer, verified and put into the record; nil where none is meant.
    private func news(
        in answer: Answer, of record: inout RegistrationRecord, after current: PolicyEnvelope?, nonce: String,
        _ client: ServiceClient
    ) async throws(ServiceFailure) -> PolicyEnvelope? {
        guard let text = answer.response.envelope else { return nil }
        let received = SignedEnvelope(text)
        do {
            let envelope = try await registrations.accept(
                received, into: &record, after: current.map { ($0.sequence, record.envelope.digest) }, nonce: nonce,
                client: client)
            try requireWord(answer.proof, beside: envelope, received.digest)
            record.envelope = received
            return envelope
        } catch {
            if context.accounts.holds(record) { await registrations.refuse(error, for: record.account.id) }
            throw .unacceptable(error)
        }
    }

    /// Checks that an envelope came with the word that names it, where it says that one goes with it.
    private nonisolated func requireWord(
        _ proof: ContactProof?, beside envelope: PolicyEnvelope, _ digest: String
    ) throws(ProtocolError) {
        guard envelope.hasContact != true || proof != nil else {
            throw ProtocolError(.wrongSignature, "the service's word was taken off its answer")
        }
        guard proof?.envelopeDigest ?? digest == digest else {
            throw ProtocolError(.replayed, "the service's word is about another envelope")
        }
    }

    /// Verifies that the service signed its answer to this very request, and keeps its word.
    private func takeContact(
        of response: CheckInResponse, to request: CheckInRequest, into record: inout RegistrationRecord,
        _ client: ServiceClient
    ) async throws(ProtocolError) -> ContactProof? {
        record.contact = response.contact
        guard let text = response.contact else { return nil }
        let proof = try await verified(text, of: request, &record, client)
        guard proof.isAccountDisabled == nil else {
            throw ProtocolError(.malformed, "a refusal was sent as an answer")
        }
        return proof
    }

    /// Whether the service itself says that the account was disabled, nil where it says nothing of it: another's word closes the account
    /// at most.
    private func isDisabled(
        by failure: ServiceFailure, to request: CheckInRequest, _ record: inout RegistrationRecord,
        _ client: ServiceClient
    ) async -> Bool? {
        guard case .refused(let problem) = failure, let text = problem.contact else { return nil }
        return (try? await verified(text, of: request, &record, client))?.isAccountDisabled
    }

    /// Takes back that the account is disabled, which removes data, in this process also where it cannot be stored.
    private func noteEnabled(_ account: AccountID) {
        guard var known = context.accounts[account], known.isAccountDisabled == true else { return }
        known.isAccountDisabled = nil
        context.accounts.put(known)
        do { try context.accounts.change(account) { $0.isAccountDisabled = nil } } catch {
            configuration.logger.error("it could not be noted that the account is not disabled any more")
        }
    }

    /// Verifies a word of the service on a request; where its key is not known yet, the key set is fetched once more.
    private func verified(
        _ text: String, of request: CheckInRequest, _ record: inout RegistrationRecord, _ client: ServiceClient
    ) async throws(ProtocolError) -> ContactProof {
        let proof: ContactProof
        do {
            proof = try ContactProof(
                verifying: text, by: try configuration.trusted(record.keys, at: .distantPast),
                forRegistration: record.registrationID)
        } catch {
            guard error.code == .unknownKey, let fresh = try? await client.keySet() else { throw error }
            let now = configuration.clock.now()
            proof = try ContactProof(
                verifying: text, by: try configuration.trusted(fresh, at: now, after: record.keys),
                forRegistration: record.registrationID)
            record.keys = fresh
            record.keysFetched = now
        }
        guard proof.nonce == request.nonce, proof.clientTime == Int64(request.clientTime.timeIntervalSince1970) else {
            throw ProtocolError(.replayed, "the answer is to another request")
        }
        return proof
    }

    /// The service says that it no longer keeps the share that was left with it.
    private func noteLostShare(_ digest: String, of account: AccountID) async {
        configuration.logger.warning("the service has lost a share; the next right PIN leaves it anew")
        do { try await context.guards.noteLostShare(digest, of: account) } catch {
            configuration.logger.error(
                "it could not be noted that the service has lost a share",
                metadata: ["reason": "\(error.reason)", "at": "\(error.thrownAt)"])
        }
    }

    /// Compares what is stored with the highest generation that the service has heard of: where everything here was put back to an older
    /// copy, counter included, what launch and PIN remember counts for nothing, and the person signs in. Until that has been recorded, the
    /// answer is ignored and everything is denied: every accepted answer moves the copy closer to the service's number, until nothing would
    /// reveal the rollback.
    private func compareGeneration(
        of record: inout RegistrationRecord, with told: Int64
    ) async throws(ServiceFailure) {
        let account = record.account.id
        // An account that was wiped while the service answered has no state here, which is no rollback.
        guard context.accounts.holds(record) else { return }
        // Another process of the app may have stored and reported more since this one asked. What cannot be read now is no older one: the
        // next check-in compares again. A number that no app comes to would leave none to count on with.
        guard let here = try? context.accounts.generation(of: record), told > here, told < StateNumber.limit / 2
        else { return }
        configuration.logger.error("the service knows of newer state of this app than is here")
        context.events.post(.stateRolledBack(account: account))
        context.accounts.requireSignIn(of: account)
        var failure: ServiceFailure?
        do { try noteSignIn(of: account) } catch {
            failure = error
            // What is being wiped is closed already.
            if context.accounts.isStaying(account) {
                context.accounts.setDoubted(account, true)
                context.accounts.denyEverything(of: record)
                await changes.publishRules(of: account)
            }
        }
        // Guesses that a copy gives back are worse than files that nothing else opens.
        _ = await changes.resetPIN(of: account, evenIfFilesAreLost: true)
        if let failure { throw failure }
        record.generation = told
    }

    private func noteSignIn(of account: AccountID) throws(ServiceFailure) {
        do {
            try context.changeLaunchRecord(of: account) { $0.mustSignIn = true }
            unnoted.remove(account)
        } catch {
            configuration.logger.error(
                "it could not be noted that a sign-in is due",
                metadata: ["reason": "\(error.reason)", "at": "\(error.thrownAt)"])
            unnoted.insert(account)
            throw .refused(ProblemDetails(title: error.reason, status: 0, code: .internalError))
        }
    }

    // MARK: When it is due

    /// Whether an enrolled account is to check in: its time has come, the clock says nothing of it any more, or the app
    /// was just launched, the service wants a check-in then, and the last one is not fresh (SRV-CI-016, SRV-CI-066).
    nonisolated func isDue(_ record: RegistrationRecord) -> Bool {
        let now = context.configuration.clock.now()
        if Intervals.isDue(record.nextCheckIn, plannedAt: record.planned, at: now) { return true }
        // After failures the pause counts, also while the clock is turned back.
        guard record.failures == 0 else { return false }
        let asksAtLaunch = context.accounts.serviceSettings(for: record.account.id).checkInOnLaunch
        return context.clock.read().turnedBack > 0
            || !context.pending.isStartDone && asksAtLaunch
                && now.timeIntervalSince(record.lastCheckIn) > Intervals.freshAtLaunch
    }

    /// Checks every account in whose time has come.
    func checkInWhoIsDue() async {
        for account in context.accounts.enrolled {
            if let record = context.accounts[account], isDue(record) { await checkIn(account) }
        }
    }
}
