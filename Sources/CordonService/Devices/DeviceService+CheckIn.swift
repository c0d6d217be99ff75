internal import CordonIdentity
internal import CordonPolicy
public import CordonProtocol
internal import Foundation

extension DeviceService {
    /// Answers a check-in (SRV-CI-019).
    ///
    /// - Throws: ``ServiceError``: `wrongKey`; `enrollment` with 220 registration gone, 214 another account, 200 not entitled
    ///   and no wipe waits.
    public func checkIn(
        _ request: CheckInRequest, registration id: String, by caller: DeviceCaller
    ) async throws(ServiceError) -> CheckInOutcome {
        let now = store.now
        try request.check()
        let (quick, snapshot) = try await store.readBriefly(for: caller) { records in
            let state = try state(request, id, caller, at: now, in: records)
            return (try unchangedAnswer(state, caller, at: now, in: records), state.snapshot)
        }
        targeting.keep(snapshot, of: caller.tenant)
        if let quick { return quick }
        return try await store.change(for: caller) { change in
            let now = change.now
            var state = try state(request, id, caller, at: now, in: change)
            let signer = try keys.signer(.envelope, of: caller.tenant, in: change, at: now)
            let wasApplied = state.registration.lastEnvelope?.isApplied ?? false
            state.noteReport(at: now)
            if !wasApplied, state.registration.lastEnvelope?.isApplied ?? false {
                try change.noteApplied(state.registration)
            }
            state.registration.otherSubject = caller.otherSubject ?? state.registration.otherSubject
            try noteReports(of: request, into: &state.registration, in: change)
            if state.isUnchanged {
                try change.save(state.registration)
                return try unchanged(state, at: now, signer)
            }
            let commands = try wipes.deliver(to: &state.registration, isBlocked: state.isBlocked, in: change)
            let envelope = try envelopes.issue(
                state.content, commands: commands, nonce: request.nonce, appliedSequence: request.appliedSequence,
                hasContact: true, for: &state.registration, in: change)
            try change.save(state.registration)
            let status: EnrollmentStatus =
                commands.hasWipe ? .wipeReceived : state.content.policy == nil ? .noPolicyTargeted : .newPolicies
            return try outcome(state, status, envelope: envelope, at: now, signer)
        }
    }

    /// The word that a check-in is refused although the account is not disabled; nil where it is, or the registration is not the caller's.
    public func wordOfEnabledAccount(
        answering request: CheckInRequest, registration id: String, by caller: DeviceCaller
    ) async throws(ServiceError) -> String? {
        let now = store.now
        try request.check()
        return try await store.readBriefly(for: caller) { records in
            let registration = try? records.activeRegistration(
                id, of: caller, at: now, lifetime: configuration.registrationLifetime)
            guard registration != nil, try !records.isDisabled(caller.account.id) else { return nil }
            return try refusing(request, id, caller, isDisabled: false, at: now, in: records)
        }
    }

    /// What decides a check-in. Whether the account was disabled is said with a signature, since apps remove data on that word.
    private func state(
        _ request: CheckInRequest, _ id: String, _ caller: DeviceCaller, at now: Date, in records: some StorageReader
    ) throws -> CheckInState {
        do { return try CheckInState(request, id, caller, at: now, service: self, in: records) } catch {
            guard var refusal = error as? ServiceError, refusal.status == .notLicensed else { throw error }
            refusal.contact = try refusing(
                request, id, caller, isDisabled: refusal.code == .accountDisabled, at: now, in: records)
            throw refusal
        }
    }

    /// The word of a refused check-in.
    private func refusing(
        _ request: CheckInRequest, _ id: String, _ caller: DeviceCaller, isDisabled: Bool, at now: Date,
        in records: some StorageReader
    ) throws -> String {
        var proof = ContactProof(answering: request, ofRegistration: id, at: now)
        proof.isAccountDisabled = isDisabled
        return try signed(proof, by: try keys.signer(.envelope, of: caller.tenant, in: records, at: now))
    }

    private func signed(_ proof: ContactProof, by signer: some MessageSigner) throws(ServiceError) -> String {
        do { return try proof.signed(by: signer) } catch {
            throw ServiceError(.internalError, "an answer could not be signed: \(error.reason)")
        }
    }

    /// The answer where nothing changes and nothing is written down; nil otherwise.
    private func unchangedAnswer(
        _ state: CheckInState, _ caller: DeviceCaller, at now: Date, in records: some StorageReader
    ) throws(ServiceError) -> CheckInOutcome? {
        guard state.isUnchanged(at: now) else { return nil }
        return try unchanged(state, at: now, try keys.signer(.envelope, of: caller.tenant, in: records, at: now))
    }

    private func unchanged(
        _ state: CheckInState, at now: Date, _ signer: some MessageSigner
    ) throws(ServiceError) -> CheckInOutcome {
        let status: EnrollmentStatus = state.content.policy == nil ? .noPolicyTargeted : .policiesUnchanged
        return try outcome(state, status, envelope: nil, at: now, signer)
    }

    private func outcome(
        _ state: CheckInState, _ status: EnrollmentStatus, envelope: String?, at now: Date, _ signer: some MessageSigner
    ) throws(ServiceError) -> CheckInOutcome {
        CheckInOutcome(
            response: CheckInResponse(
                statusCode: status, unchanged: envelope == nil, serviceTime: now,
                nextCheckInSeconds: Int(configuration.checkInInterval.wholeSeconds), envelope: envelope,
                contact: try signed(state.answered(at: now), by: signer)),
            isUserBlocked: state.isBlocked)
    }

    /// Records what launch conditions did and which envelopes were refused. What was reported before is left out, since an app that does not
    /// hear the answer reports again.
    private func noteReports(
        of request: CheckInRequest, into registration: inout Registration, in change: Change
    ) throws(ServiceError) {
        var known = registration.outcomes ?? []
        for outcome in request.outcomes ?? [] where !known.contains(outcome) {
            known.append(outcome)
            var details = ["check": outcome.check, "time": String(outcome.time)]
            details["threshold"] = outcome.threshold
            details["observed"] = outcome.observed
            try change.audit(of: &registration, "launch.\(outcome.action.rawValue)", details: details)
        }
        registration.outcomes = known.isEmpty ? nil : Array(known.suffix(Registration.mostOutcomes))
        var refused = registration.refusedEnvelopes ?? []
        for refusal in request.refusedEnvelopes ?? [] {
            let time = String(Int64(refusal.time.timeIntervalSince1970))
            guard !refused.contains("\(refusal.code)@\(time)") else { continue }
            refused.append("\(refusal.code)@\(time)")
            try change.audit(
                of: &registration, "envelope.refused", outcome: .failed, details: ["code": refusal.code, "time": time])
        }
        registration.refusedEnvelopes = refused.isEmpty ? nil : Array(refused.suffix(Registration.mostOutcomes))
    }
}

/// Everything that decides one check-in, read in one change.
private struct CheckInState {
    var registration: Registration
    let content: EnvelopeContent
    let snapshot: TargetingSnapshot
    let isBlocked: Bool
    /// The first epoch whose envelopes count.
    private let envelopesSince: Int64
    private let hasCommand: Bool
    /// Whether the share is kept that the app says to have left; nil where it says nothing.
    private let hasRecoveryShare: Bool?
    private let request: CheckInRequest

    init(
        _ request: CheckInRequest, _ id: String, _ caller: DeviceCaller, at now: Date,
        service: DeviceService, in records: some StorageReader
    ) throws {
        self.request = request
        registration = try records.activeRegistration(
            id, of: caller, at: now, lifetime: service.configuration.registrationLifetime)
        guard folded(request.application.bundleID) == folded(registration.application.bundleID) else {
            throw ServiceError.enrollment(.notEnrolled, "the registration is of another app")
        }
        let settings = try records.settings()
        let snapshot = try service.targeting.snapshot(of: caller.tenant, in: records, settings: settings)
        self.snapshot = snapshot
        envelopesSince = settings.envelopesSince ?? 0
        isBlocked = try records.isBlocked(registration.account.id)
        let hasWipe = try records.hasWipe(of: registration)
        let isToldToWipe = isBlocked || hasWipe
        guard settings.isMoving != true || isToldToWipe else { throw ServiceError.moving }
        hasRecoveryShare = try request.recoveryShareDigest.map { digest in
            try records.record(RecoveryShareRecord.self, id).map { RecoveryShare(sealed: $0.sealed).digest } == digest
        }
        hasCommand = try hasWipe || !records.openCommands(of: id).isEmpty
        do {
            let user = try records.entitledUser(registration.account)
            let inputs = EnvelopeInputs(
                user: user, groups: try records.directGroups(ofPerson: user.id),
                bundleID: registration.application.bundleID,
                facts: FilterFacts(request.application, request.device), settings: settings,
                extras: try EnvelopeExtras(
                    for: user, registration: id, health: request.health, isBlocked: isBlocked, settings: settings,
                    at: now, in: records))
            content = try snapshot.contents.content(of: id, inputs) {
                try EnvelopeContent(
                    for: user, in: inputs.groups, bundleID: inputs.bundleID, facts: inputs.facts, tenant: caller.tenant,
                    snapshot: snapshot, settings: settings, extras: inputs.extras)
            }
        } catch let error as ServiceError where error.status == .notLicensed && isToldToWipe {
            // A person whom app protection no longer serves is still told to wipe; only after that, that nothing else comes.
            content = try EnvelopeContent(leaving: registration, snapshot: snapshot, settings: settings)
        }
    }

    /// The highest generation that the app has reported, now or before.
    private var highestGeneration: Int64? {
        [request.stateGeneration, registration.plausibleGeneration].compactMap { $0 }.max()
    }

    /// What the service says of having answered; its newest envelope is the one that the answer brings, or else the one that is in force.
    func answered(at now: Date) -> ContactProof {
        var proof = ContactProof(answering: request, ofRegistration: registration.id, at: now)
        proof.stateGeneration = highestGeneration
        proof.hasRecoveryShare = hasRecoveryShare
        proof.envelopeDigest = registration.lastEnvelope?.digest
        return proof
    }

    /// Whether the device has in force what it should have, and nothing waits for it.
    var isUnchanged: Bool {
        !isBlocked && !hasCommand && registration.lastEnvelope?.version == content.version && holdsLast
    }

    /// Whether the device has the newest envelope: it names the digest, or, as `If-None-Match` does, the version alone
    /// (SRV-CI-089).
    private var holdsLast: Bool {
        guard let last = registration.lastEnvelope, last.isWithdrawn != true, last.epoch ?? 0 >= envelopesSince else {
            return false
        }
        return namesLast
    }

    /// Whether it is the newest envelope that the device names, one that was withdrawn since included.
    private var namesLast: Bool {
        guard let last = registration.lastEnvelope else { return false }
        guard let digest = request.appliedDigest else { return request.appliedVersion == last.version }
        return digest == last.digest
    }

    /// Whether, besides, nothing needs to be written down.
    func isUnchanged(at now: Date) -> Bool {
        guard !request.hasReports else { return false }
        var noted = self
        noted.noteReport(at: now)
        noted.registration.lastSync = registration.lastSync
        // It rises at every check-in, and is written as often as the time of the last one.
        noted.registration.stateGeneration = registration.stateGeneration
        // A time that a clock ahead has noted is mended.
        return isUnchanged && noted.registration == registration
            && abs(now.timeIntervalSince(registration.lastSync)) < 60
    }

    /// Takes down what the device said of itself.
    mutating func noteReport(at now: Date) {
        registration.application = request.application
        registration.device = request.device
        registration.note(request.health, at: now)
        registration.lastSync = now
        registration.announced = nil
        registration.stateGeneration = highestGeneration
        guard let last = registration.lastEnvelope, namesLast else { return }
        // The device goes by it although it was withdrawn, until it has the next one.
        registration.applied = last.policies
        if holdsLast {
            registration.lastEnvelope?.isApplied = true
            if registration.applied == content.references { registration.driftSince = nil }
        }
    }
}

extension CheckInRequest {
    /// Whether it reports what must be written down.
    var hasReports: Bool { outcomes?.isEmpty == false || refusedEnvelopes?.isEmpty == false }
}

extension ContactProof {
    /// The word that a request was answered.
    fileprivate init(answering request: CheckInRequest, ofRegistration id: String, at now: Date) {
        let seconds = request.clientTime.timeIntervalSince1970.rounded(.down)
        self.init(
            registrationID: id, nonce: request.nonce, clientTime: Int64(exactly: seconds) ?? 0,
            issuedAt: Int64(now.timeIntervalSince1970))
    }
}
