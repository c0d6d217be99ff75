internal import CordonIdentity
public import CordonProtocol
internal import Foundation

extension Administration {
    /// The registrations that the filter lets through, ordered by id.
    public func registrations(
        _ filter: RegistrationFilter, as administrator: Administrator
    ) async throws(ServiceError) -> [Registration] {
        try await store.read(.read, as: administrator) { records in
            try records.page(Registration.self, of: filter.part, after: nil, limit: .max).filter { $0.passes(filter) }
        }
    }

    /// A page of the registrations that the filter lets through, ordered by id; no others are read than those of the filter's person,
    /// device or app.
    ///
    /// - Parameters:
    ///   - after: The id after which the page begins, nil for the first page.
    ///   - limit: The most registrations of the page.
    public func registrations(
        _ filter: RegistrationFilter, after id: String?, limit: Int, as administrator: Administrator
    ) async throws(ServiceError) -> [Registration] {
        try await store.read(.read, as: administrator) { records in
            var found: [Registration] = []
            var last = id
            while found.count < limit {
                let page = try records.page(Registration.self, of: filter.part, after: last, limit: limit)
                found += page.filter { $0.passes(filter) }
                guard page.count == limit, let end = page.last?.id else { break }
                last = end
            }
            return Array(found.prefix(max(0, limit)))
        }
    }

    /// How many registrations count.
    public func activeRegistrationCount(as administrator: Administrator) async throws(ServiceError) -> Int {
        try await store.read(.read, as: administrator) {
            try $0.count(Registration.self, of: RegistrationFilter().part, atMost: .max)
        }
    }

    /// The registrations with some ids, open or closed, in the order of the ids; those that there are not are left out.
    public func registrations(
        ids: [String], as administrator: Administrator
    ) async throws(ServiceError) -> [Registration] {
        try await store.read(.read, as: administrator) { try $0.records(Registration.self, ids: ids) }
    }

    /// One registration, open or closed.
    public func registration(_ id: String, as administrator: Administrator) async throws(ServiceError) -> Registration {
        try await store.read(.read, as: administrator) { try $0.knownRegistration(id) }
    }

    /// Forgets a registration; its app learns so at its next check-in (status 220). Its open wipes end, and its share for recovery goes, also
    /// those of one that is closed already.
    public func forgetRegistration(_ id: String, as administrator: Administrator) async throws(ServiceError) {
        try await store.require(.forgetRegistrations, of: administrator)
        try await store.change(for: administrator) { change in
            var registration = try change.knownRegistration(id)
            try require(
                .forgetRegistrations, over: registration.account.id.rawValue, of: administrator, in: change)
            let open = try change.openOperations(of: id)
            let hasShare = try change.record(RecoveryShareRecord.self, id) != nil
            guard registration.state == .active || !open.isEmpty || registration.missedWipe != nil || hasShare else {
                return
            }
            try change.removeRecoveryShares(of: registration)
            registration.missedWipe = nil
            if registration.state == .active {
                registration.close(.forgotten, at: change.now)
                change.noteClosing(id)
                try change.endCommands(of: registration)
            }
            try change.save(registration)
            for var operation in open {
                operation.failure = "the registration was forgotten"
                try wipes.step(&operation, to: .expired, by: .service, in: change)
            }
            try change.audit(AuditRecord.Actor(administrator), "registration.forget", "registration/\(id)")
        }
    }

    /// Asks for a wipe of every app of a person on one device: one operation for each (SRV-TG-23).
    ///
    /// An app whose wipe is already under way keeps that operation, so asking twice changes nothing. A person who left
    /// the directory is found by object id as long as there are registrations.
    ///
    /// - Throws: ``ServiceError``: `notFound` for the person, `invalid` for an unknown tag, naming the known ones, and `waiting`
    ///   with the id of the change that another person has to release once the caller has wiped too many people in an hour.
    public func requestWipe(
        ofUser userID: String, deviceTag: String, as administrator: Administrator
    ) async throws(ServiceError) -> [WipeOperation] {
        try await store.require(.wipe, of: administrator)
        return try await clearing("wipe.request", .wipe, of: userID, deviceTag, as: administrator) {
            person, change in
            let onDevice = try change.activeRegistrations(of: person, onDevice: deviceTag)
            return try requestWipes(of: onDevice, .device, by: administrator, in: &change)
        }
    }

    /// Blocks a person: every app is told to wipe at every check-in until unblocked (SRV-TG-24), also after the person
    /// left the directory.
    public func blockUser(_ userID: String, as administrator: Administrator) async throws(ServiceError) {
        try await store.require(.blockUsers, of: administrator)
        try await clearing("wipe.block", .blockUsers, of: userID, nil, as: administrator) { id, change in
            guard try change.record(UserBlock.self, folded(id)) == nil else { return }
            try change.save(UserBlock(userID: id, since: change.now, by: administrator.id))
            try change.audit(AuditRecord.Actor(administrator), "user.block", "user/\(id)")
            let active = try change.activeRegistrations(of: id)
            _ = try requestWipes(of: active, .user, by: administrator, in: &change)
        }
    }

    /// Makes a change that wipes one person, within the budget of the caller or after another person has released it.
    ///
    /// - Parameters:
    ///   - deviceTag: The one device that is wiped, nil for all of the person's. A tag that no device of theirs has is refused before
    ///     anybody is asked to release it.
    ///   - body: The change, of the person with this object id.
    func clearing<Result: Sendable>(
        _ action: String, _ permission: Permission, of userID: String, _ deviceTag: String?,
        as administrator: Administrator, call: String = #function,
        _ body: @escaping @Sendable (_ person: String, inout Change) throws -> Result
    ) async throws(ServiceError) -> Result {
        for _ in 0..<5 {
            let (person, apps) = try await store.read(for: administrator, call: call) { records in
                let id = try records.personID(userID)
                try require(permission, over: id, of: administrator, in: records)
                return (id, try records.activeRegistrations(of: id, onDevice: deviceTag).count)
            }
            // Who has no app loses nothing, and costs nothing.
            let clearance =
                apps == 0
                ? nil : try await review.clearWipe(of: person, action, deviceTag, apps: apps, as: administrator)
            let result = try await store.change(for: administrator, call: call) { change -> Result? in
                // The person may have left the groups that the role is about, or got the first app, meanwhile.
                try require(permission, over: person, of: administrator, in: change)
                if let clearance {
                    let budget = configuration.wipeBudget
                    guard try change.use(clearance, by: administrator, budget: budget, ids: ids) else { return nil }
                } else if try !change.activeRegistrations(of: person).isEmpty {
                    return nil
                }
                return try body(person, &change)
            }
            if let result { return result }
        }
        throw ServiceError(.conflict, "other wipes came in between again and again")
    }

    /// Refuses what is asked about a person whom no role of the caller's with the permission is about.
    func require(
        _ permission: Permission, over person: String, of administrator: Administrator, in records: some StorageReader
    ) throws(ServiceError) {
        guard try targeting.lets(administrator, permission, over: person, in: records) else {
            throw ServiceError(
                .forbidden, "the roles of \(administrator.id) do not include \(permission.rawValue) for this person")
        }
    }

    /// Ends a block; wipes under way go on.
    public func unblockUser(_ userID: String, as administrator: Administrator) async throws(ServiceError) {
        try await store.require(.blockUsers, of: administrator)
        try await store.change(for: administrator) { change in
            var id = folded(userID)
            if try change.record(UserBlock.self, id) == nil {
                // By another name than the block's; a person who left the directory has the block's alone.
                guard let user = try change.knownUser(userID) else { return }
                id = user.storageID
            }
            try require(.blockUsers, over: id, of: administrator, in: change)
            guard try change.record(UserBlock.self, id) != nil else { return }
            try change.remove(UserBlock.self, id)
            try change.audit(AuditRecord.Actor(administrator), "user.unblock", "user/\(id)")
        }
    }

    /// The object ids of blocked people, ordered.
    public func blockedUsers(as administrator: Administrator) async throws(ServiceError) -> [String] {
        try await store.read(.read, as: administrator) { try $0.records(UserBlock.self).map(\.userID) }
    }

    /// Whether a person is blocked, by object id or sign-in name; also one who left the directory.
    public func isBlocked(user idOrName: String, as administrator: Administrator) async throws(ServiceError) -> Bool {
        try await store.read(.read, as: administrator) { records in
            if try records.record(UserBlock.self, folded(idOrName)) != nil { return true }
            return try records.record(UserBlock.self, folded(try records.user(idOrName).id)) != nil
        }
    }

    /// What the time-keeping system said last of a person, nil where it says nothing (SRV-CI-009).
    public func workingTime(
        ofUser id: String, as administrator: Administrator
    ) async throws(ServiceError) -> WorkingTimeReport? {
        try await store.read(.read, as: administrator) { records in
            try records.record(WorkingTimeRecord.self, try records.user(id).storageID)?.time
        }
    }

    /// Ends a person's sessions: no token counts, and no shared device keeps them, until they sign in again (SI-182).
    ///
    /// - Returns: The person's object id.
    /// - Throws: ``ServiceError``: `notFound` for a person whom neither the directory nor a registration nor a shared device knows,
    ///   `forbidden` for one whom no role of the caller's is about.
    public func revokeSessions(
        ofUser userID: String, as administrator: Administrator
    ) async throws(ServiceError) -> String {
        try await store.require(.blockUsers, of: administrator)
        let next = SessionRevocation.moment(after: store.now)
        return try await store.change(for: administrator) { change in
            let device = try change.records(SharedDevice.self, where: (.user, folded(userID))).first
            let id = if let account = device?.account { account.rawValue } else { try change.personID(userID) }
            try require(.blockUsers, over: id, of: administrator, in: change)
            let key = folded(id)
            var record = try change.record(SessionRevocation.self, key) ?? SessionRevocation(userID: key)
            record.before = max(next, record.before ?? next)
            try change.save(record)
            try change.noteClosing(ofUser: key)
            try change.audit(AuditRecord.Actor(administrator), "user.revokeSessions", "user/\(id)")
            return id
        }
    }

    /// One open wipe for each registration: the one under way, or a new one.
    func requestWipes(
        of registrations: [Registration], _ reason: Command.Reason, by administrator: Administrator,
        in change: inout Change
    ) throws(ServiceError) -> [WipeOperation] {
        var operations: [WipeOperation] = []
        for registration in registrations {
            if let open = try change.openOperations(of: registration.id).first(where: { $0.notAfter > change.now }) {
                operations.append(open)
                continue
            }
            operations.append(
                try wipes.request(
                    of: registration, reason: reason, by: AuditRecord.Actor(administrator), in: change))
            try change.note(.commandWaiting, for: registration.id)
        }
        return operations
    }

    /// Registers a device by what its key signed; the same key again finds its device.
    ///
    /// - Parameter statement: A signed `DeviceRegistrationStatement`.
    /// - Throws: ``ServiceError``: `invalid` when it is not good or of another organisation, `conflict` when the id belongs
    ///   to another key.
    public func registerDevice(
        _ statement: String, name: String?, as administrator: Administrator
    ) async throws(ServiceError) -> SharedDevice {
        try await store.require(.registerDevices, of: administrator)
        let now = store.now
        let (facts, key) = try Self.registration(statement)
        guard facts.tenant == administrator.tenant else {
            throw ServiceError(.invalid, "the device asks for another organisation")
        }
        try checkDirectoryID(facts.deviceID)
        guard name?.utf8.count ?? 0 <= 256 else { throw ServiceError(.invalid, "the name is longer than 256 bytes") }
        return try await store.change(for: administrator) { change in
            if let known = try change.record(SharedDevice.self, facts.deviceID) {
                guard known.key.thumbprint == key.thumbprint else {
                    throw ServiceError(.conflict, "the device's id belongs to another key", place: facts.deviceID)
                }
                return known
            }
            try StoredText.check([StoredText("name", name)])
            guard try change.records(SharedDevice.self, where: (.key, key.thumbprint)).isEmpty else {
                throw ServiceError(.conflict, "the key belongs to another device", place: facts.deviceID)
            }
            let device = SharedDevice(
                id: facts.deviceID, key: key, name: name, registered: now, registeredBy: administrator.id)
            try change.save(device)
            try change.audit(
                AuditRecord.Actor(administrator), "device.register", "device/\(device.id)",
                details: ["keyThumbprint": key.thumbprint])
            return device
        }
    }

    /// The devices, ordered by id, with who is on each.
    ///
    /// - Parameters:
    ///   - id: The device after which the page begins, nil for the first page.
    ///   - limit: The most devices of the page.
    public func sharedDevices(
        after id: String? = nil, limit: Int = .max, as administrator: Administrator
    ) async throws(ServiceError) -> [SharedDevice] {
        try await store.read(.read, as: administrator) { records in
            try records.page(SharedDevice.self, of: .all, after: id, limit: limit)
        }
    }

    /// Releases a device: its statements no longer count, and it may be registered again.
    public func releaseDevice(_ id: String, as administrator: Administrator) async throws(ServiceError) {
        try await store.require(.registerDevices, of: administrator)
        try await store.change(for: administrator) { change in
            guard try change.record(SharedDevice.self, id) != nil else {
                throw ServiceError(.notFound, "no shared device has this id", place: id)
            }
            try change.remove(SharedDevice.self, id)
            try change.audit(AuditRecord.Actor(administrator), "device.release", "device/\(id)")
        }
    }

    private static func registration(_ text: String) throws(ServiceError) -> (DeviceRegistrationStatement, JSONWebKey) {
        do {
            return try DeviceRegistrationStatement.verified(text)
        } catch {
            throw ServiceError(.invalid, "the device's statement is not acceptable: \(error.reason)")
        }
    }
}

extension RegistrationFilter {
    /// The smallest part of the registrations that has all of them in it.
    fileprivate var part: RecordPart {
        if let userID { return .found(by: .user, folded(userID)) }
        if let deviceTag { return .found(by: .device, folded(deviceTag)) }
        guard !includesClosed else { return .all }
        return bundleID.map { .found(by: .app, folded($0)) } ?? .found(by: .state, "active")
    }
}

extension Registration {
    fileprivate func passes(_ filter: RegistrationFilter) -> Bool {
        (filter.includesClosed || state == .active)
            && (filter.userID.map { folded($0) == folded(account.id.rawValue) } ?? true)
            && (filter.deviceTag.map { folded($0) == folded(device.tag) } ?? true)
            && (filter.bundleID.map { folded($0) == folded(application.bundleID) } ?? true)
    }
}

extension StorageReader {
    /// The active registrations of a person on one device; on all of their devices without a tag.
    ///
    /// - Throws: ``ServiceError`` with code `invalid` for a tag of none.
    fileprivate func activeRegistrations(
        of person: String, onDevice tag: String?
    ) throws(ServiceError) -> [Registration] {
        let active = try activeRegistrations(of: person)
        guard let tag else { return active }
        let onDevice = active.filter { $0.device.tag == tag }
        guard onDevice.isEmpty else { return onDevice }
        let known = Set(active.map(\.device.tag)).sorted().joined(separator: ", ")
        let hint = known.isEmpty ? "The person has no registration." : "The person's device tags are: \(known)."
        throw ServiceError(
            .invalid, "the person has no registration with this device tag", hint: hint,
            problems: [.init(member: "deviceTag", reason: hint)])
    }
}
