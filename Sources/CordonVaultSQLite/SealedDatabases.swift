public import CordonIdentity
internal import CordonSQLiteShim
public import CordonVault
public import Foundation

/// The sealed SQLite databases of one account: a virtual file system that any SQLite connection of this process may use.
///
/// Everything that SQLite writes for a database is sealed under a key of that database: pages, rollback journals, the
/// write-ahead log, and under a key that is kept nowhere, temporary files. To SQLite nothing else changes: journal modes,
/// several processes, `VACUUM`, backup and page sizes work as with its own file system, and the bytes of the database are
/// those of a plain one. Memory maps are off. (SDK-FP-17; `docs/vault-format.md`)
///
///     let databases = try await vault.sealedDatabases(for: account)
///     sqlite3_open_v2(path, &connection, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, databases.fileSystemName)
///     let queue = try DatabaseQueue(path: databases.address(of: url))  // GRDB
///
/// Once the account is locked or wiped every call on an open connection fails, and nothing opens any more; close such
/// connections and, after an unlock, get a new object. What SQLite holds in its own page cache stays in memory until then.
/// May be used from any thread. Connections may outlive this object; once it and their last file are gone, they open nothing.
///
/// A transaction over several databases with rollback journals stays within one account: beside a plain database, or another
/// account's, it ends with `SQLITE_PERM` and changes none of them. One that is attached and has no such journal does not count.
public final class SealedDatabases: Sendable {
    /// Whose databases.
    public let account: AccountID
    /// What to give SQLite as the name of the virtual file system.
    public let fileSystemName: String

    let host: FileSystemHost
    private let fileSystem: FileSystem

    init(_ keyring: DatabaseKeyring, cipher: DatabaseCipher) throws(VaultError) {
        account = keyring.account
        host = FileSystemHost(keyring, cipher: cipher)
        fileSystemName = "cordon-" + UUID().uuidString.lowercased()
        fileSystem = try FileSystem(fileSystemName, over: sqlite3_vfs_find(nil), host: host)
        try fileSystem.register()
    }

    /// A database's address for libraries that take a file name and no file system, such as GRDB.
    ///
    /// SQLite must take addresses for names: it does on Debian and on Apple platforms, and wherever it was built or
    /// configured so. `SQLITE_OPEN_URI` asks for it per connection.
    public func address(of path: URL) -> String {
        let allowed = CharacterSet(charactersIn: "/-._~").union(.alphanumerics)
        let escaped = path.path.addingPercentEncoding(withAllowedCharacters: allowed) ?? path.path
        return "file:\(escaped)?vfs=\(fileSystemName)"
    }

    /// Why the last attempt to open or make a database at a path was refused; nil when it was not, or succeeded since.
    ///
    /// SQLite itself only says `SQLITE_IOERR_AUTH` (no key), `SQLITE_NOTADB` (not sealed), `SQLITE_IOERR_DATA` (a page
    /// was changed) or `SQLITE_PERM` (a transaction beside other databases); see ``error(_:at:)``.
    public func refusal(at path: URL) -> VaultError? { host.refusal(at: path.path) }

    /// An extended result code of SQLite as an error of the vault; nil for codes that are SQLite's own affair.
    public func error(_ code: Int32, at path: URL) -> VaultError? {
        switch code {
        case cordon_sqlite_ioerr_data: VaultError(.damaged, "A page of the database was changed.", place: path.path)
        case SQLITE_PERM:
            VaultError(
                .invalidArgument,
                "A transaction with rollback journals may only be over sealed databases of one account.",
                place: path.path)
        case SQLITE_NOTADB:
            VaultError(.notSealed, "The file does not begin as a sealed database does.", place: path.path)
        case cordon_sqlite_ioerr_auth, SQLITE_CANTOPEN:
            refusal(at: path) ?? host.ended
                ?? (code == SQLITE_CANTOPEN ? nil : VaultError(.locked, "The key is gone.", place: path.path))
        default: nil
        }
    }

    /// The same file system for a private copy of SQLite, over that copy's own file system and not registered anywhere
    /// (SDK-FP-17): register and unregister it with that copy's functions.
    ///
    /// - Parameter base: a `sqlite3_vfs *` of that copy, valid for the process's life.
    /// - Returns: a `sqlite3_vfs *` that stays valid for the process's life.
    /// - Throws: `locked` after the account was locked or wiped; `sealingFailed` without memory.
    public func fileSystem(over base: UnsafeMutableRawPointer) throws(VaultError) -> UnsafeMutableRawPointer {
        let vfs = base.assumingMemoryBound(to: sqlite3_vfs.self)
        return UnsafeMutableRawPointer(try FileSystem(fileSystemName, over: vfs, host: host).keptForever())
    }
}

extension Vault {
    /// Gets the sealed databases of an unlocked account.
    ///
    /// - Throws: ``CordonVault/VaultError``: `locked`, `unknownAccount`, `wipePending`, `wiped`; `sealingFailed` when SQLite
    ///   takes no file system.
    public func sealedDatabases(for account: AccountID) throws(VaultError) -> SealedDatabases {
        try SealedDatabases(try databaseKeyring(for: account), cipher: .preferred)
    }

    /// The same with a chosen cipher implementation, for tests of both.
    package func sealedDatabases(
        for account: AccountID, cipher: DatabaseCipher
    ) throws(VaultError) -> SealedDatabases {
        try SealedDatabases(try databaseKeyring(for: account), cipher: cipher)
    }
}
