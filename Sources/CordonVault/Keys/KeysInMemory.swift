internal import CordonIdentity

/// The account keys that are in memory, with what is open under each: both end together.
struct KeysInMemory {
    private var keys: [AccountID: AccountKey] = [:]
    private var holders: [AccountID: [WeakHolder]] = [:]
    /// Why accounts have no key here whose keys others have destroyed.
    private var endings: [AccountID: VaultError] = [:]
    private var withFormerFiles: Set<AccountID> = []

    private struct WeakHolder {
        weak var holder: (any KeyHolder)?
    }

    /// The account's key; nil where it is not in memory.
    subscript(account: AccountID) -> AccountKey? { keys[account] }

    /// The keys of all accounts.
    var all: [AccountID: AccountKey] { keys }

    /// The accounts that have a key here, or something open.
    var accounts: Set<AccountID> { Set(keys.keys).union(holders.keys) }

    /// Why another process has ended the account's key; nil where none has.
    func ending(of account: AccountID) -> VaultError? { endings[account] }

    /// Takes a key up, in place of any other that the account had.
    mutating func put(_ key: AccountKey, hasFormerFiles: Bool) {
        // What is open is sealed under a key that is gone.
        if keys[key.account] != nil {
            drop(key.account, because: VaultError(.wiped, "The account's key was destroyed."))
        }
        keys[key.account] = key
        endings[key.account] = nil
        if hasFormerFiles { withFormerFiles.insert(key.account) }
    }

    /// Remembers what must end with the account's key.
    mutating func track(_ holder: any KeyHolder, of account: AccountID) {
        holders[account, default: []].removeAll { $0.holder == nil }
        holders[account, default: []].append(WeakHolder(holder: holder))
    }

    /// Makes durable what is open of an account; one failure for each that is not.
    func flush(_ account: AccountID) -> [VaultError] { (holders[account] ?? []).compactMap { $0.holder?.flush() } }

    /// Ends what is open of an account and zeroes its key.
    mutating func drop(_ account: AccountID, because reason: VaultError) {
        for weak in holders.removeValue(forKey: account) ?? [] { weak.holder?.invalidate(reason) }
        keys.removeValue(forKey: account)?.destroy()
        endings[account] = nil
        withFormerFiles.remove(account)
    }

    /// Does what ``drop(_:because:)`` does for a key that another process has destroyed, and remembers why.
    mutating func end(_ account: AccountID, because reason: VaultError) {
        drop(account, because: reason)
        endings[account] = reason
    }

    /// Whether files may hang on the key that came before the account's present one.
    func hasFormerFiles(of account: AccountID) -> Bool { withFormerFiles.contains(account) }

    /// Notes that none do.
    mutating func noteNoFormerFiles(of account: AccountID) { withFormerFiles.remove(account) }
}

/// Something with a key in memory that must end when its account is locked or wiped.
protocol KeyHolder: AnyObject {
    /// Makes durable what was written and leaves it complete, before a lock; why not, where that failed.
    func flush() -> VaultError?
    /// Ends every use of the key, for this reason. Waits for none that the disk keeps waiting.
    func invalidate(_ reason: VaultError)
}

extension SealedFile: KeyHolder {
    func flush() -> VaultError? {
        do {
            try finishIfOpen()
            return nil
        } catch {
            return error
        }
    }
}
