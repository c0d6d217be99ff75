internal import Foundation
internal import GRDB
internal import GRDBSQLite

/// A statement bound and stepped by SQLite's own calls; the connection prepares and keeps it.
///
/// Texts are bound and read by their length: the library ends one at its first zero byte, so that two ids that differ behind it
/// would be one. And a check-in asks a dozen of these, each for a row or none: what a library does around one (arguments and rows as
/// values of its own) costs several times what the look-up does.
struct StoreStatement {
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

        /// The whole number of a column; 0 where it is none.
        func number(_ column: Int32) -> Int { Int(sqlite3_column_int64(statement, column)) }
    }

    /// Held, so that it is not ended while it is used.
    private let prepared: Statement

    private var statement: OpaquePointer { prepared.sqliteStatement }

    init(_ sql: String, on database: Database) throws {
        prepared = try database.cachedStatement(sql: sql)
    }

    /// Runs the statement to its end.
    func run(_ arguments: [any StoreArgument] = []) throws {
        try forEachRow(arguments) { _ in }
    }

    /// Gives each row to a body.
    func forEachRow(_ arguments: [any StoreArgument], do body: (Row) throws -> Void) throws {
        // What is bound is bound where it lies, and no more once this returns.
        defer {
            sqlite3_reset(statement)
            sqlite3_clear_bindings(statement)
        }
        try bind(arguments[...], at: 1) {
            while true {
                switch sqlite3_step(statement) {
                case SQLITE_ROW: try body(Row(statement: statement))
                case SQLITE_DONE: return
                // The library interrupts a connection where the task that reads is cancelled, and nothing else does.
                case SQLITE_INTERRUPT: throw CancellationError()
                case let code: throw Self.failure(code)
                }
            }
        }
    }

    private func bind(_ arguments: ArraySlice<any StoreArgument>, at place: Int32, then step: () throws -> Void) throws
    {
        guard let argument = arguments.first else { return try step() }
        try argument.bind(to: statement, at: place) { code in
            guard code == SQLITE_OK else { throw Self.failure(code) }
            try bind(arguments.dropFirst(), at: place + 1, then: step)
        }
    }

    private static func failure(_ code: Int32) -> DatabaseError {
        DatabaseError(resultCode: ResultCode(rawValue: code))
    }
}

/// What is bound to a statement, for as long as a body runs.
protocol StoreArgument {
    /// Binds the value and calls the body with SQLite's answer.
    func bind(to statement: OpaquePointer, at place: Int32, _ body: (Int32) throws -> Void) throws
}

extension String: StoreArgument {
    func bind(to statement: OpaquePointer, at place: Int32, _ body: (Int32) throws -> Void) throws {
        try withCString { start in
            try body(sqlite3_bind_text(statement, place, start, Int32(clamping: utf8.count), nil))
        }
    }
}

extension Int: StoreArgument {
    func bind(to statement: OpaquePointer, at place: Int32, _ body: (Int32) throws -> Void) throws {
        try Int64(self).bind(to: statement, at: place, body)
    }
}

extension Int64: StoreArgument {
    func bind(to statement: OpaquePointer, at place: Int32, _ body: (Int32) throws -> Void) throws {
        try body(sqlite3_bind_int64(statement, place, self))
    }
}

extension Data: StoreArgument {
    func bind(to statement: OpaquePointer, at place: Int32, _ body: (Int32) throws -> Void) throws {
        // Bytes without an address would be bound as null.
        guard !isEmpty else { return try body(sqlite3_bind_zeroblob(statement, place, 0)) }
        try withUnsafeBytes { bytes in
            try body(sqlite3_bind_blob(statement, place, bytes.baseAddress, Int32(clamping: bytes.count), nil))
        }
    }
}

extension Optional: StoreArgument where Wrapped: StoreArgument {
    func bind(to statement: OpaquePointer, at place: Int32, _ body: (Int32) throws -> Void) throws {
        guard let self else { return try body(sqlite3_bind_null(statement, place)) }
        try self.bind(to: statement, at: place, body)
    }
}
