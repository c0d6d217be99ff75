public import CordonIdentity
internal import Foundation

extension Vault {
    /// Makes the account's key, or takes the one there is, and unlocks it.
    ///
    /// - Returns: the key's id, hexadecimal; public, and what a ``WipeReport`` names.
    /// - Throws: `wipePending` while a wipe of the account is unfinished; `wrongKey` when the record was made under
    ///   another root key; ``VaultError`` when it cannot be written.
    @discardableResult
    public func createAccountKey(for account: AccountID) throws(VaultError) -> String {
        do {
            try unlock(account)
        } catch {
            guard error.code == .unknownAccount else { throw error }
            try makeKey(of: account)
            try unlock(account)
        }
        return keys[account]?.id.hex ?? ""
    }

    private func makeKey(of account: AccountID) throws(VaultError) {
        let key = AccountKey(account: account, id: SecureRandom.bytes(16), secret: .random())
        let record = try key.record(under: SecretBytes(try keyStore.rootKey()))
        let draft = keyDirectory.appendingPathComponent(PosixFile.temporaryName()).path
        let file = try PosixFile.create(draft, mode: 0o600)
        defer { PosixFile.remove(draft) }
        try file.write(record, at: 0)
        try file.sync()
        file.close()
        // Two apps of a key group may do this at once; the first link wins for both.
        try PosixFile.linkIfAbsent(draft, as: keyPath(account))
        try PosixFile.syncDirectory(keyDirectory.path)
    }

    /// Brings the account's key into memory. Where another process has replaced it, everything open under the former one
    /// ends.
    ///
    /// - Throws: `unknownAccount` without a key on this device, `wipePending`, `wrongKey`, `damaged`, `keyStore`.
    public func unlock(_ account: AccountID) throws(VaultError) {
        try refuseDuringWipe(account)
        guard let bytes = try PosixFile.contents(keyPath(account), limit: AccountKeyRecord.size) else {
            drop(account, because: VaultError(.wiped, "The account's key is gone."))
            throw VaultError(.unknownAccount, "This device has no key for the account.")
        }
        guard case .key(let key) = try AccountKeyRecord.open(bytes, under: SecretBytes(try keyStore.rootKey())) else {
            throw VaultError(.wipePending, "A wipe of the account has begun.")
        }
        guard key.account == account else { throw VaultError(.damaged, "The key record is another account's.") }
        guard keys[account]?.id != key.id else { return }
        // Another process has wiped the account and made a key since: what is open is sealed under one that is gone.
        if keys[account] != nil { drop(account, because: VaultError(.wiped, "The account's key was destroyed.")) }
        keys[account] = key
    }

    /// Whether the account's key is in memory.
    public func isUnlocked(_ account: AccountID) -> Bool { keys[account] != nil }

    /// Makes open files durable, closes them and zeroes the account's key in memory.
    ///
    /// The key goes whatever happens; what a file's last sync did not cover is lost where making it durable fails.
    ///
    /// - Returns: one failure for each file whose last writes were lost; empty when everything is on disk.
    @discardableResult
    public func lock(_ account: AccountID) -> [VaultError] {
        let failures = (handles[account] ?? []).compactMap { $0.holder?.settle() }
        drop(account, because: VaultError(.locked, "The account was locked."))
        return failures
    }

    /// Does for every account what ``lock(_:)`` does for one.
    @discardableResult
    public func lock() -> [VaultError] {
        Set(keys.keys).union(handles.keys).flatMap { lock($0) }
    }

    /// The accounts that have a key on this device, wipes not counted.
    ///
    /// - Throws: ``VaultError`` when the directory cannot be read. Foreign files in it are passed over.
    public func accounts() throws(VaultError) -> [AccountID] {
        try keyRecords().filter { !$0.isWipe }.map(\.account)
    }

    // MARK: For this target

    nonisolated func keyPath(_ account: AccountID) -> String {
        keyDirectory.appendingPathComponent(account.fileName + ".key").path
    }

    nonisolated func keyRecords() throws(VaultError) -> [(account: AccountID, keyID: [UInt8], isWipe: Bool)] {
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: keyDirectory.path)
        } catch {
            throw VaultError(.inputOutput, "The key directory cannot be read.", place: keyDirectory.path)
        }
        return names.sorted().filter { $0.hasSuffix(".key") }.compactMap { name in
            let path = keyDirectory.appendingPathComponent(name).path
            guard let bytes = try? PosixFile.contents(path, limit: AccountKeyRecord.size) else { return nil }
            return try? AccountKeyRecord.identify(bytes)
        }
    }

    /// The account's key, provided that its record is still on disk: another process may have wiped it meanwhile.
    func key(for account: AccountID) throws(VaultError) -> AccountKey {
        guard let key = keys[account] else {
            try refuseDuringWipe(account)
            let exists = try PosixFile.contents(keyPath(account), limit: AccountKeyRecord.size) != nil
            throw exists
                ? VaultError(.locked, "The account is locked.")
                : VaultError(.unknownAccount, "This device has no key for the account.")
        }
        if try key.isCurrent(at: keyPath(account)) { return key }
        let reason = VaultError(.wiped, "The account's key was destroyed.")
        drop(account, because: reason)
        throw reason
    }

    /// Ends what is open of an account and zeroes its key in memory.
    func drop(_ account: AccountID, because reason: VaultError) {
        for handle in handles.removeValue(forKey: account) ?? [] { handle.holder?.invalidate(reason) }
        keys.removeValue(forKey: account)?.destroy()
    }

    private func refuseDuringWipe(_ account: AccountID) throws(VaultError) {
        if wipesUnderWay.contains(account) || WipeJournal.exists(for: account, in: directory) {
            throw VaultError(.wipePending, "A wipe of the account has begun and is not finished.")
        }
        if let bytes = try PosixFile.contents(keyPath(account), limit: AccountKeyRecord.size),
            let record = try? AccountKeyRecord.identify(bytes), record.isWipe
        {
            throw VaultError(.wipePending, "A wipe of the account has begun and is not finished.")
        }
    }
}
