internal import CordonIdentity
internal import CordonPolicy
public import CordonProtocol
internal import Foundation

extension StoredManagementService {
    /// Answers a check-in, as ``DeviceService/checkIn(_:registration:by:)`` says.
    ///
    /// Where nothing has changed and the last check-in is noted already, it only reads.
    public func checkIn(
        _ request: CheckInRequest, registration id: String, by caller: DeviceCaller
    ) async throws(ServiceError) -> CheckInOutcome {
        let now = self.now
        try request.check()
        let (quick, snapshot) = try await storage.read(caller.tenant) { [self] records throws(ServiceError) in
            let state = try CheckInState(request, id, caller, at: now, service: self, in: records)
            return (state.isSettled(at: now) ? unchanged(state, at: now) : nil, state.snapshot)
        }
        targeting.keep(snapshot, of: caller.tenant)
        if let quick { return quick }
        return try await change(caller.tenant) { [self] transaction, _ throws(ServiceError) in
            var state = try CheckInState(request, id, caller, at: now, service: self, in: transaction)
            state.noteReport(at: now)
            try noteReports(of: request, in: &state.registration, at: now, of: transaction)
            if state.isUnchanged {
                try transaction.save(state.registration)
                return unchanged(state, at: now)
            }
            let commands = try deliver(
                to: &state.registration, isBlocked: state.isBlocked, at: now, in: transaction)
            let envelope = try issueEnvelope(
                state.content, commands: commands, nonce: request.nonce, appliedSequence: request.appliedSequence,
                for: &state.registration, at: now, in: transaction)
            try transaction.save(state.registration)
            let status: EnrollmentStatus =
                commands.hasWipe ? .wipeReceived : state.content.policy == nil ? .noPolicyTargeted : .newPolicies
            return outcome(state, status, envelope: envelope, at: now)
        }
    }

    private func unchanged(_ state: CheckInState, at now: Date) -> CheckInOutcome {
        outcome(state, state.content.policy == nil ? .noPolicyTargeted : .policiesUnchanged, envelope: nil, at: now)
    }

    private func outcome(
        _ state: CheckInState, _ status: EnrollmentStatus, envelope: String?, at now: Date
    ) -> CheckInOutcome {
        CheckInOutcome(
            response: CheckInResponse(
                statusCode: status, unchanged: envelope == nil, serviceTime: now,
                nextCheckInSeconds: Int(configuration.checkInInterval.wholeSeconds), envelope: envelope),
            isUserBlocked: state.isBlocked)
    }
}

/// Everything that decides one check-in, read in one transaction.
private struct CheckInState {
    var registration: Registration
    let content: EnvelopeContent
    let snapshot: TargetingSnapshot
    let isBlocked: Bool
    private let hasCommand: Bool
    private let request: CheckInRequest

    init(
        _ request: CheckInRequest, _ id: String, _ caller: DeviceCaller, at now: Date,
        service: StoredManagementService, in records: some StorageReader
    ) throws(ServiceError) {
        self.request = request
        registration = try records.activeRegistration(
            id, of: caller, at: now, lifetime: service.configuration.registrationLifetime)
        guard folded(request.application.bundleID) == folded(registration.application.bundleID) else {
            throw .enrollment(.notEnrolled, "the registration is of another app")
        }
        let settings = try records.settings()
        let snapshot = try service.targeting.snapshot(of: caller.tenant, in: records, settings: settings)
        self.snapshot = snapshot
        isBlocked = try records.record(UserBlock.self, folded(registration.account.id.rawValue)) != nil
        let operations = try records.openOperations(of: id)
        let hasMissedWipe = registration.missedWipe != nil || operations.contains { $0.isMissed(at: now) }
        let isToldToWipe = isBlocked || hasMissedWipe || operations.contains { $0.notAfter > now }
        guard settings.isMoving != true || isToldToWipe else { throw .moving }
        let commands = try records.openCommands(of: id)
        hasCommand = hasMissedWipe || !operations.isEmpty || !commands.isEmpty
        do throws(ServiceError) {
            let user = try records.entitledUser(registration.account)
            let inputs = EnvelopeInputs(
                user: user, bundleID: registration.application.bundleID,
                facts: FilterFacts(request.application, request.device), settings: settings,
                extras: try EnvelopeExtras(
                    for: user, registration: id, health: request.health, isBlocked: isBlocked, settings: settings,
                    at: now, in: records))
            content = try snapshot.contents.content(of: id, inputs) { () throws(ServiceError) in
                try EnvelopeContent(
                    for: user, bundleID: inputs.bundleID, facts: inputs.facts, tenant: caller.tenant,
                    snapshot: snapshot, settings: settings, extras: inputs.extras)
            }
        } catch {
            // Whoever app protection serves no longer is still told to wipe; only then that nothing else comes.
            guard error.status == .notLicensed, isToldToWipe else { throw error }
            content = try EnvelopeContent(leaving: registration, snapshot: snapshot, settings: settings)
        }
    }

    /// Whether the device has in force what it should have, and nothing waits for it.
    var isUnchanged: Bool {
        !isBlocked && !hasCommand && registration.lastEnvelope?.version == content.version && holdsLast
    }

    /// Whether the device has the newest envelope: it names the digest, or, as `If-None-Match` does, the version alone
    /// (SRV-CI-089).
    private var holdsLast: Bool {
        guard let last = registration.lastEnvelope, last.isWithdrawn != true else { return false }
        guard let digest = request.appliedDigest else { return request.appliedVersion == last.version }
        return digest == last.digest
    }

    /// Whether, besides, nothing needs to be written down.
    func isSettled(at now: Date) -> Bool {
        guard !request.hasReports else { return false }
        var noted = self
        noted.noteReport(at: now)
        noted.registration.lastSync = registration.lastSync
        return isUnchanged && noted.registration == registration && now.timeIntervalSince(registration.lastSync) < 60
    }

    /// Takes down what the device said of itself.
    mutating func noteReport(at now: Date) {
        registration.application = request.application
        registration.device = request.device
        registration.note(request.health, at: now)
        registration.lastSync = now
        if let last = registration.lastEnvelope, holdsLast {
            registration.applied = last.policies
            if registration.applied == content.references { registration.driftSince = nil }
        }
    }
}
