internal import CordonBase
public import CordonIdentity
package import Crypto
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
            // A record that was wiped and has come back is as good as none.
            guard error.code == .unknownAccount || error.code == .wiped else { throw error }
            try makeKey(of: account)
            try unlock(account)
        }
        return keys[account]?.id.hex ?? ""
    }

    /// Makes the account's key or unlocks it, unless a share guards it or nothing opens it any more.
    ///
    /// - Returns: Whether the key is in memory now.
    /// - Throws: As ``createAccountKey(for:)``.
    package func openAccountKey(for account: AccountID) throws(VaultError) -> Bool {
        do {
            if try isGuarded(account) { return false }
            try createAccountKey(for: account)
            return true
        } catch {
            // Looked at only now: it takes as much as the opening itself, and what is lost does not open.
            if (try? isLost(account)) == true { return false }
            throw error
        }
    }

    private func makeKey(of account: AccountID) throws(VaultError) {
        try exclusivelyWithKeys { () throws(VaultError) in
            // Another app of the key group may have made it by now.
            if let bytes = try PosixFile.contents(keyPath(account), limit: AccountKeyRecord.size) {
                guard try isRetired(try AccountKeyRecord.identify(bytes)) else { return }
            }
            let parts = try secrets.renewedParts(of: account)
            try secrets.retirePlainRecords(of: account)
            let key = AccountKey(account: account, id: SecureRandom.bytes(16), secret: .random())
            defer { key.destroy() }
            try PosixFile.replace(keyPath(account), with: try key.record(under: parts))
        }
    }

    /// Runs a short body while no other process makes or destroys a key here.
    func exclusivelyWithKeys<Value>(_ body: () throws(VaultError) -> Value) throws(VaultError) -> Value {
        try AdvisoryLock.exclusively(
            inFolder: keyDirectory,
            or: {
                VaultError(.inputOutput, "The keys cannot be locked (errno \($0.number)).", place: keyDirectory.path)
            },
            body)
    }

    /// Brings the account's key into memory. Where another process has replaced it, everything open under the former one
    /// ends. A key that earlier software made, which hangs on the root key alone, is replaced once; what was sealed under it stays
    /// readable, see ``sealFilesAnew(of:)``.
    ///
    /// - Throws: `unknownAccount` without a key on this device, `wipePending`, `wiped` for a copy of a key that was wiped,
    ///   `locked` where a PIN guards the key and it is not in memory yet, `wrongKey`, `damaged`, `keyStore`.
    public func unlock(_ account: AccountID) throws(VaultError) { try unlock(account, share: nil) }

    /// Brings a key into memory that a PIN guards; see ``unlock(_:)``.
    ///
    /// - Parameter share: What the record hangs on; of no account beside it, and not looked at where the record needs none.
    func unlock(_ account: AccountID, share: SecretBytes?) throws(VaultError) {
        try refuseDuringWipe(account)
        guard let bytes = try PosixFile.contents(keyPath(account), limit: AccountKeyRecord.size) else {
            drop(account, because: VaultError(.wiped, "The account's key is gone."))
            throw VaultError(.unknownAccount, "This device has no key for the account.")
        }
        let claim = try AccountKeyRecord.identify(bytes)
        guard claim.account == account else { throw VaultError(.damaged, "The key record is another account's.") }
        if !claim.isWipe, try isRetired(claim) {
            let reason = VaultError(.wiped, "The account's key was destroyed; this is a copy of its record.")
            drop(account, because: reason)
            throw reason
        }
        if claim.isPlain {
            try renewPlainKey(of: account)
            return try unlock(account, share: share)
        }
        // Without its share the record cannot be opened again, and need not be.
        if claim.shareID != nil, share == nil, keys[account]?.id == claim.keyID { return }
        let parts = try secrets.parts(of: account, for: claim, share: share)
        guard case .key(let opened) = try AccountKeyRecord.open(bytes, under: parts) else {
            throw VaultError(.wipePending, "A wipe of the account has begun.")
        }
        // A kill may have come between a new record and the end of the former one.
        try endPlainKey(of: account)
        try endUnusedSecret(of: opened)
        guard keys[account]?.id != opened.id else { return }
        let (key, hasFormerFiles) = try formerKeys.joined(to: opened)
        // Another process may have wiped the account and made a key since.
        keys.put(key, hasFormerFiles: hasFormerFiles)
        watchKeys()
    }

    /// Whether what a record holds was destroyed before: the key itself, or every one that hangs on no secret.
    func isRetired(_ claim: AccountKeyRecord.Claim) throws(VaultError) -> Bool {
        if claim.isPlain, try secrets.arePlainRecordsRetired(of: claim.account) { return true }
        return try secrets.isRetired(keyID: claim.keyID)
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
        let failures = keys.flush(account)
        drop(account, because: VaultError(.locked, "The account was locked."))
        return failures
    }

    /// Does for every account what ``lock(_:)`` does for one.
    @discardableResult
    public func lock() -> [VaultError] {
        keys.accounts.flatMap { lock($0) }
    }

    /// The accounts that have a key on this device, wipes not counted.
    ///
    /// - Throws: ``VaultError`` when the directory cannot be read. Foreign files in it are passed over.
    public func accounts() throws(VaultError) -> [AccountID] {
        try keyRecords().filter { !$0.isWipe }.map(\.account)
    }

    /// Whether the account has, or may have, a key on this device: also where nothing says what a damaged record holds.
    ///
    /// - Throws: ``VaultError`` where the record cannot be read.
    package nonisolated func mayHaveKey(_ account: AccountID) throws(VaultError) -> Bool {
        do {
            guard let bytes = try PosixFile.contents(keyPath(account), limit: AccountKeyRecord.size) else {
                return false
            }
            return try !AccountKeyRecord.identify(bytes).isWipe
        } catch {
            guard error.code == .damaged || error.code == .unsupportedFormat else { throw error }
            return true
        }
    }

    // MARK: For this target

    /// Ends what is open here when another process destroys its key. Where the system has no means left to tell, what opens or makes a
    /// file still looks.
    private func watchKeys() {
        if watch != nil { return }
        watch = FolderWatch(keyDirectory) { [weak self] in
            Task { await self?.endDestroyedKeys() }
        }
    }

    private func endDestroyedKeys() {
        for (account, key) in keys.all where (try? key.isCurrent(at: keyPath(account))) == false {
            keys.end(account, because: VaultError(.wiped, "The account's key was destroyed."))
        }
    }

    nonisolated func keyPath(_ account: AccountID) -> String {
        // The other way to append asks the disk each time whether a folder is meant.
        keyDirectory.appending(path: account.fileName + ".key").path
    }

    nonisolated func keyRecords() throws(VaultError) -> [AccountKeyRecord.Claim] {
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: keyDirectory.path)
        } catch {
            throw VaultError(.inputOutput, "The key directory cannot be read.", place: keyDirectory.path)
        }
        return names.sorted().filter { $0.hasSuffix(".key") }.compactMap { name in
            let path = keyDirectory.appending(path: name).path
            guard let bytes = try? PosixFile.contents(path, limit: AccountKeyRecord.size) else { return nil }
            return try? AccountKeyRecord.identify(bytes)
        }
    }

    /// The account's key, provided that its record is still on disk: another process may have wiped it meanwhile.
    func key(for account: AccountID) throws(VaultError) -> AccountKey {
        guard let key = keys[account] else {
            if let reason = keys.ending(of: account) { throw reason }
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
    func drop(_ account: AccountID, because reason: VaultError) { keys.drop(account, because: reason) }

    private func refuseDuringWipe(_ account: AccountID) throws(VaultError) {
        if wipes.isUnderWay(account) || WipeJournal.exists(for: account, in: directory) {
            throw VaultError(.wipePending, "A wipe of the account has begun and is not finished.")
        }
        let isNoted: Bool
        do {
            guard let bytes = try PosixFile.contents(keyPath(account), limit: AccountKeyRecord.size) else { return }
            isNoted = try AccountKeyRecord.identify(bytes).isWipe
        } catch {
            // A record that is damaged, or of another version, does not say that a wipe has begun.
            guard error.code == .damaged || error.code == .unsupportedFormat else { throw error }
            return
        }
        if isNoted { throw VaultError(.wipePending, "A wipe of the account has begun and is not finished.") }
    }
}

extension Vault {
    /// Whether files of the account may still hang on the key of earlier software; see ``sealFilesAnew(of:)``. False while the account
    /// is locked.
    public func hasFormerFiles(of account: AccountID) -> Bool { keys.hasFormerFiles(of: account) }

    /// Reseals, each with a key of its own, the account's sealed files that hang on the key of earlier software.
    ///
    /// That key hung on the device's root key alone, so an old copy of its record opens what is sealed under it. Files stay readable
    /// before, meanwhile and after a kill. A file that a writer has open, or that is damaged, is left as it is; the next call tries again.
    /// A database is resealed by `SealedDatabases.seal`, protected buffers by the app that keeps them; until then they keep the former key, which the present one guards. Where vaults share a `keyDirectory`, each
    /// seals the files of its own roots.
    ///
    /// - Returns: How many files were left.
    /// - Throws: `locked`, `unknownAccount`, `wiped`, or what the disk refused.
    @discardableResult
    public func sealFilesAnew(of account: AccountID) async throws(VaultError) -> Int {
        guard let former = try key(for: account).former else { return 0 }
        var left = 0
        for path in files(ownedBy: account) {
            guard let header = facts(of: path), header.kind == .file, header.accountKeyID == former.id else { continue }
            do { try await sealAnew(path) } catch {
                guard [.inUse, .damaged, .unsupportedFormat, .noSuchFile].contains(error.code) else { throw error }
                if error.code != .noSuchFile { left += 1 }
            }
            await Task.yield()
        }
        if left == 0 { try noteUnused(account) }
        return left
    }

    private func sealAnew(_ path: URL) async throws(VaultError) {
        guard let held = try PosixFile.open(path.path, writing: false, ifExists: true) else { return }
        defer { held.close() }
        try held.lockForWriting()
        let header = try Self.header(of: held)
        let name = try header.open(under: try key(for: header.owner)).name
        let source = try open(path, writing: false)
        try await seal(source, at: path, named: name, holding: held)
        try source.close()
    }

    // MARK: A key of earlier software

    private nonisolated var formerKeys: FormerKeyFiles { FormerKeyFiles(directory: keyDirectory) }
    private nonisolated var lostKeys: LostKeyFiles { LostKeyFiles(directory: keyDirectory) }

    /// Gives an account whose key hangs on the root key alone a new key that hangs on a secret, once. The former one is kept, wrapped
    /// under the new one.
    ///
    /// A kill at any instant leaves the former record in force or the new one, and the next unlocking goes on.
    func renewPlainKey(of account: AccountID) throws(VaultError) {
        try exclusivelyWithKeys { () throws(VaultError) in
            let path = keyPath(account)
            // Another app of the key group may have done it by now.
            guard let bytes = try PosixFile.contents(path, limit: AccountKeyRecord.size),
                try AccountKeyRecord.identify(bytes).isPlain
            else { return }
            let plain = KeyParts(root: try secrets.parts(of: account, for: nil).root, secret: nil)
            guard case .key(let former) = try AccountKeyRecord.open(bytes, under: plain) else { return }
            let parts = try secrets.renewedParts(of: account)
            let key = AccountKey(account: account, id: SecureRandom.bytes(16), secret: .random(), former: former)
            defer { key.destroy() }
            try formerKeys.keep(former, under: key, isUnused: false)
            try formerKeys.keepUntilOverwritten(path, of: account)
            try PosixFile.replace(path, with: try key.record(under: parts))
            try endPlainKey(of: account)
        }
    }

    /// Overwrites what is left of a replaced record, and lets no copy of it count any more. The new one is in force.
    func endPlainKey(of account: AccountID) throws(VaultError) {
        try formerKeys.overwriteReplacedRecord(of: account)
        try secrets.retirePlainRecords(of: account)
    }

    /// Removes what a replaced key has left; part of a wipe.
    func removeFormerKey(of account: AccountID) throws(VaultError) {
        try formerKeys.remove(of: account)
        try lostKeys.remove(of: account)
    }

    private func noteUnused(_ account: AccountID) throws(VaultError) {
        guard keys.hasFormerFiles(of: account) else { return }
        let key = try key(for: account)
        guard let former = key.former else { return }
        // Other apps of a key group have files of their own.
        if isKeyDirectoryShared { return }
        try formerKeys.keep(former, under: key, isUnused: true)
        keys.noteNoFormerFiles(of: account)
    }

    // MARK: Keys that a PIN guards

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

    /// Whether nothing opens the account's key any more: the key store has no secret that its record hangs on, because the store was
    /// emptied or is another one, or the record is damaged. False where there is no record, where its key was wiped, and while the key is
    /// in memory.
    ///
    /// A changed share's id, or a changed wrap of a key that needs a share, is not found here: the share alone would tell. Nor is a changed wrap
    /// of a key of earlier software, which hangs on the root key alone: it looks as under another root key.
    ///
    /// - Throws: ``VaultError`` where the record cannot be read or the store does not answer: then the key may open later. A version
    ///   that is not known is no damage either: a newer app reads it.
    package func isLost(_ account: AccountID) throws(VaultError) -> Bool {
        if keys[account] != nil { return false }
        return try lostKey(of: account) != nil
    }

    /// What tells the record of a lost key from others that were put aside; nil where the key is not lost.
    private func lostKey(of account: AccountID) throws(VaultError) -> String? {
        // A wipe destroys the secret first.
        try refuseDuringWipe(account)
        do {
            guard let bytes = try PosixFile.contents(keyPath(account), limit: AccountKeyRecord.size) else { return nil }
            let claim = try AccountKeyRecord.identify(bytes)
            guard claim.account == account else { return SecureRandom.bytes(16).hex }
            guard !claim.isWipe, claim.secretID != nil, try !isRetired(claim) else { return nil }
            guard try secrets.hasSecret(of: claim) else { return claim.keyID.hex }
            if claim.shareID == nil {
                // Secrets are named by the root key: where the secret is the record's own, the root key is too.
                _ = try AccountKeyRecord.open(bytes, under: try secrets.parts(of: account, for: claim))
            }
            return nil
        } catch {
            guard error.code == .damaged || error.code == .wrongKey else { throw error }
            return SecureRandom.bytes(16).hex
        }
    }

    /// Puts the record of a lost key aside, so that the account can have a new key. Nothing is removed: record and files stay until a wipe.
    ///
    /// - Throws: ``VaultError`` where the record or the store cannot be read, or the disk refuses.
    package func setAsideLostKey(of account: AccountID) throws(VaultError) {
        try exclusivelyWithKeys { () throws(VaultError) in
            // Another process may have done it by now.
            guard let key = try lostKey(of: account) else { return }
            try lostKeys.setAside(keyPath(account), of: account, as: key)
        }
    }

    /// A secret under the account's key, for a key pair of what the account receives while its key is not in memory.
    ///
    /// - Throws: `locked` without a key in memory, `wiped` where it ended.
    package func inboxSecret(of account: AccountID) throws(VaultError) -> SymmetricKey {
        try key(for: account).inboxSecret()
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
