internal import CordonIdentity
internal import Crypto
internal import Foundation

/// What a vault has in the key store beside the root key: a secret for each account, for a moment two, a note while a key is made, and
/// what was retired.
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

    /// Where an account's secret may stand: one of the two counts, the other is free for the next one.
    private enum Place: String, CaseIterable {
        case first = "secret"
        case second = "second secret"

        var other: Place { self == .first ? .second : .first }
    }

    /// What the account's key is wrapped under, as the store has it now: with the secret that the record names, else the first.
    func parts(
        of account: AccountID, for claim: AccountKeyRecord.Claim?, share: SecretBytes? = nil
    ) throws(VaultError) -> KeyParts {
        let root = SecretBytes(try keyStore.rootKey())
        if let claim, let (_, secret) = try find(claim, root) {
            return KeyParts(root: root, secret: secret, share: share)
        }
        return KeyParts(root: root, secret: try secret(at: .first, of: account), share: share)
    }

    /// Makes a new secret for the account, in place of all former ones, which ends whatever hangs on those.
    func renewedParts(of account: AccountID) throws(VaultError) -> KeyParts {
        try keyStore.destroySecret(for: name(Place.second.rawValue, account))
        return KeyParts(
            root: SecretBytes(try keyStore.rootKey()),
            secret: SecretBytes(try keyStore.makeSecret(for: name(Place.first.rawValue, account))))
    }

    // MARK: Keys in the making

    /// Notes durably that a key is about to be made: until ``endMaking(of:)``, no key hangs on the account's secrets without a record.
    ///
    /// The note is a secret of its own: it stands where no copy of the vault's folder brings it back, and what is retired there stays so.
    func beginMaking(of account: AccountID) throws(VaultError) {
        if try !isMaking(account) { _ = try keyStore.makeSecret(for: name(Self.making, account)) }
    }

    /// Forgets that a key was about to be made, once its record is there.
    func endMaking(of account: AccountID) throws(VaultError) {
        try keyStore.destroySecret(for: name(Self.making, account))
    }

    /// Whether a key was about to be made and was not, as far as is known.
    func isMaking(_ account: AccountID) throws(VaultError) -> Bool {
        try keyStore.secret(for: name(Self.making, account)) != nil
    }

    /// Whether a key may hang on the account's secrets although no record says so: there is one, and none was about to be made.
    func mayHoldKey(of account: AccountID) throws(VaultError) -> Bool {
        guard try hasAny(of: account) else { return false }
        return try !isMaking(account)
    }

    /// Whether the store has a secret of the account, whatever hangs on it.
    func hasAny(of account: AccountID) throws(VaultError) -> Bool {
        for place in Place.allCases where try secret(at: place, of: account) != nil { return true }
        return false
    }

    private static let making = "key in the making"

    // MARK: Secrets of a record

    /// Makes another secret beside the one that a record hangs on, which stays.
    func nextParts(after claim: AccountKeyRecord.Claim, share: SecretBytes?) throws(VaultError) -> KeyParts {
        let root = SecretBytes(try keyStore.rootKey())
        guard let (place, _) = try find(claim, root) else {
            throw VaultError(.wrongKey, "The secret of the account's key was destroyed.")
        }
        let made = try keyStore.makeSecret(for: name(place.other.rawValue, claim.account))
        return KeyParts(root: root, secret: SecretBytes(made), share: share)
    }

    /// Whether there is a secret that a record in force does not hang on.
    func hasUnused(of account: AccountID) throws(VaultError) -> Bool {
        // The second is seldom there, and what is not there is the quicker to tell.
        for place in Place.allCases.reversed() where try secret(at: place, of: account) == nil { return false }
        return true
    }

    /// Whether the store has the secret that a record hangs on.
    func hasSecret(of claim: AccountKeyRecord.Claim) throws(VaultError) -> Bool {
        try find(claim, SecretBytes(try keyStore.rootKey())) != nil
    }

    /// Destroys the secret that a record does not hang on, provided that there is the one that it hangs on.
    func destroyUnused(besides claim: AccountKeyRecord.Claim) throws(VaultError) {
        guard let (place, _) = try find(claim, SecretBytes(try keyStore.rootKey())) else { return }
        try keyStore.destroySecret(for: name(place.other.rawValue, claim.account))
    }

    /// Destroys the account's secrets, so that no copy of a key record opens from then on, and remembers what ended.
    ///
    /// - Parameter keyID: The key that hung on them; nil where no record says which.
    func destroy(for account: AccountID, ending keyID: [UInt8]?) throws(VaultError) {
        for place in Place.allCases { try keyStore.destroySecret(for: name(place.rawValue, account)) }
        try endMaking(of: account)
        try retirePlainRecords(of: account)
        if let keyID { try keyStore.retire(name("key", keyID)) }
    }

    /// The secret that a record names by its id, and where it stands; nil where there is none.
    private func find(
        _ claim: AccountKeyRecord.Claim, _ root: SecretBytes
    ) throws(VaultError) -> (place: Place, secret: SecretBytes)? {
        guard let id = claim.secretID else { return nil }
        for place in Place.allCases {
            guard let secret = try secret(at: place, of: claim.account) else { continue }
            if try KeyParts(root: root, secret: secret).secretID(for: claim.keyID) == id { return (place, secret) }
        }
        return nil
    }

    private func secret(at place: Place, of account: AccountID) throws(VaultError) -> SecretBytes? {
        try keyStore.secret(for: name(place.rawValue, account)).map { SecretBytes($0) }
    }

    /// Whether a key ended.
    func isRetired(keyID: [UInt8]) throws(VaultError) -> Bool { try keyStore.isRetired(name("key", keyID)) }

    /// Remembers that the account's keys hang on a secret from now on.
    func retirePlainRecords(of account: AccountID) throws(VaultError) {
        let name = try name("plain record", account)
        if try !keyStore.isRetired(name) { try keyStore.retire(name) }
    }

    /// Whether a record without a secret is not the account's.
    func arePlainRecordsRetired(of account: AccountID) throws(VaultError) -> Bool {
        try keyStore.isRetired(name("plain record", account))
    }

    /// The message code of a wipe's journal in this vault, hexadecimal.
    func code(ofJournal text: [UInt8]) throws(VaultError) -> String {
        "\(try name("wipe journal", Array("\(vaultName)\0".utf8) + text))"
    }

    /// The message code of a note of a readable file's owner in this vault, hexadecimal.
    func code(ofNote text: [UInt8]) throws(VaultError) -> String {
        "\(try name("note of an owner", Array("\(vaultName)\0".utf8) + text))"
    }

    /// Remembers that every note of an owner in this vault has a code from now on.
    ///
    /// - Parameter vault: Tells this vault from others of its name.
    func retirePlainNotes(of vault: String) throws(VaultError) { try keyStore.retire(name("plain notes", of: vault)) }

    /// Whether a note without a code is none of this vault's.
    func arePlainNotesRetired(of vault: String) throws(VaultError) -> Bool {
        try keyStore.isRetired(name("plain notes", of: vault))
    }

    /// Remembers that every note of an owner in this vault has the name that is made of its path without links.
    ///
    /// - Parameter vault: As above.
    func retireLinkedNotes(of vault: String) throws(VaultError) {
        try keyStore.retire(name("linked notes", of: vault))
    }

    /// Whether notes that are named by a path through a link were taken over.
    func areLinkedNotesRetired(of vault: String) throws(VaultError) -> Bool {
        try keyStore.isRetired(name("linked notes", of: vault))
    }

    private func name(_ kind: String, of vault: String) throws(VaultError) -> KeyStoreName {
        try name(kind, Array("\(vaultName)\0\(vault)".utf8))
    }

    private func name(_ kind: String, _ account: AccountID) throws(VaultError) -> KeyStoreName {
        try name(kind, Array("\(vaultName)\0\(account.rawValue.lowercased())".utf8))
    }

    private func name(_ kind: String, _ bytes: [UInt8]) throws(VaultError) -> KeyStoreName {
        guard let key = naming.symmetricKey else { throw VaultError(.locked, "The key is no longer in memory.") }
        return HMAC<SHA256>.authenticationCode(for: Array("\(kind)\0".utf8) + bytes, using: key)
            .withUnsafeBytes(KeyStoreName.init)
    }
}
