internal import CordonBase
public import CordonIdentity
package import Crypto
public import Foundation

/// The encrypted storage of one app: keys per account, sealed files and buffers, and the wipe of an account.
///
/// Hierarchy: device root key and a secret of the account (``KeyStore``) → account key (a wrapped record per account in the vault's
/// directory) → content key per file. Nothing is readable without the account's key; ``wipe(_:observer:)`` destroys its secret first. Times
/// come from the clock given at the start. (SDK-FP, SDK-DP, SDK-SW; `docs/vault-format.md`)
public actor Vault {
    /// Where keys, journals, caches and temporary files live.
    public nonisolated let directory: URL
    /// Where account keys live; a folder shared by the apps of a key group, or one inside ``directory``.
    public nonisolated let keyDirectory: URL
    /// Directories whose files a wipe looks through, beside ``directory``.
    nonisolated let roots: [URL]

    /// Keeps the folders above from being sealed.
    private let places: StatePlaces.Note
    nonisolated let clock: @Sendable () -> Date
    nonisolated let records: KeyRecords
    nonisolated let journals: WipeJournals
    nonisolated let register: OwnerRegister
    var keys: AccountKeys
    var wipes: ProcessWipes
    /// What beside files tells that an account had a key; see ``recognizeKeys(by:)``.
    private nonisolated let traces = Locked<(@Sendable (AccountID) -> Bool)?>(nil)
    /// The accounts that keys are made for; see ``makeKeys(for:)``.
    private nonisolated let holders = Locked<(@Sendable (AccountID) -> Bool)?>(nil)
    /// Directories of folders that were found damaged when they were listed, and wait for the next change to be rewritten.
    var damagedDirectories: Set<URL> = []
    /// Whether another look at keys that others may have destroyed is to come.
    private var looksAgain = false

    /// Opens or creates a vault. It unlocks nothing, and interrupted wipes wait for ``resumeWipes(observer:)``.
    ///
    /// - Parameters:
    ///   - directory: the vault's own directory, made with mode 0700 when missing.
    ///   - keyStore: holds the device's root key and the accounts' secrets.
    ///   - keyDirectory: a folder shared with other apps of the same organisation that open each other's files; their
    ///     wipes then share the account key's end. Not a symbolic link. By default a folder of this vault alone.
    ///   - name: tells this vault's accounts from those of other vaults that use the same key store; never changed. Vaults that
    ///     share `keyDirectory` have the same name, all others names of their own, or a wipe in one ends the account in the other.
    ///     By default `shared` with a `keyDirectory` and `own` without.
    ///   - roots: further directories in which sealed files may lie.
    ///   - clock: gives the times in reports.
    /// - Throws: ``VaultError`` when the directories cannot be made or the root key cannot be obtained.
    public init(
        directory: URL, keyStore: any KeyStore, keyDirectory: URL? = nil, name: String? = nil,
        roots: [URL] = [], clock: @escaping @Sendable () -> Date = { Date() }
    ) throws(VaultError) {
        self.directory = directory
        self.keyDirectory = keyDirectory ?? directory.appendingPathComponent("keys")
        let secrets = try AccountSecrets(keyStore, vaultName: name ?? (keyDirectory == nil ? "own" : "shared"))
        records = KeyRecords(in: self.keyDirectory, isShared: keyDirectory != nil, secrets: secrets)
        keys = AccountKeys(records)
        journals = WipeJournals(in: directory, secrets: secrets)
        wipes = ProcessWipes(journals)
        register = OwnerRegister(
            directory: directory.appending(path: "owners"), secrets: secrets, places: [directory] + roots)
        self.roots = roots
        self.clock = clock
        try PosixFile.makeDirectory(directory.path)
        // What makes or destroys a key locks the folder, and follows no link to it.
        try PosixFile.makeDirectory(self.keyDirectory.path, following: false)
        try journals.prepare()
        places = StatePlaces.noting(["wipes", "owners"].map { directory.appending(path: $0) } + [self.keyDirectory])
        // Vaults that share their keys have one name.
        try register.takeOver(of: keyDirectory != nil ? directory.standardizedFileURL.path : "")
        BackupExclusion.exclude(self.keyDirectory)
        register.removeUnfinished()
    }

    // MARK: Keys

    /// Makes the account's key, or takes the existing one, and unlocks the account.
    ///
    /// - Returns: the key's id, hexadecimal; public, and what a ``WipeReport`` names.
    /// - Throws: `wipePending` while a wipe of the account is unfinished; `wrongKey` when the record was made under
    ///   another root key; `unknownAccount` when the record of its key is gone while files hang on the key: put back, an intact copy
    ///   opens them, and a new key would end that; ``VaultError`` when it cannot be written.
    @discardableResult
    public func createAccountKey(for account: AccountID) throws(VaultError) -> String {
        try keys.create(
            for: account, during: wipes, isHolder: holders.withLock { $0 }?(account) ?? true,
            holdsFiles: holdsFiles(of: account))
        watchKeys()
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

    /// Brings the account's key into memory. Where another process has replaced it, everything open under the former one
    /// ends. A key that earlier software made, which hangs on the root key alone, is replaced once; what was sealed under it stays
    /// readable, see ``sealFilesAnew(of:)``.
    ///
    /// - Throws: `unknownAccount` without a key on this device, `wipePending`, `wiped` for a copy of a key that was wiped,
    ///   `locked` where a PIN guards the key and it is not in memory yet, `wrongKey`, `damaged`, `keyStore`.
    public func unlock(_ account: AccountID) throws(VaultError) {
        try keys.unlock(account, share: nil, during: wipes)
        watchKeys()
    }

    /// Brings a guarded key into memory.
    ///
    /// - Throws: What ``unlock(_:)`` throws; `wrongKey` for a share of another key.
    package func unlock(_ account: AccountID, with share: SymmetricKey) throws(VaultError) {
        try keys.unlock(account, share: SecretBytes(share), during: wipes)
        watchKeys()
    }

    private func watchKeys() {
        if beginWatching() { endDestroyedKeys() }
    }

    /// Whether changes may have been missed.
    private func beginWatching() -> Bool {
        keys.watch { [weak self] in
            Task { await self?.endDestroyedKeys() }
        }
    }

    /// Ends what is open under keys that another process has destroyed. Where a record cannot be read, as without a descriptor left, it looks
    /// again later: nobody tells of the change once more, and what is open would stay open.
    private func endDestroyedKeys(elseAfter pause: TimeInterval = 1) {
        // Before the look, which sees what has changed in a folder that is watched only from now on.
        _ = beginWatching()
        if keys.endDestroyed() || looksAgain { return }
        looksAgain = true
        // Not by a timer, which takes a descriptor where the process has had none yet, and ends the process without.
        Thread.detachNewThread { [weak self] in
            Thread.sleep(forTimeInterval: pause)
            Task { await self?.lookAgain(elseAfter: min(pause * 2, 60)) }
        }
    }

    private func lookAgain(elseAfter pause: TimeInterval) {
        looksAgain = false
        endDestroyedKeys(elseAfter: pause)
    }

    /// Whether the account's key is in memory.
    public func isUnlocked(_ account: AccountID) -> Bool { keys[account] != nil }

    /// Makes open files durable, closes them and zeroes the account's key in memory.
    ///
    /// The key goes whatever happens. If a file cannot be made durable, what was written since its last sync is lost.
    ///
    /// - Returns: one failure for each file whose last writes were lost; empty when everything is on disk.
    @discardableResult
    public func lock(_ account: AccountID) -> [VaultError] { keys.lock(account) }

    /// Does what ``lock(_:)`` does, unless the key is needed by then.
    ///
    /// - Parameter isNeeded: Asked on the vault's executor.
    package func lock(_ account: AccountID, unless isNeeded: @Sendable () -> Bool) -> [VaultError] {
        isNeeded() ? [] : lock(account)
    }

    /// Locks every account, see ``lock(_:)``.
    @discardableResult
    public func lock() -> [VaultError] { keys.accounts.flatMap { lock($0) } }

    /// The accounts that have a key on this device, without those being wiped. An account whose key record is gone is not among them: nothing
    /// else names it.
    ///
    /// - Throws: ``VaultError`` when the directory cannot be read. Foreign files in it are passed over.
    public func accounts() throws(VaultError) -> [AccountID] {
        try records.claims().filter { !$0.isWipe }.map(\.account)
    }

    /// Whether the account has, or may have, a key on this device: also where nothing says what a damaged record holds, or where the record
    /// is gone while its secret and files are here.
    ///
    /// - Throws: ``VaultError`` where the record cannot be read or the key store does not answer.
    package nonisolated func mayHaveKey(_ account: AccountID) throws(VaultError) -> Bool {
        try records.mayHoldKey(of: account, holdsFiles: holdsFiles(of: account))
    }

    /// Whether a wipe of the account has something to end yet: a record that is none of its notes, or any secret in the key store. Unlike
    /// ``mayHaveKey(_:)`` it asks for no files, which who writes to the folder can put aside and back.
    ///
    /// - Throws: ``VaultError`` where the record cannot be read or the key store does not answer.
    package nonisolated func keepsKey(of account: AccountID) throws(VaultError) -> Bool {
        try records.keepsKey(of: account)
    }

    /// Has the vault make keys for those accounts alone, from now on. One that exists is opened for any account.
    ///
    /// - Parameter isHolder: Whether the app has the account; asked on the vault's executor, where no wipe of this process runs meanwhile.
    package nonisolated func makeKeys(for isHolder: @escaping @Sendable (AccountID) -> Bool) {
        holders.withLock { $0 = isHolder }
    }

    /// Sets what shows, besides files, that an account had a key here; replaces what was set before.
    package nonisolated func recognizeKeys(by traces: @escaping @Sendable (AccountID) -> Bool) {
        self.traces.withLock { $0 = traces }
    }

    /// Whether something is here that may hang on the account's key. What other apps that share the keys have is not known.
    private nonisolated func holdsFiles(of account: AccountID) -> Bool {
        if records.isShared { return true }
        if let traces = traces.withLock({ $0 }), traces(account) { return true }
        return !files(ownedBy: account).isEmpty
    }

    /// Whether files of the account may still hang on the key of earlier software; see ``sealFilesAnew(of:)``. False while the account
    /// is locked.
    public func hasFormerFiles(of account: AccountID) -> Bool { keys.hasFormerFiles(of: account) }

    /// Whether the account's key cannot be opened without its share. A copy of a record whose key was wiped counts for nothing, and no
    /// record says of a key in memory that it needs none, unless it opens so.
    ///
    /// - Throws: ``VaultError`` where the record cannot be read; an account without a record has no share.
    package func isGuarded(_ account: AccountID) throws(VaultError) -> Bool {
        if let key = keys[account], key.hangsOnShare.withLock({ $0 }) { return true }
        return try records.needsShare(account)
    }

    /// The id of the account's key, hexadecimal, where it cannot be opened without its share; nil for any other, and for none.
    ///
    /// - Throws: ``VaultError`` where the record cannot be read.
    package nonisolated func guardedKeyID(of account: AccountID) throws(VaultError) -> String? {
        try records.idOfGuardedKey(of: account)
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
        try records.hang(key, on: share.map { SecretBytes($0) }, observer: observer)
    }

    /// Whether nothing opens the account's key any more: the key store has no secret that its record hangs on, because the store was
    /// emptied or is another one, or the record is damaged; or the record is gone, or a copy of one whose key was wiped lies in its place,
    /// while the store has a secret that ends with its key alone. False where the key was wiped, and while it is in memory; without
    /// a record also where no file of the account is here, as in an app that was installed anew.
    ///
    /// A changed share's id, or a changed wrap of a key that needs a share, is not found here: the share alone would tell. Nor is a changed wrap
    /// of a key of earlier software, which hangs on the root key alone: it looks as under another root key.
    ///
    /// - Parameter keyID: A guarded key, as ``guardedKeyID(of:)`` gives it, of which the caller has found that nobody has its share
    ///   any more.
    /// - Throws: ``VaultError`` where the record cannot be read or the store does not answer: then the key may open later. A version
    ///   that is not known is no damage either: a newer app reads it.
    package func isLost(_ account: AccountID, withoutShareOf keyID: String? = nil) throws(VaultError) -> Bool {
        try keys.isLost(account, withoutShareOf: keyID, during: wipes, holdsFiles: holdsFiles(of: account))
    }

    /// Gives a lost key up and puts its record aside, so that the account can have a new key. Record and files stay until a wipe; the new
    /// key ends a secret that the lost one hangs on.
    ///
    /// - Parameter keyID: As in ``isLost(_:withoutShareOf:)``.
    /// - Throws: ``VaultError`` where the record or the store cannot be read, or the disk refuses.
    package func setAsideLostKey(of account: AccountID, withoutShareOf keyID: String? = nil) throws(VaultError) {
        try keys.setAsideLost(account, withoutShareOf: keyID, during: wipes, holdsFiles: holdsFiles(of: account))
    }

    /// A secret under the account's key, for a key pair of what the account receives while its key is not in memory.
    ///
    /// - Throws: `locked` without a key in memory, `wiped` where it ended.
    package func inboxSecret(of account: AccountID) throws(VaultError) -> SymmetricKey {
        try key(for: account).inboxSecret()
    }

    /// Refuses the account's names on disk while the record of the former key that they hang on is damaged.
    ///
    /// - Throws: `damaged`; `locked` without a key in memory, `wiped` where it ended.
    package func requireNames(of account: AccountID) throws(VaultError) { try key(for: account).requireNames() }

    /// The keys for an unlocked account's databases, for the target that opens them.
    ///
    /// - Throws: `locked`, `unknownAccount`, `wipePending`, `wiped`.
    package func databaseKeyring(for account: AccountID) throws(VaultError) -> DatabaseKeyring {
        let keyring = DatabaseKeyring(try key(for: account), records)
        keys.track(keyring, of: account)
        return keyring
    }

    /// The account's key, provided that its record is still on disk: another process may have wiped it meanwhile.
    func key(for account: AccountID) throws(VaultError) -> AccountKey {
        if let key = try keys.current(account) {
            if keys.isUnwatched { watchKeys() }
            return key
        }
        throw try keys.absence(of: account, during: wipes)
    }

    // MARK: Directories

    /// Where the app keeps what it can make again for the account. A wipe empties it; this does not create it.
    public nonisolated func cacheDirectory(for account: AccountID) -> URL {
        directory.appendingPathComponent("caches/\(account.fileName)")
    }

    /// Where the app keeps short-lived files of the account. A wipe empties it; this does not create it.
    public nonisolated func temporaryDirectory(for account: AccountID) -> URL {
        directory.appendingPathComponent("temporary/\(account.fileName)")
    }
}

extension AccountID {
    /// A file name for the account, the same for every spelling of its case.
    var fileName: String {
        SHA256.hash(data: Array(rawValue.lowercased().utf8)).withUnsafeBytes { Array($0.prefix(16)) }.hex
    }
}
