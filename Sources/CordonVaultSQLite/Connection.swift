internal import CordonSQLiteShim
internal import CordonVault

/// A connection of SQLite's own interface, for what the vault itself does with a database.
final class Connection {
    private var handle: OpaquePointer?
    private let path: String

    init(_ path: String, fileSystem: String?, creating: Bool) throws(VaultError) {
        self.path = path
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_FULLMUTEX | (creating ? SQLITE_OPEN_CREATE : 0)
        let result = sqlite3_open_v2(path, &handle, flags, fileSystem)
        guard result == SQLITE_OK else {
            let error = error(result)
            sqlite3_close_v2(handle)
            handle = nil
            throw error
        }
        sqlite3_extended_result_codes(handle, 1)
    }

    deinit { sqlite3_close_v2(handle) }

    /// Runs one statement; the first column of its first row, if it has any.
    @discardableResult
    func run(_ statement: String) throws(VaultError) -> String? {
        var prepared: OpaquePointer?
        var result = sqlite3_prepare_v2(handle, statement, -1, &prepared, nil)
        defer { sqlite3_finalize(prepared) }
        guard result == SQLITE_OK else { throw error(result) }
        result = sqlite3_step(prepared)
        let value = result == SQLITE_ROW ? sqlite3_column_text(prepared, 0).map { String(cString: $0) } : nil
        while result == SQLITE_ROW { result = sqlite3_step(prepared) }
        guard result == SQLITE_DONE else { throw error(result) }
        return value
    }

    /// Copies every page to another database.
    func copy(to target: Connection, _ progress: (Int, Int) -> Void) throws(VaultError) {
        guard let backup = sqlite3_backup_init(target.handle, "main", handle, "main") else {
            throw target.error(sqlite3_errcode(target.handle))
        }
        var result = SQLITE_OK
        while result == SQLITE_OK {
            result = sqlite3_backup_step(backup, 1024)
            let total = Int(sqlite3_backup_pagecount(backup))
            progress(total - Int(sqlite3_backup_remaining(backup)), total)
        }
        let ended = sqlite3_backup_finish(backup)
        guard result == SQLITE_DONE, ended == SQLITE_OK else { throw target.error(result) }
    }

    /// Closes it; what could not be finished is an error.
    func close() throws(VaultError) {
        let result = sqlite3_close(handle)
        guard result == SQLITE_OK else { throw error(result) }
        handle = nil
    }

    private func error(_ result: Int32) -> VaultError {
        let reason = "SQLite: " + String(cString: sqlite3_errstr(result))
        let code: VaultError.Code =
            switch result & 0xFF {
            case SQLITE_BUSY, SQLITE_LOCKED: .inUse
            case SQLITE_CANTOPEN: .noSuchFile
            case SQLITE_NOTADB: .notSealed
            case SQLITE_CORRUPT: .damaged
            case SQLITE_FULL: .noSpace
            default: .inputOutput
            }
        return VaultError(code, reason, place: path)
    }
}
