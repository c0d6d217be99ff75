internal import CordonBase
internal import CordonIdentity
internal import Foundation

/// The guard records of an app, one sealed file for each account.
struct GuardStore: Sendable {
    let folder: StateFolder
    let seal: StateSeal

    typealias Found = SealedState<KeyGuardRecord>.Found

    /// How long another process may take, which may be waiting for the service. One that was stopped must not hold up every later exchange.
    private static let patience = Duration.seconds(300)

    /// What is noted of the share that guards an account's key.
    ///
    /// - Throws: ``ProtectionError`` when the file or the device's root key cannot be read.
    func contents(of account: AccountID) throws(ProtectionError) -> SealedState<KeyGuardRecord>.Contents {
        try state(of: account).read()
    }

    /// What is noted, for what may follow from knowledge alone; see ``SealedState/known()``.
    func known(of account: AccountID) throws(ProtectionError) -> SealedState<KeyGuardRecord>.Contents {
        try state(of: account).known()
    }

    /// Whether something is noted, whatever it says: then a share has guarded the account's key.
    func isThere(for account: AccountID) -> Bool {
        FileManager.default.fileExists(atPath: state(of: account).file.url.path)
    }

    /// What is noted, for a change of it: see ``write(_:of:over:)``.
    func look(at account: AccountID) throws(ProtectionError) -> Found { try state(of: account).look() }

    /// Notes what guards an account's key. The caller holds the lock, which may have been taken away while the service answered.
    ///
    /// - Parameter read: What was noted when the lock was taken; nil where that could not be read. Where another process has noted something
    ///   else since, nothing is written.
    func write(_ record: KeyGuardRecord, of account: AccountID, over read: Found?) throws(ProtectionError) {
        try state(of: account).write(record, over: read)
    }

    /// Refuses to go on where another process has noted something else since a look.
    func requireUnchanged(_ account: AccountID, since read: Found?) throws(ProtectionError) {
        try state(of: account).number(since: read)
    }

    /// Forgets what guarded an account's key.
    func forget(_ account: AccountID) throws(ProtectionError) { try state(of: account).remove() }

    /// Forgets an account.
    func remove(_ account: AccountID) throws(ProtectionError) {
        try forget(account)
        try StateFile(url: folder.lock(for: FolderName.of(account))).remove()
    }

    /// Runs a body while no other process of the app guards or releases the account's key. The lock's file stays beside a guard record alone:
    /// who waited here while the account was wiped leaves none that would tell of it.
    nonisolated(nonsending) func locked<Value>(
        _ account: AccountID, _ body: () async throws(ProtectionError) -> Value
    ) async throws(ProtectionError) -> Value {
        let lock = try await StateLock.waiting(for: folder.lock(for: FolderName.of(account)), atMost: Self.patience)
        defer { if !isThere(for: account) { lock.end() } }
        return try await body()
    }

    // MARK: What was left with the service

    /// The registration with which a guarded account's share was left; nil where no share guards its key.
    func registration(of account: AccountID) -> String? { record(of: account)?.registrationID }

    /// The digest of the share that a registration has left; nil where it has left none, or what the service has is not known.
    func leftShare(of account: AccountID, registrationID: String) -> String? {
        record(of: account).flatMap { $0.registrationID == registrationID ? $0.left : nil }
    }

    /// Has the next check-in ask after a share that was left with a former registration: the service hands it on to the new one.
    nonisolated(nonsending) func noteRegistration(
        _ registrationID: String, of account: AccountID
    ) async throws(ProtectionError) {
        guard let known = registration(of: account), known != registrationID else { return }
        try await locked(account) { () throws(ProtectionError) in
            let state = state(of: account)
            let found = try state.look()
            guard case .value(var record) = found.contents, record.left != nil else { return }
            record.registrationID = registrationID
            try state.write(record, over: found)
        }
    }

    /// Notes that the service has no longer what was left with it: the next right PIN leaves it again.
    nonisolated(nonsending) func noteLostShare(
        _ digest: String, of account: AccountID
    ) async throws(ProtectionError) {
        try await locked(account) { () throws(ProtectionError) in
            // Another process may have left another one since.
            let state = state(of: account)
            let found = try state.look()
            guard case .value(var record) = found.contents, record.left == digest else { return }
            record.left = nil
            try state.write(record, over: found)
        }
    }

    private func record(of account: AccountID) -> KeyGuardRecord? {
        guard case .value(let record)? = try? contents(of: account) else { return nil }
        return record
    }

    private func state(of account: AccountID) -> SealedState<KeyGuardRecord> {
        SealedState(file: folder.file(FolderName.of(account)), purpose: "guard", seal: seal, former: .raw)
    }
}
