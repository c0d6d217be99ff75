internal import Crypto
internal import Foundation

/// A key of 256 bits in a file of mode 0600: eight bytes that say what it is, then the key. Written once.
struct KeyFile {
    let path: String
    let magic: [UInt8]

    private static let size = 40

    init(path: String, magic: String) {
        self.path = path
        self.magic = Array(magic.utf8)
    }

    /// The key; nil where there is no file, or one that was overwritten and not unlinked yet, as a kill may leave it.
    ///
    /// - Throws: `keyStore` for a file that others may read, or that holds something else.
    func read() throws(VaultError) -> SymmetricKey? {
        guard let file = try PosixFile.open(path, writing: false, ifExists: true) else { return nil }
        defer { file.close() }
        guard try file.isPrivate() else {
            throw VaultError(.keyStore, "Other users may read the key.", place: path, hint: "Run chmod 600 on it.")
        }
        guard try file.size() == Int64(Self.size) else {
            throw VaultError(.keyStore, "The key file is damaged.", place: path)
        }
        let record = RawMemory(Self.size, isSecret: true)
        try file.readAll(record.slice(0, Self.size), at: 0)
        // In place: an array would leave a copy of the key in freed memory.
        if record.isZero(from: 0, to: Self.size) { return nil }
        guard record.array(0, 8) == magic else {
            throw VaultError(.keyStore, "The file does not hold the key that belongs here.", place: path)
        }
        return SymmetricKey(data: UnsafeRawBufferPointer(record.slice(8, 32)))
    }

    /// Makes the file aside and puts it in place, so that a kill leaves it whole or absent. Without replacing, two first starts at
    /// once agree on one key.
    func make(from secret: SecretBytes, replacing: Bool) throws(VaultError) {
        let directory = (path as NSString).deletingLastPathComponent
        try PosixFile.makeDirectory(directory)
        let draft = (directory as NSString).appendingPathComponent(PosixFile.temporaryName())
        let file = try PosixFile.create(draft, mode: 0o600)
        defer { PosixFile.remove(draft) }
        let record = RawMemory(Self.size, isSecret: true)
        record.store(magic, at: 0)
        _ = secret.withBytes { record.slice(8, 32).copyMemory(from: $0) }
        try file.write(UnsafeRawBufferPointer(record.slice(0, Self.size)), at: 0)
        try file.sync()
        file.close()
        if replacing {
            try PosixFile.rename(draft, to: path)
        } else {
            try PosixFile.linkIfAbsent(draft, as: path)
        }
        try PosixFile.syncDirectory(directory)
    }

    /// Overwrites the key where it lies, then unlinks the file; nothing where there is none.
    func destroy() throws(VaultError) {
        try PosixFile.overwriteAndRemove(path, count: Self.size, secret: magic)
    }
}
