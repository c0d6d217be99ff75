internal import CordonIdentity
public import CordonProtocol
internal import Foundation

extension StoredManagementService {
    /// Binds an app, an account and a key, as ``DeviceService/register(_:by:)`` says.
    public func register(
        _ request: RegistrationRequest, by caller: DeviceCaller
    ) async throws(ServiceError) -> RegistrationOutcome {
        let now = self.now
        try request.check()
        try await addAtFirstSignIn(caller, at: now)
        return try await change(caller.tenant) { [self] transaction, pending throws(ServiceError) in
            let user = try transaction.entitledUser(caller.account)
            let snapshot = try targeting.snapshot(of: caller.tenant, in: transaction)
            let bundleID = request.application.bundleID
            let isBlocked = try transaction.record(UserBlock.self, user.storageID) != nil
            let settings = try transaction.settings()
            let content = try EnvelopeContent(
                for: user, bundleID: bundleID, facts: FilterFacts(request.application, request.device),
                tenant: caller.tenant, snapshot: snapshot, settings: settings,
                extras: EnvelopeExtras(
                    for: user, registration: nil, health: [], isBlocked: isBlocked, settings: settings, at: now,
                    in: transaction))
            var (registration, isNew) = try claim(request, by: caller, at: now, in: transaction)
            guard content.policy != nil || !isNew else {
                throw .enrollment(.notTargeted, "no protection policy targets the account in \(bundleID)")
            }
            if isNew {
                try supersede(by: &registration, at: now, in: transaction, noting: &pending)
                try transaction.audit(
                    AuditRecord.Actor(registration), "registration.create", "registration/\(registration.id)",
                    of: caller.tenant, at: now,
                    details: [
                        "app": bundleID, "keyThumbprint": caller.keyThumbprint, "user": caller.account.id.rawValue,
                    ])
            }
            let commands = try deliver(to: &registration, isBlocked: isBlocked, at: now, in: transaction)
            guard settings.isMoving != true || commands.hasWipe else { throw .moving }
            registration.application = request.application
            registration.device = request.device
            registration.lastSync = now
            let envelope = try issueEnvelope(
                content, commands: commands, nonce: request.nonce, appliedSequence: 0, for: &registration, at: now,
                in: transaction)
            try transaction.save(registration)
            let status: EnrollmentStatus =
                commands.hasWipe ? .wipeReceived : content.policy == nil ? .noPolicyTargeted : .newPolicies
            let result = RegistrationResult(
                registrationID: registration.id, account: caller.account, statusCode: status, serviceTime: now,
                nextCheckInSeconds: Int(configuration.checkInInterval.wholeSeconds), envelope: envelope)
            return RegistrationOutcome(result: result, isNew: isNew, isUserBlocked: isBlocked)
        }
    }

    /// The registration of the caller's key, or a new one.
    private func claim(
        _ request: RegistrationRequest, by caller: DeviceCaller, at now: Date, in transaction: some StorageTransaction
    ) throws(ServiceError) -> (Registration, isNew: Bool) {
        let ofKey = try transaction.records(Registration.self, where: (.key, caller.keyThumbprint))
        if let known = ofKey.first(where: { $0.state == .active }) {
            guard known.account.id == caller.account.id,
                folded(known.application.bundleID) == folded(request.application.bundleID)
            else { throw .enrollment(.alreadyEnrolled, "the key is bound to another account or app") }
            return (known, false)
        }
        let ofUser = try transaction.records(
            Registration.self, where: (.user, folded(caller.account.id.rawValue)))
        // A device whose tag went with the wipe comes back with a new one, and is known by its model then.
        let isNewDevice = !ofUser.contains { $0.device.tag == request.device.tag }
        for wiped in ofUser
        where wiped.state == .wiped
            && (wiped.isSameInstall(as: request) || isNewDevice && wiped.mayBeSameInstall(as: request))
        {
            // A token that does not say when the person signed in is no proof that they did.
            guard let authenticated = caller.authenticated, authenticated >= wiped.lastSync else {
                throw .enrollment(.authenticationRequired, "the person must sign in again after a wipe")
            }
        }
        let registration = Registration(
            id: ids.token(), account: caller.account, key: caller.key, source: request.source, created: now,
            application: request.application, device: request.device)
        return (registration, true)
    }

    /// Closes what the same app on the same device had before, and carries its open wipes over: a new key is no
    /// way around a wipe.
    private func supersede(
        by new: inout Registration, at now: Date, in transaction: some StorageTransaction,
        noting pending: inout PendingEvents
    ) throws(ServiceError) {
        let ofUser = try transaction.records(Registration.self, where: (.user, folded(new.account.id.rawValue)))
        for var old in ofUser where old.id != new.id && old.isSameInstall(as: new) {
            if old.state == .active {
                old.state = .superseded
                pending.noteClosing(old.id)
            }
            new.missedWipe = new.missedWipe ?? old.missedWipe
            old.missedWipe = nil
            try transaction.save(old)
            try endCommands(of: old, at: now, in: transaction)
            for var operation in try transaction.openOperations(of: old.id) {
                let heir = try requestWipe(
                    of: new, reason: operation.reason, by: .service, at: now, until: operation.notAfter,
                    attempt: operation.attempt, after: operation, in: transaction)
                operation.heir = heir.id
                operation.failure = "the app registered again with a new key; its new registration has the wipe"
                try step(&operation, to: .expired, by: .service, of: new.account.tenant, at: now, in: transaction)
            }
        }
    }
}

extension Registration {
    fileprivate func isSameInstall(as request: RegistrationRequest) -> Bool {
        device.tag == request.device.tag && folded(application.bundleID) == folded(request.application.bundleID)
    }

    fileprivate func mayBeSameInstall(as request: RegistrationRequest) -> Bool {
        device.model == request.device.model && folded(application.bundleID) == folded(request.application.bundleID)
    }

    fileprivate func isSameInstall(as other: Registration) -> Bool {
        device.tag == other.device.tag && folded(application.bundleID) == folded(other.application.bundleID)
    }
}
