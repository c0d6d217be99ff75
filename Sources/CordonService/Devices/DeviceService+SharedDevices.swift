public import CordonIdentity
internal import CordonProtocol
internal import Foundation

extension DeviceService {
    /// Whether the person whom a device names may stay on it; changes and locks nothing, since any client may send a statement.
    ///
    /// - Parameter statement: A `DeviceSessionStatement`, signed with the device's key: that is its proof.
    /// - Throws: ``ServiceError``: `notFound` for a device that is not registered, `wrongKey` when its key did not sign,
    ///   `invalid` when it names too many apps, status 222 while a restored store waits for an administrator.
    public func verdict(
        on statement: String, ofDevice id: String, tenant: TenantID
    ) async throws(ServiceError) -> SharedDeviceVerdict {
        let now = store.now
        let caller = ClaimedDevice(tenant: tenant, id: id)
        return try await store.read(for: caller, call: "noteSession") { records in
            // The device may have been registered, and the person's sessions ended, since the backup.
            try records.requireConfirmed()
            let (device, session) = try Self.session(statement, ofDevice: id, in: records)
            // A broker from before statements carried a nonce would not know where to count on.
            guard session.session < device.session, session.nonce != nil else {
                return try Self.verdict(on: session, at: now, in: records)
            }
            return .isOlderCopy(newest: device.session)
        }
    }

    /// Takes what a device says about who is on it; an older statement than the newest changes nothing.
    ///
    /// - Throws: ``ServiceError`` as ``verdict(on:ofDevice:tenant:)``.
    public func noteSession(_ statement: String, ofDevice id: String, tenant: TenantID) async throws(ServiceError) {
        try await store.change(for: tenant) { change in
            var (device, session) = try Self.session(statement, ofDevice: id, in: change)
            guard session.session > device.session else {
                guard session.session == device.session else { return }
                let apps = session.apps ?? device.apps
                // Reports come every few minutes, and the list shows hours.
                let isRecent = device.lastSeen.map { abs(change.now.timeIntervalSince($0)) < Self.seenAgain } ?? false
                guard !isRecent || apps != device.apps else { return }
                device.apps = apps
                device.lastSeen = change.now
                return try change.save(device)
            }
            let before = device.account
            device.apps = session.apps ?? device.apps
            device.session = session.session
            device.account = session.account
            device.accountSince = Date(timeIntervalSince1970: Double(session.since))
            device.lastSeen = change.now
            try change.save(device)
            guard before != device.account else { return }
            var details = ["session": String(session.session)]
            details["user"] = session.account?.rawValue
            try change.audit(
                .init(.device, id: id), session.account == nil ? "device.signOut" : "device.signIn", "device/\(id)",
                details: details)
        }
    }

    /// After how many seconds a device that says the same again is noted as seen again.
    private static let seenAgain: TimeInterval = 600

    /// Whether the person on a device may stay: their sessions count from the last revocation on, like tokens (SI-182).
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
        do {
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
}
