internal import CordonIdentity
internal import Crypto
internal import Foundation

/// What a vault has in the key store beside the root key: a secret for each account, and what was retired.
///
/// Names there are made from the root key, the vault's name, the account and nothing on disk, so that no edit of a folder hides a
/// secret from a wipe.
struct AccountSecrets: Sendable {
    private let keyStore: any KeyStore
    private let vaultName: String
    /// Kept from the first on, since a wipe has to name a secret also while the store gives none.
    private let naming: SecretBytes

    /// - Parameter vaultName: Tells this vault's accounts from those of others that use the same key store.
    init(_ keyStore: any KeyStore, vaultName: String) throws(VaultError) {
        self.keyStore = keyStore
        self.vaultName = vaultName
        naming = try KeyWrap.derive(
            from: SecretBytes(try keyStore.rootKey()), salt: [UInt8](repeating: 0, count: 16),
            purpose: "cordon vault 2 names in the key store")
    }

    /// What the account's key is wrapped under, as the store has it now.
    func parts(of account: AccountID) throws(VaultError) -> KeyParts {
        KeyParts(
            root: SecretBytes(try keyStore.rootKey()),
            secret: try keyStore.secret(for: name("secret", account)).map { SecretBytes($0) })
    }

    /// Makes a new secret for the account, in place of a former one, which ends whatever hangs on that.
    func renewedParts(of account: AccountID) throws(VaultError) -> KeyParts {
        KeyParts(
            root: SecretBytes(try keyStore.rootKey()),
            secret: SecretBytes(try keyStore.makeSecret(for: name("secret", account))))
    }

    /// Destroys the account's secret: from then on no copy of a key record opens.
    func destroy(for account: AccountID) throws(VaultError) {
        try keyStore.destroySecret(for: name("secret", account))
    }

    /// Remembers that a key ended.
    func retire(keyID: [UInt8]) throws(VaultError) { try keyStore.retire(name("key", keyID)) }

    /// Whether a key ended.
    func isRetired(keyID: [UInt8]) throws(VaultError) -> Bool { try keyStore.isRetired(name("key", keyID)) }

    /// Remembers that the account's keys hang on a secret from now on.
    func retirePlainRecords(of account: AccountID) throws(VaultError) {
        let name = try name("plain record", account)
        if try !keyStore.isRetired(name) { try keyStore.retire(name) }
    }

    /// Whether a record that hangs on no secret is none of the account's.
    func arePlainRecordsRetired(of account: AccountID) throws(VaultError) -> Bool {
        try keyStore.isRetired(name("plain record", account))
    }

    private func name(_ kind: String, _ account: AccountID) throws(VaultError) -> KeyStoreName {
        try name(kind, Array("\(vaultName)\0\(account.rawValue.lowercased())".utf8))
    }

    private func name(_ kind: String, _ bytes: [UInt8]) throws(VaultError) -> KeyStoreName {
        guard let key = naming.symmetricKey else { throw VaultError(.locked, "The key is no longer in memory.") }
        return KeyStoreName(HMAC<SHA256>.authenticationCode(for: Array("\(kind)\0".utf8) + bytes, using: key))
    }
}
