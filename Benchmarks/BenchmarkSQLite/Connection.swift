import Foundation
import GRDBSQLite

/// SQLite's own interface, as far as the programs beside it need it.
public final class Connection {
    /// A call that failed.
    public struct Failure: Error {
        /// SQLite's extended code.
        public let code: Int32
    }

    private var handle: OpaquePointer?

    /// Opens or makes a database; nil stands for SQLite's own file system.
    public init(_ path: String, _ fileSystem: String?) throws {
        let result = sqlite3_open_v2(path, &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, fileSystem)
        sqlite3_extended_result_codes(handle, 1)
        guard result == SQLITE_OK else { throw Failure(code: sqlite3_extended_errcode(handle)) }
    }

    deinit { sqlite3_close_v2(handle) }

    /// Runs statements; the first value of the last row, or nothing.
    @discardableResult
    public func run(_ sql: String) throws -> String {
        var value = ""
        let result = withUnsafeMutablePointer(to: &value) {
            sqlite3_exec(
                handle, sql,
                { context, count, values, _ in
                    guard count > 0, let context, let first = values?[0] else { return 0 }
                    context.assumingMemoryBound(to: String.self).pointee = String(cString: first)
                    return 0
                }, $0, nil)
        }
        guard result == SQLITE_OK else { throw Failure(code: sqlite3_extended_errcode(handle)) }
        return value
    }
}
