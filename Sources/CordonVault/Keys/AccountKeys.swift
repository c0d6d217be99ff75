internal import CordonIdentity

/// The accounts' keys as one vault has them: what is in memory, held against the records on disk.
///
/// No key comes into memory while a wipe of its account is unfinished; so what brings one asks ``ProcessWipes`` first.
struct AccountKeys {
    private let records: KeyRecords
    private var inMemory = KeysInMemory()
    /// Sees other processes destroy keys; begun with the first key in memory.
    private var watch: FolderWatch?
    /// Whether the system had no means for that when it was asked last.
    private(set) var isUnwatched = false

    init(_ records: KeyRecords) { self.records = records }

    /// The account's key, whatever has become of its record; nil where it is not in memory.
    subscript(account: AccountID) -> AccountKey? { inMemory[account] }

    /// The accounts that have a key in memory, or something open.
    var accounts: Set<AccountID> { inMemory.accounts }

    // MARK: Coming

    /// Makes the account's key, or takes the one there is, and brings it into memory.
    ///
    /// - Parameters:
    ///   - isHolder: Whether a key is to be made for the account; looked at only where there is no record.
    ///   - holdsFiles: Whether something is here that may hang on a former key; looked at only where there is no record.
    mutating func create(
        for account: AccountID, during wipes: ProcessWipes, isHolder: @autoclosure () -> Bool = true,
        holdsFiles: @autoclosure () -> Bool = true
    ) throws(VaultError) {
        do {
            try unlock(account, share: nil, during: wipes)
        } catch {
            // A record that was wiped and has come back is as good as none.
            guard error.code == .unknownAccount || error.code == .wiped else { throw error }
            guard isHolder() else {
                throw VaultError(.unknownAccount, "The account is not in the app any more.")
            }
            try records.make(for: account, holdsFiles: holdsFiles())
            try unlock(account, share: nil, during: wipes)
        }
    }

    /// Brings the account's key into memory; see ``Vault/unlock(_:)``.
    ///
    /// - Parameter share: What the record hangs on; of no account beside it, and not looked at where the record needs none.
    mutating func unlock(_ account: AccountID, share: SecretBytes?, during wipes: ProcessWipes) throws(VaultError) {
        try refuse(account, during: wipes)
        switch try records.open(account, share: share, besides: inMemory[account]) {
        case .absent:
            drop(account, because: VaultError(.wiped, "The account's key is gone."))
            throw VaultError(.unknownAccount, "This device has no key for the account.")
        case .destroyed:
            let reason = VaultError(.wiped, "The account's key was destroyed; this is a copy of its record.")
            drop(account, because: reason)
            throw reason
        case .plain:
            try records.renewPlain(account)
            try unlock(account, share: share, during: wipes)
        case .held: break
        // Another process may have wiped the account and made a key since.
        case .key(let key, let hasFormerFiles): inMemory.put(key, hasFormerFiles: hasFormerFiles)
        }
    }

    private func refuse(_ account: AccountID, during wipes: ProcessWipes) throws(VaultError) {
        var isPending = wipes.isUnfinished(account)
        if !isPending { isPending = try records.holdsWipeNote(of: account) }
        if isPending { throw VaultError(.wipePending, "A wipe of the account has begun and is not finished.") }
    }

    /// Tells when something changes among the records, from now on, also where another folder has come in the place of the one that was watched.
    /// Where the system has no means left for it, what opens or makes a file still looks.
    ///
    /// - Returns: Whether changes may have been missed: it begins now, and could not before.
    mutating func watch(_ changed: @escaping @Sendable () -> Void) -> Bool {
        guard watch?.isLive != true else { return false }
        watch = records.watch(changed)
        defer { isUnwatched = watch == nil }
        return watch != nil && isUnwatched
    }

    // MARK: Use

    /// The account's key, provided that its record is still on disk: another process may have wiped it meanwhile. Nil where it is not
    /// in memory.
    mutating func current(_ account: AccountID) throws(VaultError) -> AccountKey? {
        guard let key = inMemory[account] else { return nil }
        if try records.isCurrent(key) { return key }
        let reason = VaultError(.wiped, "The account's key was destroyed.")
        drop(account, because: reason)
        throw reason
    }

    /// Why the account's key is not in memory.
    func absence(of account: AccountID, during wipes: ProcessWipes) throws(VaultError) -> VaultError {
        if let reason = inMemory.ending(of: account) { return reason }
        try refuse(account, during: wipes)
        // A record that is gone may come back, and is given up by who has asked the person.
        return try records.mayHoldKey(of: account)
            ? VaultError(.locked, "The account is locked.")
            : VaultError(.unknownAccount, "This device has no key for the account.")
    }

    /// Remembers what must end with the account's key.
    mutating func track(_ holder: any KeyHolder, of account: AccountID) { inMemory.track(holder, of: account) }

    /// Whether files may hang on the key that came before the account's present one.
    func hasFormerFiles(of account: AccountID) -> Bool { inMemory.hasFormerFiles(of: account) }

    /// Notes durably that none hang on what came before a key. Other apps of a key group have files of their own, so there nothing is noted.
    mutating func noteNoFormerFiles(of key: AccountKey) throws(VaultError) {
        if key.former == nil || records.isShared { return }
        try records.noteNoFormerFiles(of: key)
        inMemory.noteNoFormerFiles(of: key.account)
    }

    // MARK: Going

    /// Makes durable what is open of an account, ends it, and zeroes the key; one failure for each file whose last writes were lost.
    mutating func lock(_ account: AccountID) -> [VaultError] {
        let failures = inMemory.flush(account)
        drop(account, because: VaultError(.locked, "The account was locked."))
        return failures
    }

    /// Ends what is open of an account and zeroes its key in memory.
    mutating func drop(_ account: AccountID, because reason: VaultError) { inMemory.drop(account, because: reason) }

    /// Ends what is open under the account's key, which another process has destroyed.
    mutating func end(_ account: AccountID, because reason: VaultError) { inMemory.end(account, because: reason) }

    /// Ends what is open under keys that another process has destroyed.
    ///
    /// - Returns: Whether every record could be looked at; otherwise a destroyed key may still be in memory.
    mutating func endDestroyed() -> Bool {
        var isSure = true
        for (account, key) in inMemory.all {
            do {
                guard try !records.isCurrent(key, asking: true) else { continue }
                inMemory.end(account, because: VaultError(.wiped, "The account's key was destroyed."))
            } catch { isSure = false }
        }
        return isSure
    }

    // MARK: Lost keys

    /// Whether nothing opens the account's key any more; see ``Vault/isLost(_:withoutShareOf:)``.
    func isLost(
        _ account: AccountID, withoutShareOf keyID: String? = nil, during wipes: ProcessWipes,
        holdsFiles: @autoclosure () -> Bool = true
    ) throws(VaultError) -> Bool {
        if inMemory[account] != nil { return false }
        try refuse(account, during: wipes)
        func isLost() throws(VaultError) -> Bool {
            try records.nameOfLostKey(of: account, withoutShareOf: keyID, holdsFiles: holdsFiles()) != nil
        }
        guard try isLost() else { return false }
        // Another process may have wrapped the key anew between the looks at its record and its secret.
        return try records.exclusively(isLost)
    }

    /// Puts the record of a lost key aside, so that the account can have a new key.
    func setAsideLost(
        _ account: AccountID, withoutShareOf keyID: String? = nil, during wipes: ProcessWipes,
        holdsFiles: @autoclosure () -> Bool = true
    ) throws(VaultError) {
        try records.exclusively { () throws(VaultError) in
            // A wipe destroys the secret first.
            try refuse(account, during: wipes)
            let name = try records.nameOfLostKey(of: account, withoutShareOf: keyID, holdsFiles: holdsFiles())
            // Another process may have done it by now.
            guard let name else { return }
            try records.setAside(account, as: name)
        }
    }
}
