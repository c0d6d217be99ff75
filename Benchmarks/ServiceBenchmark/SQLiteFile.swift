import Foundation
import GRDBSQLite

/// A SQLite file by SQLite's own interface.
final class SQLiteFile {
    private var handle: OpaquePointer?

    init(_ file: URL) throws {
        try check(sqlite3_open_v2(file.path, &handle, SQLITE_OPEN_READWRITE, nil))
        try execute("PRAGMA synchronous = OFF; PRAGMA cache_size = -400000")
    }

    deinit { sqlite3_close_v2(handle) }

    func execute(_ sql: String) throws { try check(sqlite3_exec(handle, sql, nil, nil, nil)) }

    /// Hands over each row of two texts.
    func each(_ sql: String, _ body: (String, String) throws -> Void) throws {
        var statement: OpaquePointer?
        try check(sqlite3_prepare_v2(handle, sql, -1, &statement, nil))
        defer { sqlite3_finalize(statement) }
        while sqlite3_step(statement) == SQLITE_ROW { try body(text(statement, 0), text(statement, 1)) }
    }

    /// Closes the file with everything in it, and no log beside it.
    func close() throws {
        try execute("PRAGMA wal_checkpoint(TRUNCATE)")
        try check(sqlite3_close_v2(handle))
        handle = nil
    }

    private func text(_ statement: OpaquePointer?, _ column: Int32) -> String {
        let count = Int(sqlite3_column_bytes(statement, column))
        guard count > 0, let bytes = sqlite3_column_blob(statement, column) else { return "" }
        return String(decoding: UnsafeRawBufferPointer(start: bytes, count: count), as: UTF8.self)
    }

    private func check(_ code: Int32) throws {
        guard code == SQLITE_OK else {
            throw GrowthFailure(reason: handle.map { String(cString: sqlite3_errmsg($0)) } ?? "SQLite: \(code)")
        }
    }
}

/// Why a store could not be made.
struct GrowthFailure: Error { let reason: String }
