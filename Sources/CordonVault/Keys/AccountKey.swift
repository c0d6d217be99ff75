internal import CordonBase
internal import CordonIdentity
internal import Crypto

/// The key of one account on one device: everything the account owns hangs on it, and a wipe destroys it first.
final class AccountKey: Sendable {
    let account: AccountID
    /// Random, public, and never used again.
    let id: [UInt8]
    let secret: SecretBytes
    /// The key that earlier software made and that hung on no secret: what was sealed under it is still read.
    let former: AccountKey?
    /// Whether there is a record of a former key that does not open: names on disk hang on that key.
    let hasUnreadableFormer: Bool
    /// When the key store was last seen to have what the key hangs on.
    let lastSeen = Locked<ContinuousClock.Instant?>(nil)
    /// Whether a record of the key hung on a share when it was read last. Who may write to the folder can change what a record says of
    /// that; only one that opens without a share takes it back.
    let hangsOnShare = Locked(false)
    /// What its record is called. Made once: every opening of a file looks at the record.
    let recordName: String
    /// What names on disk are made with, once one was asked for; ends with the key.
    private let names = Locked<SecretBytes?>(nil)

    init(
        account: AccountID, id: [UInt8], secret: SecretBytes, former: AccountKey? = nil,
        hasUnreadableFormer: Bool = false
    ) {
        self.account = account
        self.id = id
        self.secret = secret
        self.former = former
        self.hasUnreadableFormer = hasUnreadableFormer
        recordName = KeyRecords.name(of: account)
    }

    /// This key or the former one, by its id; nil for any other.
    func key(withID id: [UInt8]) -> AccountKey? { id == self.id ? self : former?.key(withID: id) }

    /// What names on disk and journals over several databases hang on: the first key that there was, so that a new one leaves
    /// them as they are.
    var lastingSecret: SecretBytes { former?.lastingSecret ?? secret }

    /// The key that wraps the content key of one file; its purpose differs between versions of the format.
    func wrappingKey(for fileID: [UInt8], purpose: String) throws(VaultError) -> SecretBytes {
        try KeyWrap.derive(from: secret, salt: fileID, purpose: purpose)
    }

    /// Refuses names on disk where the record of the key that they hang on does not open: by another key a file that is there would count as
    /// missing, and one that was made instead would be hidden once the record is whole.
    ///
    /// - Throws: `damaged`.
    func requireNames() throws(VaultError) {
        guard hasUnreadableFormer else { return }
        throw VaultError(
            .damaged, "The record of the account's former key, on which names hang, is damaged.",
            hint: "Put an intact copy of the record back and unlock the account anew, or wipe it.")
    }

    /// What a file of a ``SealedFolder`` is called on disk: 64 digits that tell nothing of its name without this key.
    ///
    /// - Parameter name: In the form that ``SealedFolder/kept(_:)`` gives it.
    /// - Throws: What ``requireNames()`` throws.
    func fileName(for name: String) throws(VaultError) -> String {
        try requireNames()
        guard let key = try namingKey().symmetricKey else {
            throw VaultError(.locked, "The key is no longer in memory.")
        }
        return Array(HMAC<SHA256>.authenticationCode(for: Array(name.utf8), using: key)).hex
    }

    private func namingKey() throws(VaultError) -> SecretBytes {
        if let known = names.withLock({ $0 }) { return known }
        let derived = try KeyWrap.derive(
            from: lastingSecret, salt: [UInt8](repeating: 0, count: 16), purpose: "cordon vault 2 file names")
        names.withLock { $0 = derived }
        return derived
    }

    /// The key of one protected buffer, used for nothing else.
    func bufferKey(for bufferID: [UInt8]) throws(VaultError) -> SecretBytes {
        try KeyWrap.derive(from: secret, salt: bufferID, purpose: "cordon vault 1 buffer")
    }

    /// What the key pair is made from to which the account's data is sealed while this key is not in memory.
    func inboxSecret() throws(VaultError) -> SymmetricKey {
        let derived = try KeyWrap.derive(
            from: secret, salt: [UInt8](repeating: 0, count: 16), purpose: "cordon vault 2 inbox")
        guard let secret = derived.symmetricKey else { throw VaultError(.locked, "The key is no longer in memory.") }
        return secret
    }

    /// The key wrapped under what the key store has for the account, as kept on disk.
    func record(under parts: KeyParts) throws(VaultError) -> [UInt8] {
        try AccountKeyRecord.seal(self, under: parts)
    }

    /// Zeroes the key in memory.
    func destroy() {
        secret.destroy()
        names.withLock { $0 }?.destroy()
        former?.destroy()
    }
}
