internal import CordonBase
public import Crypto
public import Foundation

/// The root key and the accounts' secrets in files of mode 0600 inside a directory of mode 0700, for systems without their own
/// key store.
///
/// Whoever can read the files can open the vault: they protect against other users of the machine, not against an attacker
/// with the disk. An attacker with an older copy of this directory and of the vault opens what was wiped since, so put the directory
/// where no copy reaches. The root key is never replaced once it exists; a secret is written once, and overwritten in place when
/// it ends. On file systems that know the mark, `dump` and tools that heed it leave the directory out of backups.
public struct FileKeyStore: KeyStore {
    /// The directory; created with mode 0700 when missing.
    public let directory: URL
    /// Keeps what is there from being sealed.
    private let places: StatePlaces.Note

    /// Names the directory, and touches nothing before the first ``rootKey()``.
    public init(directory: URL) {
        self.directory = directory
        places = StatePlaces.noting(["secrets", "retired"].map { directory.appending(path: $0) })
    }

    /// The root key, created and synced on the first call.
    ///
    /// - Throws: ``VaultError`` with code `keyStore` when the file cannot be read or written, is open to other users,
    ///   or does not hold a root key.
    public func rootKey() throws(VaultError) -> SymmetricKey {
        let file = KeyFile(path: directory.appending(path: "root.key").path, magic: "CORDONRK")
        return try reporting(file.path) { () throws(VaultError) in
            if let key = try file.read() { return key }
            try file.make(from: .random(), replacing: false)
            BackupExclusion.exclude(directory)
            if let key = try file.read() { return key }
            throw VaultError(.keyStore, "The root key vanished while it was made.", place: file.path)
        }
    }

    /// A secret; nil when there is none.
    ///
    /// - Throws: ``VaultError`` with code `keyStore` when the file cannot be read, is open to other users, or holds no secret.
    public func secret(for name: KeyStoreName) throws(VaultError) -> SymmetricKey? {
        let file = secretFile(name)
        return try reporting(file.path) { () throws(VaultError) in try file.read() }
    }

    /// Makes a secret in a file of its own, after overwriting a former one.
    ///
    /// - Throws: ``VaultError`` with code `keyStore` when it cannot be written.
    public func makeSecret(for name: KeyStoreName) throws(VaultError) -> SymmetricKey {
        let file = secretFile(name)
        return try reporting(file.path) { () throws(VaultError) in
            try file.destroy()
            try file.make(from: .random(), replacing: true)
            if let secret = try file.read() { return secret }
            throw VaultError(.keyStore, "A secret vanished while it was made.", place: file.path)
        }
    }

    /// Overwrites a secret in place, then unlinks its file.
    ///
    /// - Throws: ``VaultError`` with code `keyStore` when the disk refuses.
    public func destroySecret(for name: KeyStoreName) throws(VaultError) {
        let file = secretFile(name)
        try reporting(file.path) { () throws(VaultError) in try file.destroy() }
    }

    /// Makes an empty file of the name in the folder `retired`.
    ///
    /// - Throws: ``VaultError`` with code `keyStore` when the disk refuses.
    public func retire(_ name: KeyStoreName) throws(VaultError) {
        let place = retiredPlace(name)
        try reporting(place.path) { () throws(VaultError) in try Self.note(at: place) }
    }

    /// Whether there is a file of the name in the folder `retired`.
    ///
    /// - Throws: ``VaultError`` with code `keyStore` when the disk does not tell.
    public func isRetired(_ name: KeyStoreName) throws(VaultError) -> Bool {
        let place = retiredPlace(name)
        return try reporting(place.path) { () throws(VaultError) in
            let folder = place.deletingLastPathComponent().path
            // Who put a link there could take the marks away with it.
            guard !PosixFile.isLink(folder) else {
                throw VaultError(.keyStore, "A symbolic link is in the directory's place.", place: folder)
            }
            return try PosixFile.isThere(place.path)
        }
    }

    private func secretFile(_ name: KeyStoreName) -> KeyFile {
        KeyFile(path: directory.appending(path: "secrets/\(name).key").path, magic: "CORDONAS")
    }

    private func retiredPlace(_ name: KeyStoreName) -> URL {
        directory.appending(path: "retired/\(name)")
    }

    private static func note(at place: URL) throws(VaultError) {
        let folder = place.deletingLastPathComponent().path
        try PosixFile.makeDirectory(folder, following: false)
        do { try PosixFile.create(place.path, mode: 0o600).close() } catch {
            guard error.code == .alreadyExists else { throw error }
        }
        // Also of one that is there: whoever made it may have failed here.
        try PosixFile.syncDirectory(folder)
    }

    private func reporting<Value>(
        _ path: String, _ body: () throws(VaultError) -> Value
    ) throws(VaultError) -> Value {
        do { return try body() } catch {
            if error.code == .keyStore { throw error }
            throw VaultError(.keyStore, error.reason, place: error.place ?? path)
        }
    }
}
