internal import GRDB
internal import GRDBSQLite

/// A statement whose arguments are texts, bound and stepped by SQLite's own calls; the connection prepares and keeps it.
///
/// A check-in asks a dozen of these, each for a row or none, and what a library does around one (arguments and rows as values of its own)
/// costs several times what the look-up does. Everything else goes through the library.
struct TextQuery {
    /// One row, only while it is the present one.
    struct Row {
        fileprivate let statement: OpaquePointer

        /// The bytes of a column, only while the row is the present one.
        func bytes(_ column: Int32) -> UnsafeRawBufferPointer {
            let start = sqlite3_column_blob(statement, column)
            return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, column)))
        }

        /// The text of a column.
        func text(_ column: Int32) -> String { String(decoding: bytes(column), as: UTF8.self) }
    }

    /// Held, so that it is not ended while it is used.
    private let prepared: Statement

    private var statement: OpaquePointer { prepared.sqliteStatement }

    init(_ sql: String, on database: Database) throws {
        prepared = try database.cachedStatement(sql: sql)
    }

    /// Gives each row to a body.
    func forEachRow(_ arguments: String..., do body: (Row) throws -> Void) throws {
        // The texts are bound where they lie, and are bound no more once this returns.
        defer {
            sqlite3_reset(statement)
            sqlite3_clear_bindings(statement)
        }
        try bind(arguments[...], at: 1) {
            while true {
                switch sqlite3_step(statement) {
                case SQLITE_ROW: try body(Row(statement: statement))
                case SQLITE_DONE: return
                case let code: throw failure(code)
                }
            }
        }
    }

    private func bind(_ texts: ArraySlice<String>, at place: Int32, then step: () throws -> Void) throws {
        guard let text = texts.first else { return try step() }
        try text.withCString { start in
            let code = sqlite3_bind_text(statement, place, start, Int32(clamping: text.utf8.count), nil)
            guard code == SQLITE_OK else { throw failure(code) }
            try bind(texts.dropFirst(), at: place + 1, then: step)
        }
    }

    private func failure(_ code: Int32) -> DatabaseError {
        DatabaseError(resultCode: ResultCode(rawValue: code))
    }
}
