public import CordonIdentity
internal import CordonProtocol
internal import Foundation

extension StoredManagementService {
    /// Registers a device by what its key signed.
    public func registerDevice(
        _ statement: String, name: String?, as administrator: Administrator
    ) async throws(ServiceError) -> SharedDevice {
        try require(.registerDevices, of: administrator)
        let now = self.now
        let (facts, key) = try Self.registration(statement)
        guard facts.tenant == administrator.tenant else {
            throw ServiceError(.invalid, "the device asks for another organisation")
        }
        try checkDirectoryID(facts.deviceID)
        guard name?.utf8.count ?? 0 <= 256 else { throw ServiceError(.invalid, "the name is longer than 256 bytes") }
        return try await change(administrator.tenant) { transaction, _ throws(ServiceError) in
            if let known = try transaction.record(SharedDevice.self, facts.deviceID) {
                guard known.key.thumbprint == key.thumbprint else {
                    throw ServiceError(.conflict, "the device's id belongs to another key", place: facts.deviceID)
                }
                return known
            }
            guard try transaction.records(SharedDevice.self, where: (.key, key.thumbprint)).isEmpty else {
                throw ServiceError(.conflict, "the key belongs to another device", place: facts.deviceID)
            }
            let device = SharedDevice(
                id: facts.deviceID, key: key, name: name, registered: now, registeredBy: administrator.id)
            try transaction.save(device)
            try transaction.audit(
                AuditRecord.Actor(administrator), "device.register", "device/\(device.id)", of: administrator.tenant,
                at: now, details: ["keyThumbprint": key.thumbprint])
            return device
        }
    }

    /// The devices, ordered by id.
    public func sharedDevices(as administrator: Administrator) async throws(ServiceError) -> [SharedDevice] {
        try require(.read, of: administrator)
        return try await storage.read(administrator.tenant) { records throws(ServiceError) in
            try records.records(SharedDevice.self)
        }
    }

    /// Releases a device.
    public func releaseDevice(_ id: String, as administrator: Administrator) async throws(ServiceError) {
        try require(.registerDevices, of: administrator)
        let now = self.now
        try await change(administrator.tenant) { transaction, _ throws(ServiceError) in
            guard try transaction.record(SharedDevice.self, id) != nil else {
                throw ServiceError(.notFound, "no shared device has this id", place: id)
            }
            try transaction.remove(SharedDevice.self, id)
            try transaction.audit(
                AuditRecord.Actor(administrator), "device.release", "device/\(id)", of: administrator.tenant, at: now)
        }
    }

    /// Whether whoever a device says is on it may stay.
    public func verdict(
        on statement: String, ofDevice id: String, tenant: TenantID
    ) async throws(ServiceError) -> SharedDeviceVerdict {
        let now = self.now
        return try await storage.read(tenant) { records throws(ServiceError) in
            let (device, session) = try Self.session(statement, ofDevice: id, in: records)
            return session.session < device.session ? .stays : try Self.verdict(on: session, at: now, in: records)
        }
    }

    /// Takes what a device says about who is on it.
    public func noteSession(
        _ statement: String, ofDevice id: String, tenant: TenantID
    ) async throws(ServiceError) {
        let now = self.now
        try await change(tenant) { transaction, _ throws(ServiceError) in
            var (device, session) = try Self.session(statement, ofDevice: id, in: transaction)
            guard session.session > device.session else {
                guard session.session == device.session, let apps = session.apps, apps != device.apps else { return }
                device.apps = apps
                return try transaction.save(device)
            }
            let before = device.account
            device.apps = session.apps ?? device.apps
            device.session = session.session
            device.account = session.account
            device.accountSince = Date(timeIntervalSince1970: Double(session.since))
            device.lastSeen = now
            try transaction.save(device)
            guard before != device.account else { return }
            var details = ["session": String(session.session)]
            details["user"] = session.account?.rawValue
            try transaction.audit(
                .init(.device, id: id), session.account == nil ? "device.signOut" : "device.signIn", "device/\(id)",
                of: tenant, at: now, details: details)
        }
    }

    /// Whether whoever is on a device may stay: their sessions count from the last revocation on, like tokens (SI-182).
    private static func verdict(
        on session: DeviceSessionStatement, at now: Date, in records: some StorageReader
    ) throws(ServiceError) -> SharedDeviceVerdict {
        guard let account = session.account else { return .stays }
        if try records.isDisabled(account) { return .ends }
        let signedIn =
            session.age.map { now.addingTimeInterval(-TimeInterval(max(0, $0))) }
            ?? Date(timeIntervalSince1970: TimeInterval(session.since))
        let revoked = try records.record(SessionRevocation.self, folded(account.rawValue))?.before
        return signedIn < revoked ?? .distantPast ? .ends : .stays
    }

    /// A device, and what its own key says about who is on it.
    private static func session(
        _ statement: String, ofDevice id: String, in records: some StorageReader
    ) throws(ServiceError) -> (device: SharedDevice, session: DeviceSessionStatement) {
        guard let device = try records.record(SharedDevice.self, id) else {
            throw ServiceError(.notFound, "no shared device has this id")
        }
        let session: DeviceSessionStatement
        do throws(ProtocolError) {
            session = try DeviceSessionStatement(verifying: statement, signedBy: device.key)
        } catch {
            throw ServiceError(.wrongKey, "the statement is not acceptable: \(error.reason)")
        }
        guard session.deviceID == id else { throw ServiceError(.wrongKey, "the statement is of another device") }
        let apps = session.apps ?? []
        guard apps.count <= 200, apps.allSatisfy({ $0.name.utf8.count <= 256 && $0.bundleID?.utf8.count ?? 0 <= 256 })
        else { throw ServiceError(.invalid, "the statement names more than 200 apps, or one of more than 256 bytes") }
        return (device, session)
    }

    private static func registration(
        _ text: String
    ) throws(ServiceError) -> (DeviceRegistrationStatement, JSONWebKey) {
        do throws(ProtocolError) {
            return try DeviceRegistrationStatement.verified(text)
        } catch {
            throw ServiceError(.invalid, "the device's statement is not acceptable: \(error.reason)")
        }
    }
}
