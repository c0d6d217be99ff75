internal import CordonIdentity
internal import Foundation

/// What a key of earlier software has left beside the account's key record: the former key, wrapped under the present one, and the
/// record that was replaced, until it was overwritten.
struct FormerKeyFiles {
    /// The vault's key directory.
    let directory: URL

    /// Where the former key of an account lies.
    func path(of account: AccountID) -> String {
        directory.appending(path: account.fileName + ".former").path
    }

    private func endedPath(_ account: AccountID) -> String {
        directory.appending(path: account.fileName + ".ended").path
    }

    /// Keeps a former key under the present one.
    ///
    /// - Parameter isUnused: Whether no file hangs on the former key any more.
    func keep(_ former: AccountKey, under key: AccountKey, isUnused: Bool) throws(VaultError) {
        try PosixFile.replace(
            path(of: key.account), with: try FormerKeyRecord.seal(former, under: key, isUnused: isUnused))
    }

    /// A key with the former one that hangs on it, and whether files may hang on that.
    ///
    /// A damaged record gives no former key, whatever is asked of it; the present key opens all the same, but no name on disk is made of it, and the
    /// record stays where it is, for an intact copy to take its place.
    func joined(to key: AccountKey) throws(VaultError) -> (key: AccountKey, hasFiles: Bool) {
        do {
            guard let bytes = try PosixFile.contents(path(of: key.account), limit: FormerKeyRecord.size),
                let (former, isUnused) = try FormerKeyRecord.open(bytes, under: key)
            else { return (key, false) }
            return (AccountKey(account: key.account, id: key.id, secret: key.secret, former: former), !isUnused)
        } catch {
            guard error.code == .damaged else { throw error }
            let alone = AccountKey(
                account: key.account, id: key.id, secret: key.secret, hasUnreadableFormer: true)
            return (alone, false)
        }
    }

    /// Gives a record that is about to be replaced a second name, under which it can be overwritten afterwards.
    func keepUntilOverwritten(_ record: String, of account: AccountID) throws(VaultError) {
        try PosixFile.linkIfAbsent(record, as: endedPath(account))
    }

    /// Takes its second name from a record that a kill has kept from being replaced.
    func removeSecondName(of record: PosixFile, _ account: AccountID) throws(VaultError) {
        guard try record.isAt(endedPath(account)) else { return }
        try PosixFile.unlinkIfPresent(endedPath(account))
    }

    /// Overwrites a replaced record; none is no error.
    func overwriteReplacedRecord(of account: AccountID) throws(VaultError) {
        try PosixFile.overwriteAndRemove(endedPath(account), count: AccountKeyRecord.size)
    }

    /// Overwrites both; part of a wipe.
    func remove(of account: AccountID) throws(VaultError) {
        try overwriteReplacedRecord(of: account)
        try PosixFile.overwriteAndRemove(path(of: account), count: FormerKeyRecord.size)
    }
}
