internal import CordonIdentity
internal import Foundation

/// Records of lost keys, which were put aside beside the account's present key record and stay until a wipe.
struct LostKeyFiles {
    /// The vault's key directory.
    let directory: URL

    private static let suffix = ".lost"

    /// Puts a record aside, durable when this returns; none is no error.
    ///
    /// - Parameter name: Tells it from the account's other records here.
    func setAside(_ record: String, of account: AccountID, as name: String) throws(VaultError) {
        if PosixFile.isAbsent(record) { return }
        let place = directory.appendingPathComponent("\(account.fileName).\(name)\(Self.suffix)")
        try PosixFile.rename(record, to: place.path)
        try PosixFile.syncDirectory(directory.path)
    }

    /// Overwrites and removes the account's lost records, which a copy of the key store would open; part of a wipe.
    func remove(of account: AccountID) throws(VaultError) {
        for name in try PosixFile.names(in: directory.path)
        where name.hasPrefix(account.fileName + ".") && name.hasSuffix(Self.suffix) {
            try PosixFile.overwriteAndRemove(
                directory.appendingPathComponent(name).path, count: AccountKeyRecord.size)
        }
    }
}
