internal import CordonIdentity
public import CordonProtocol
internal import Foundation
internal import Logging

extension DeviceService {
    /// Binds an app, an account and a key; the same key again finds its registration (SRV-CI-018).
    ///
    /// - Throws: ``ServiceError`` with code `enrollment`: 200 not entitled, 225 not targeted, 208 the key is
    ///   bound to another account or app, 203 a fresh sign-in is needed after a wipe (SRV-TG-30); with `tooManyRequests` where the
    ///   person has as many registrations as one may have.
    public func register(
        _ request: RegistrationRequest, by caller: DeviceCaller
    ) async throws(ServiceError) -> RegistrationOutcome {
        try request.check()
        // No person is added either: they may have been removed since the backup.
        try await store.read(for: caller) { try $0.requireConfirmed() }
        try await addAtFirstSignIn(caller)
        return try await store.change(for: caller) { change in
            let now = change.now
            let user = try change.entitledUser(caller.account)
            let snapshot = try targeting.snapshot(of: caller.tenant, in: change)
            let bundleID = request.application.bundleID
            let isBlocked = try change.isBlocked(caller.account.id)
            let settings = try change.settings()
            let content = try EnvelopeContent(
                for: user, in: change.directGroups(ofPerson: user.id), bundleID: bundleID,
                facts: FilterFacts(request.application, request.device), tenant: caller.tenant, snapshot: snapshot,
                settings: settings,
                extras: EnvelopeExtras(
                    for: user, registration: nil, health: [], isBlocked: isBlocked, settings: settings, at: now,
                    in: change))
            var (registration, isNew) = try claim(request, by: caller, in: change)
            guard content.policy != nil || !isNew else {
                throw ServiceError.enrollment(.notTargeted, "no protection policy targets the account in \(bundleID)")
            }
            if isNew {
                try supersede(by: registration, in: &change)
                if let former = request.formerRegistrationID {
                    try change.copyRecoveryShare(fromRegistration: former, to: registration)
                }
                if let replaced = request.replacedRegistrationID {
                    try continueRegistration(replaced, as: &registration, in: change)
                }
                try change.audit(
                    AuditRecord.Actor(registration), "registration.create", "registration/\(registration.id)",
                    details: [
                        "app": bundleID, "keyThumbprint": caller.keyThumbprint, "user": caller.account.id.rawValue,
                    ])
            }
            let commands = try wipes.deliver(to: &registration, isBlocked: isBlocked, in: change)
            guard settings.isMoving != true || commands.hasWipe else { throw ServiceError.moving }
            registration.application = request.application
            registration.device = request.device
            registration.otherSubject = caller.otherSubject ?? registration.otherSubject
            registration.lastSync = now
            let envelope = try envelopes.issue(
                content, commands: commands, nonce: request.nonce, appliedSequence: 0, hasContact: false,
                for: &registration,
                in: change)
            try change.save(registration)
            change.journal.note(CollectionOfOne(folded(registration.account.id.rawValue)), of: change.tenant)
            let status: EnrollmentStatus =
                commands.hasWipe ? .wipeReceived : content.policy == nil ? .noPolicyTargeted : .newPolicies
            let result = RegistrationResult(
                registrationID: registration.id, account: caller.account, statusCode: status, serviceTime: now,
                nextCheckInSeconds: Int(configuration.checkInInterval.wholeSeconds), envelope: envelope)
            return RegistrationOutcome(result: result, isNew: isNew, isUserBlocked: isBlocked)
        }
    }

    /// How many registrations of a person are kept, closed ones included, for each that may be open. With the usual limit that is more than five
    /// apps leave behind that a shared device wipes twice a day, in the 400 days for which wiped ones are kept.
    private static let keptForEachOpen = 25

    /// The registration of the caller's key, or a new one.
    private func claim(
        _ request: RegistrationRequest, by caller: DeviceCaller, in change: Change
    ) throws(ServiceError) -> (Registration, isNew: Bool) {
        let ofKey = try change.records(Registration.self, where: (.key, caller.keyThumbprint))
        if let known = ofKey.first(where: { $0.state == .active }) {
            guard known.account.id == caller.account.id,
                folded(known.application.bundleID) == folded(request.application.bundleID)
            else { throw ServiceError.enrollment(.alreadyEnrolled, "the key is bound to another account or app") }
            return (known, false)
        }
        let ofUser = try change.records(Registration.self, where: (.user, folded(caller.account.id.rawValue)))
        // A device whose tag went with the wipe comes back with a new one, and is known by its model then.
        let isNewDevice = !ofUser.contains { $0.device.tag == request.device.tag }
        for wiped in ofUser
        where wiped.state == .wiped
            && (wiped.isSameInstall(as: request) || isNewDevice && wiped.mayBeSameInstall(as: request))
        {
            // A token that does not say when the person signed in is no proof that they did.
            guard let authenticated = caller.authenticated, wiped.isFollowed(by: authenticated, at: change.now) else {
                throw ServiceError.enrollment(.authenticationRequired, "the person must sign in again after a wipe")
            }
        }
        // The holder of a token could go on filling the store at the rate that enrolments are admitted at.
        let open = ofUser.count { $0.state == .active && !$0.isSameInstall(as: request) }
        guard open < configuration.registrationsPerPerson else {
            throw ServiceError(
                .tooManyRequests,
                "the person has \(open) open registrations, and \(configuration.registrationsPerPerson) at most",
                hint: "An administrator removes registrations that are no longer used.", retryAfterSeconds: 3_600)
        }
        // Who registers again and again in the place of the one before has one open, and leaves the others behind.
        let mostKept = Self.keptForEachOpen * configuration.registrationsPerPerson
        guard ofUser.count < mostKept else {
            throw ServiceError(
                .tooManyRequests,
                "the person has \(ofUser.count) registrations that are kept, closed ones included, and \(mostKept) at most",
                hint:
                    "Closed ones are removed when their retention ends, and those that are still owed a wipe once an administrator has forgotten them; "
                    + "before that, an operator can raise registrationsPerPerson.",
                retryAfterSeconds: 3_600)
        }
        let registration = Registration(
            id: ids.token(), account: caller.account, key: caller.key, source: request.source, created: change.now,
            application: request.application, device: request.device)
        return (registration, true)
    }

    /// Closes what the same app on the same device had before, and carries over its wipes, open or owed: a new key is no
    /// way around a wipe.
    private func supersede(by new: Registration, in change: inout Change) throws(ServiceError) {
        let person = folded(new.account.id.rawValue)
        let former = try change.records(Registration.self, where: (.user, person))
            .filter { $0.id != new.id && $0.isSameInstall(as: new) }
        let shares = Set(try change.records(RecoveryShareRecord.self, ids: former.map(\.id)).map(\.registrationID))
        let open = Dictionary(
            grouping: try change.records(WipeOperation.self, where: (.user, person)).filter(\.state.isOpen),
            by: \.registrationID)
        var carried: WipeOperation?
        // One that has nothing any more is left alone, however many of them there are.
        for var old in former
        where old.state == .active || old.missedWipe != nil || shares.contains(old.id) || open[old.id] != nil {
            if old.state == .active {
                old.close(.superseded, at: change.now)
                change.noteClosing(old.id)
            }
            let owed = old.missedWipe
            old.missedWipe = nil
            try change.save(old)
            try change.moveRecoveryShare(fromRegistration: old.id, to: new.id)
            try change.endCommands(of: old)
            for var operation in open[old.id] ?? [] {
                let successor = try wipes.request(
                    of: new, reason: operation.reason, by: .service, until: operation.notAfter,
                    attempt: operation.attempt, after: operation, in: change)
                carried = successor
                operation.successorID = successor.id
                operation.failure = "the app registered again with a new key; its new registration has the wipe"
                try wipes.step(&operation, to: .expired, by: .service, in: change)
            }
            if let owed {
                if carried == nil { carried = try wipes.request(of: new, reason: owed, by: .service, in: change) }
                if let carried { try wipes.replaceLapsed(of: old.id, by: carried, in: change) }
            }
        }
    }

    /// Continues another registration, whose data the app still has. If a wipe ended that one, or a later one of the same install, the data
    /// is a restored copy and is wiped again. The highest generation that the app has reported since counts for the new registration.
    private func continueRegistration(
        _ replaced: String, as new: inout Registration, in change: Change
    ) throws(ServiceError) {
        let ofInstall = try change.records(Registration.self, where: (.user, folded(new.account.id.rawValue)))
            .filter { [new] in $0.id != new.id && $0.isSameInstall(as: new) }
        guard let first = ofInstall.first(where: { $0.id == replaced }) else { return }
        for old in ofInstall where old.created >= first.created {
            new.stateGeneration = [new.stateGeneration, old.plausibleGeneration].compactMap { $0 }.max()
            if old.state == .wiped { new.missedWipe = new.missedWipe ?? .device }
        }
    }

    /// Adds a person whom only the OpenID provider knows, where the configuration says so; also when no policy targets
    /// them yet, so that an administrator can see them and put them into a group.
    ///
    /// A person who was removed stays out until an administrator, SCIM or a directory file brings them back.
    ///
    /// - Throws: ``ServiceError`` with status 200 and a reason of its own for a person who cannot be added: whose id is none
    ///   that this service keeps, or whose sign-in name is another person's.
    private func addAtFirstSignIn(_ caller: DeviceCaller) async throws(ServiceError) {
        guard configuration.createsPeopleAtSignIn else { return }
        let account = caller.account
        do {
            let isNew = try await store.read(for: caller, call: "register") { records in
                try Self.isNew(account, in: records)
            }
            guard isNew else { return }
            try await add(caller)
        } catch {
            if error.code == .enrollment {
                logger.notice(
                    "a person could not be added at the first sign-in",
                    metadata: ["reason": "\(error.reason)", "at": "\(error.thrownAt)"])
            }
            throw error
        }
    }

    private func add(_ caller: DeviceCaller) async throws(ServiceError) {
        let account = caller.account
        try await store.change(for: caller, call: "register") { change in
            guard try Self.isNew(account, in: change) else { return }
            let user = DirectoryUser(
                id: account.id.rawValue, userPrincipalName: account.userPrincipalName,
                displayName: account.userPrincipalName)
            try change.save(user)
            try change.audit(
                .service, "user.save", "user/\(user.id)",
                details: ["origin": "first sign-in", "enabled": "true", "licensed": "true"])
        }
    }

    /// Whether the account is neither in the directory nor was removed from it.
    ///
    /// - Throws: ``ServiceError`` with status 200 where it is new but cannot be added.
    private static func isNew(_ account: ManagedAccount, in records: some StorageReader) throws(ServiceError) -> Bool {
        let id = folded(account.id.rawValue)
        guard try records.record(DirectoryUser.self, id) == nil, try records.record(RemovedPerson.self, id) == nil
        else { return false }
        guard (try? checkPersonID(account.id.rawValue)) != nil else {
            throw ServiceError.enrollment(
                .notLicensed,
                "the id of the account (oid, else sub) cannot be kept by this service: it needs 1 to 255 letters, digits "
                    + "or -_.~|:@+=!$*,")
        }
        let name = account.userPrincipalName
        guard (1...256).contains(name.utf8.count), ShownText.flaw(of: name, isName: true) == nil else {
            throw ServiceError.enrollment(
                .notLicensed,
                "the sign-in name of the account is empty, longer than 256 bytes, or has characters that do not show")
        }
        guard try records.records(DirectoryUser.self, where: (.name, folded(name))).isEmpty,
            try records.records(DirectoryUser.self, where: (.name, id)).isEmpty,
            try records.record(DirectoryUser.self, folded(name)).map({ $0.storageID == id }) ?? true
        else {
            throw ServiceError.enrollment(
                .notLicensed, "another person of the directory has the sign-in name of the account")
        }
        return true
    }
}

extension Registration {
    fileprivate func isSameInstall(as request: RegistrationRequest) -> Bool {
        device.tag == request.device.tag && folded(application.bundleID) == folded(request.application.bundleID)
    }

    /// Whether a sign-in came after the registration was wiped. Of one that was wiped while the clock was ahead, nothing says when that was: one
    /// of right now did.
    fileprivate func isFollowed(by signIn: Date, at now: Date) -> Bool {
        signIn >= lastSync || lastSync > now && abs(now.timeIntervalSince(signIn)) <= RecoveryShare.freshness
    }

    fileprivate func mayBeSameInstall(as request: RegistrationRequest) -> Bool {
        device.model == request.device.model && folded(application.bundleID) == folded(request.application.bundleID)
    }

    /// Whether both are, or were, of the same app on the same device.
    func isSameInstall(as other: Registration) -> Bool {
        device.tag == other.device.tag && folded(application.bundleID) == folded(other.application.bundleID)
    }
}
