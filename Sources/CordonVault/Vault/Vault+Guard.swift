package import CordonIdentity
package import Crypto

/// A step of wrapping an account's record anew, told after it was done, so that a test can end the process there.
package enum RewrapStep: String, Sendable, CaseIterable {
    /// The key store has the new secret beside the one in force.
    case secretMade
    /// The new record is in force.
    case recordReplaced
    /// The former secret is destroyed.
    case formerDestroyed
}

/// Keys that a PIN guards: their records hang on a share beside root key and secret.
extension Vault {
    /// Whether the account's key cannot be opened without its share. A copy of a record whose key was wiped counts for nothing.
    ///
    /// - Throws: ``VaultError`` where the record cannot be read; an account without a record has no share.
    package func isGuarded(_ account: AccountID) throws(VaultError) -> Bool {
        guard let bytes = try PosixFile.contents(keyPath(account), limit: AccountKeyRecord.size) else { return false }
        let claim = try AccountKeyRecord.identify(bytes)
        if claim.shareID == nil { return false }
        return try !isRetired(claim)
    }

    /// Brings a guarded key into memory.
    ///
    /// - Throws: What ``unlock(_:)`` throws; `wrongKey` for a share of another key.
    package func unlock(_ account: AccountID, with share: SymmetricKey) throws(VaultError) {
        try unlock(account, share: SecretBytes(share))
    }

    /// Has the account's key hang on a share from now on, or on none any more: same key, new record, new secret, no file touched.
    ///
    /// The key has to be in memory. A kill at any instant leaves the former record in force or the new one. No copy of the former
    /// record opens afterwards. The caller has put the share where it is found again, and lets no other process do the same.
    ///
    /// - Throws: `locked` without a key in memory, `wiped` where it ended, `keyStore`, or what the disk refused.
    package func hang(
        _ account: AccountID, on share: SymmetricKey?, observer: @Sendable (RewrapStep) -> Void = { _ in }
    ) throws(VaultError) {
        let key = try key(for: account)
        let share = share.map { SecretBytes($0) }
        try exclusivelyWithKeys { () throws(VaultError) in
            guard let claim = try currentClaim(of: key) else {
                throw VaultError(.wiped, "The account's key was destroyed.")
            }
            let parts = try secrets.nextParts(after: claim, share: share)
            observer(.secretMade)
            try PosixFile.replace(keyPath(account), with: try key.record(under: parts))
            observer(.recordReplaced)
            guard let now = try currentClaim(of: key) else { return }
            try secrets.destroyUnused(besides: now)
            observer(.formerDestroyed)
        }
    }

    /// A secret under the account's key, for a key pair of what the account receives while its key is not in memory.
    ///
    /// - Throws: `locked` without a key in memory, `wiped` where it ended.
    package func inboxSecret(of account: AccountID) throws(VaultError) -> SymmetricKey {
        let derived = try KeyWrap.derive(
            from: try key(for: account).secret, salt: [UInt8](repeating: 0, count: 16), purpose: "cordon vault 2 inbox")
        guard let secret = derived.symmetricKey else { throw VaultError(.locked, "The key is no longer in memory.") }
        return secret
    }

    /// Ends a secret that a kill has left beside the one in force.
    ///
    /// - Parameter key: Was opened with the record in force.
    func endUnusedSecret(of key: AccountKey) throws(VaultError) {
        guard try secrets.hasUnused(of: key.account) else { return }
        try exclusivelyWithKeys { () throws(VaultError) in
            guard let claim = try currentClaim(of: key) else { return }
            try secrets.destroyUnused(besides: claim)
        }
    }

    /// What the record says that holds a key; nil where it holds another one, or none.
    private func currentClaim(of key: AccountKey) throws(VaultError) -> AccountKeyRecord.Claim? {
        guard let bytes = try PosixFile.contents(keyPath(key.account), limit: AccountKeyRecord.size) else { return nil }
        let claim = try AccountKeyRecord.identify(bytes)
        return claim.account == key.account && claim.keyID == key.id && !claim.isWipe ? claim : nil
    }
}
