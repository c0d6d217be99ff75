public import Crypto
public import Foundation

/// The root key in a file of mode 0600 inside a directory of mode 0700, for systems without a key store of their own.
///
/// Whoever can read the file can open the vault: it protects against other users of the machine, not against whoever
/// holds the disk. The file is never replaced once it exists.
public struct FileKeyStore: KeyStore {
    /// The directory; made with mode 0700 when missing.
    public let directory: URL

    private static let magic: [UInt8] = Array("CORDONRK".utf8)

    /// Names the directory; nothing is touched before the first ``rootKey()``.
    public init(directory: URL) {
        self.directory = directory
    }

    /// The root key, made and synced on the first call.
    ///
    /// - Throws: ``VaultError`` with code `keyStore` when the file cannot be read or written, is open to other users,
    ///   or does not hold a root key.
    public func rootKey() throws(VaultError) -> SymmetricKey {
        let path = directory.appendingPathComponent("root.key").path
        do throws(VaultError) {
            if let key = try read(path) { return key }
            try make(path)
            if let key = try read(path) { return key }
            throw VaultError(.keyStore, "The root key vanished while it was made.", place: path)
        } catch {
            if error.code == .keyStore { throw error }
            throw VaultError(.keyStore, error.reason, place: error.place ?? path)
        }
    }

    private func make(_ path: String) throws(VaultError) {
        try PosixFile.makeDirectory(directory.path)
        // Made aside and linked into place, so that two first starts at once agree on one key.
        let draft = directory.appendingPathComponent(PosixFile.temporaryName()).path
        let file = try PosixFile.create(draft, mode: 0o600)
        defer { PosixFile.remove(draft) }
        let record = RawMemory(40)
        record.store(Self.magic, at: 0)
        SecureRandom.fill(record.slice(8, 32))
        try file.write(UnsafeRawBufferPointer(record.slice(0, 40)), at: 0)
        try file.sync()
        file.close()
        try PosixFile.linkIfAbsent(draft, as: path)
        try PosixFile.syncDirectory(directory.path)
    }

    private func read(_ path: String) throws(VaultError) -> SymmetricKey? {
        guard let file = try PosixFile.open(path, writing: false, ifExists: true) else { return nil }
        defer { file.close() }
        guard try file.isPrivate() else {
            throw VaultError(.keyStore, "Other users may read the root key.", place: path, hint: "Run chmod 600 on it.")
        }
        guard try file.size() == 40 else { throw VaultError(.keyStore, "The root key file is damaged.", place: path) }
        let record = RawMemory(40)
        try file.readAll(record.slice(0, 40), at: 0)
        guard record.array(0, 8) == Self.magic else {
            throw VaultError(.keyStore, "The file does not hold a root key.", place: path)
        }
        return SymmetricKey(data: UnsafeRawBufferPointer(record.slice(8, 32)))
    }
}
