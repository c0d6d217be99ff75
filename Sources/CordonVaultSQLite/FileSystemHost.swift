internal import CordonBase
internal import CordonSQLiteShim
internal import CordonVault
internal import Foundation

/// Answers what the file system asks: headers and keys. Called by SQLite from any thread.
final class FileSystemHost: Sendable {
    private let keyring: DatabaseKeyring
    private let cipher: DatabaseCipher
    private let state = Locked(State())

    private struct State {
        var keys: [PageKey] = []
        /// By ``RealPath``: SQLite makes a name whole before it asks, and follows symbolic links.
        var refusals: [String: VaultError] = [:]
        var ended: VaultError?
    }

    init(_ keyring: DatabaseKeyring, cipher: DatabaseCipher) {
        self.keyring = keyring
        self.cipher = cipher
        keyring.whenEnded { [weak self] in self?.end() }
    }

    /// Why nothing opens any more; nil while it does.
    var ended: VaultError? { state.withLock { $0.ended } }

    func refusal(at path: String) -> VaultError? {
        let place = RealPath.of(path)
        return state.withLock { $0.refusals[place] }
    }

    func hangsOnFormerKey(_ path: String) throws(VaultError) -> Bool { try keyring.hangsOnFormerKey(path) }

    func superJournalKey() throws(VaultError) -> OpaquePointer {
        let cipher = cipher
        let made = try keyring.superJournal { cipher.pageKey(UInt(bitPattern: $0.baseAddress), $1) }
        return try keep(made)
    }

    /// The functions for the file system, which keeps this object until it is gone itself.
    func retainedCallbacks() -> cordon_vfs_host {
        cordon_vfs_host(
            state: Unmanaged.passRetained(self).toOpaque(),
            prepare: { FileSystemHost.of($0)?.prepare($1) ?? SQLITE_ERROR },
            unlock: { FileSystemHost.of($0)?.unlock($1, $2) },
            ephemeral: { FileSystemHost.of($0)?.ephemeral() },
            opened: { if let path = text($1) { LiveDatabases.shared.opened(path, header: bytes($2)) } },
            closed: { if let path = text($1) { LiveDatabases.shared.closed(path, header: bytes($2)) } },
            release: { if let state = $0 { Unmanaged<FileSystemHost>.fromOpaque(state).release() } })
    }

    private static func of(_ state: UnsafeMutableRawPointer?) -> FileSystemHost? {
        state.map { Unmanaged<FileSystemHost>.fromOpaque($0).takeUnretainedValue() }
    }

    private func prepare(_ path: UnsafePointer<CChar>?) -> Int32 {
        guard let path = text(path) else { return SQLITE_CANTOPEN }
        do {
            try keyring.prepare(path)
            return SQLITE_OK
        } catch {
            refuse(path, error)
            return error.code == .noSpace ? SQLITE_FULL : SQLITE_CANTOPEN
        }
    }

    private func unlock(_ path: UnsafePointer<CChar>?, _ header: UnsafePointer<UInt8>?) -> OpaquePointer? {
        guard let path = text(path) else { return nil }
        do {
            let cipher = cipher
            try DatabaseKeyring.requireOneNameBeside(path)
            let made = try keyring.open(bytes(header)) { cipher.pageKey(UInt(bitPattern: $0.baseAddress), $1) }
            let key = try keep(made)
            admit(path)
            return key
        } catch {
            refuse(path, error)
            return nil
        }
    }

    /// A key for one temporary file, used for nothing else.
    private func ephemeral() -> OpaquePointer? {
        var random = SystemRandomNumberGenerator()
        var key = (0..<32).map { _ in UInt8.random(in: 0...255, using: &random) }
        defer { key.withUnsafeMutableBytes { _ = $0.initializeMemory(as: UInt8.self, repeating: 0) } }
        let made = key.withUnsafeBytes {
            cipher.pageKey(UInt(bitPattern: $0.baseAddress), [UInt8](repeating: 0, count: 32))
        }
        return try? keep(made)
    }

    /// Remembers a key, so that a lock ends it; the caller gets an owner's share of its own.
    func keep(_ made: PageKey?) throws(VaultError) -> OpaquePointer {
        guard let made else { throw VaultError(.sealingFailed, "The cipher takes no key.") }
        // Before the list has the key: another thread that keeps one would take it for unused, and no lock would end it.
        let share = made.shared()
        let ended = state.withLock { state in
            // Keys that only this list still owns are no longer used.
            state.keys.removeAll { !$0.isShared }
            state.keys.append(made)
            return state.ended
        }
        if let ended {
            made.revoke()
            cordon_page_key_release(share)
            throw ended
        }
        return share
    }

    private func refuse(_ path: String, _ error: VaultError) {
        let place = RealPath.of(path)
        state.withLock { $0.refusals[place] = VaultError(error.code, error.reason, place: path, hint: error.hint) }
    }

    private func admit(_ path: String) {
        if state.withLock({ $0.refusals.isEmpty }) { return }
        let place = RealPath.of(path)
        state.withLock { $0.refusals[place] = nil }
    }

    private func end() {
        let keys = state.withLock { state in
            state.ended = VaultError(.locked, "The account was locked or wiped.")
            defer { state.keys = [] }
            return state.keys
        }
        for key in keys { key.revoke() }
    }
}

private func text(_ path: UnsafePointer<CChar>?) -> String? { path.map { String(cString: $0) } }

private func bytes(_ header: UnsafePointer<UInt8>?) -> [UInt8] {
    Array(UnsafeBufferPointer(start: header, count: header == nil ? 0 : 4096))
}
