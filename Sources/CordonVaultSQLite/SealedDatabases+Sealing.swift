internal import CordonSQLiteShim
public import CordonVault
public import Foundation

extension SealedDatabases {
    /// Seals a plain database where it is: page by page into a draft beside it, which then takes its name in one step. One that is sealed
    /// under the key that earlier software made for the account is resealed in the same way, under the present key and a key of its own.
    ///
    /// Row ids, page size, free pages and journal mode stay as they are. A kill leaves the former database or the sealed
    /// one, and calling again brings it to its end; any other sealed database is left alone. The former database is locked
    /// meanwhile; close other connections first, because one that is merely idle would go on with the old file. What the
    /// disk keeps of the old file's blocks is out of reach, as after any deletion.
    ///
    /// - Parameters:
    ///   - path: the database, or a symbolic link to it; its journal or log is taken in first.
    ///   - progress: told pages done and in all, from time to time.
    /// - Throws: `noSuchFile`; `invalidArgument` for a database with several names, which would stay as it is under the others;
    ///   `inUse` when another connection holds a lock, or this process has one open that is to be resealed; `notSealed` when it
    ///   is no database; `locked`, `wiped`; `noSpace`, `inputOutput`.
    public func seal(
        _ path: URL, progress: @Sendable (Int, Int) -> Void = { _, _ in }
    ) throws(VaultError) {
        // What is renamed to a link takes the link's place, and leaves the database as it is.
        let path = path.resolvingSymlinksInPath()
        let draft = path.deletingLastPathComponent()
            .appendingPathComponent(".cordon-" + path.lastPathComponent + ".sealing")
        let isSealed = try DatabaseKeyring.isSealed(path.path)
        if isSealed, try !host.hangsOnFormerKey(path.path) {
            return DatabaseKeyring.removeDraft(draft.path)
        }
        try DatabaseKeyring.requireOneName(path.path)
        let source = try Connection(path.path, fileSystem: isSealed ? fileSystemName : nil, creating: false)
        let usesLog: Bool
        do { usesLog = try Self.takeWhole(source, at: path) } catch {
            // A draft that is there may be another process's, which is at it.
            throw isSealed ? refusal(at: path) ?? error : error
        }
        DatabaseKeyring.removeDraft(draft.path)
        do {
            let target = try Connection(draft.path, fileSystem: fileSystemName, creating: true)
            try target.run("PRAGMA journal_mode = OFF")
            try source.copy(to: target, progress)
            if usesLog { try target.run("PRAGMA journal_mode = WAL") }
            try target.close()
            try DatabaseKeyring.putInPlace(draft.path, of: path.path)
        } catch {
            DatabaseKeyring.removeDraft(draft.path)
            if let refusal = refusal(at: draft) { throw refusal }
            throw error
        }
        try source.close()
    }

    /// Locks a database until its connection ends; a log or journal is written back and removed on the way.
    ///
    /// - Returns: Whether it has a log.
    private static func takeWhole(_ source: Connection, at path: URL) throws(VaultError) -> Bool {
        try source.run("PRAGMA locking_mode = EXCLUSIVE")
        let usesLog = try source.run("PRAGMA journal_mode") == "wal"
        guard try source.run("PRAGMA journal_mode = DELETE") == "delete" else {
            throw VaultError(.inUse, "Another connection uses the database.", place: path.path)
        }
        try source.run("BEGIN EXCLUSIVE")
        try source.run("COMMIT")
        // A journal that SQLite keeps, for the exclusive lock or by the app's own mode, has former pages in the clear. Closed here, because SQLite would
        // remove it by its name when the sealed database has it.
        try source.run("PRAGMA journal_mode = OFF")
        try DatabaseKeyring.removeBeside(path.path)
        return usesLog
    }
}
