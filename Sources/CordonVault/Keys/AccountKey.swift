internal import CordonIdentity

/// The key of one account on one device: everything the account owns hangs on it, and a wipe destroys it first.
final class AccountKey: Sendable {
    let account: AccountID
    /// Random, public, and never used again.
    let id: [UInt8]
    let secret: SecretBytes

    init(account: AccountID, id: [UInt8], secret: SecretBytes) {
        self.account = account
        self.id = id
        self.secret = secret
    }

    /// The key that wraps the content key of one file.
    func wrappingKey(for fileID: [UInt8]) throws(VaultError) -> SecretBytes {
        try KeyWrap.derive(from: secret, salt: fileID, purpose: "cordon vault 1 content key")
    }

    /// The key of one protected buffer, used for nothing else.
    func bufferKey(for bufferID: [UInt8]) throws(VaultError) -> SecretBytes {
        try KeyWrap.derive(from: secret, salt: bufferID, purpose: "cordon vault 1 buffer")
    }

    /// The key wrapped under the device's root key, as kept on disk.
    func record(under root: SecretBytes) throws(VaultError) -> [UInt8] {
        try AccountKeyRecord.seal(self, secret: secret, under: root)
    }

    /// Whether the record at a path still holds this very key: another process may have wiped the account meanwhile.
    func isCurrent(at path: String) throws(VaultError) -> Bool {
        guard let bytes = try PosixFile.contents(path, limit: AccountKeyRecord.size),
            let record = try? AccountKeyRecord.identify(bytes)
        else { return false }
        return !record.isWipe && record.keyID == id
    }

    /// Zeroes the key in memory.
    func destroy() { secret.destroy() }
}
