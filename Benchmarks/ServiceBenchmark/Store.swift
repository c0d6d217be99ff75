import CordonIdentity
import CordonService
import CordonServiceSQLite
import Foundation
import GRDBSQLite

/// What the store of devices costs beside SQLite's own interface over the same file (P11).
enum Store {
    static let rows = 10_000
    static let reads = 20_000
    static let writes = 200

    static func measure(in folder: URL) async throws {
        let file = folder.appending(path: "store.sqlite")
        let storage = try SQLiteStorage(file: file)
        try await storage.write(ServiceProcess.tenant) { transaction in
            for number in 0..<rows { try transaction.save(person(number, round: 0)) }
        }
        let plain = try PlainStore(file)
        var (readRates, writeRates, batches): ([Double], [Double], [Double]) = ([], [], [])
        for round in 1...5 {
            let bare = try Meter.seconds { try plain.read(reads) }
            let read = try await Meter.seconds {
                try await storage.read(ServiceProcess.tenant) { records in
                    for number in 0..<reads where try records.record(DirectoryUser.self, id(number)) == nil {
                        throw ServiceError(.internalError, "a record is missing")
                    }
                }
            }
            readRates.append(bare / read)
            let bareWrite = try await Meter.elapsed { try plain.write(writes, round: round) }
            let single = try await Meter.elapsed {
                for number in 0..<writes {
                    try await storage.write(ServiceProcess.tenant) { transaction in
                        try transaction.save(person(number, round: round))
                    }
                }
            }
            writeRates.append(bareWrite / single)
            let batched = try await Meter.elapsed {
                for batch in 0..<(writes / 100) {
                    try await storage.write(ServiceProcess.tenant) { transaction in
                        for number in 0..<100 { try transaction.save(person(batch * 100 + number, round: -round)) }
                    }
                }
            }
            batches.append(single / batched)
        }
        try storage.close()
        Meter.say("P11 records read in one transaction, times SQLite's own rate", readRates, atLeast: 0.55)
        Meter.say("P11 durable writes, times SQLite's own rate", writeRates, atLeast: 0.8)
        Meter.say("P11 a hundred writes at once, times one by one", batches, atLeast: 5)
    }

    static func id(_ number: Int) -> String { "p\(number * 7 % rows)" }

    private static func person(_ number: Int, round: Int) -> DirectoryUser {
        DirectoryUser(id: "p\(number)", userPrincipalName: "p\(number)@contoso.example", displayName: "Round \(round)")
    }
}

/// The same file by SQLite's own interface: prepared statements, every commit synced.
private final class PlainStore {
    private var handle: OpaquePointer?
    private var query: OpaquePointer?
    private var update: OpaquePointer?

    init(_ file: URL) throws {
        try check(sqlite3_open_v2(file.path, &handle, SQLITE_OPEN_READWRITE, nil))
        try check(sqlite3_exec(handle, "PRAGMA synchronous = FULL", nil, nil, nil))
        sqlite3_busy_timeout(handle, 5_000)
        let tenant = ServiceProcess.tenant.rawValue
        let row = "tenant = '\(tenant)' AND kind = 'user' AND id = ?"
        try check(sqlite3_prepare_v2(handle, "SELECT document FROM record WHERE \(row)", -1, &query, nil))
        try check(
            sqlite3_prepare_v2(
                handle, "UPDATE record SET document = CAST(? || substr(document, 1) AS BLOB) WHERE \(row)", -1, &update,
                nil))
    }

    deinit {
        sqlite3_finalize(query)
        sqlite3_finalize(update)
        sqlite3_close_v2(handle)
    }

    func read(_ count: Int) throws {
        try check(sqlite3_exec(handle, "BEGIN", nil, nil, nil))
        var bytes = 0
        for number in 0..<count {
            try bind(Store.id(number), at: 1, of: query)
            guard sqlite3_step(query) == SQLITE_ROW else { throw CocoaError(.fileReadCorruptFile) }
            bytes += Data(bytes: sqlite3_column_blob(query, 0), count: Int(sqlite3_column_bytes(query, 0))).count
            sqlite3_reset(query)
        }
        try check(sqlite3_exec(handle, "COMMIT", nil, nil, nil))
        guard bytes > count else { throw CocoaError(.fileReadCorruptFile) }
    }

    /// Changes one row a transaction, by as many bytes as the store writes.
    func write(_ count: Int, round: Int) throws {
        for number in 0..<count {
            try bind(String(repeating: " ", count: round), at: 1, of: update)
            try bind("p\(number)", at: 2, of: update)
            guard sqlite3_step(update) == SQLITE_DONE else { throw CocoaError(.fileWriteUnknown) }
            sqlite3_reset(update)
        }
    }

    private func bind(_ text: String, at place: Int32, of statement: OpaquePointer?) throws {
        let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        try check(sqlite3_bind_text(statement, place, text, -1, transient))
    }

    private func check(_ code: Int32) throws {
        guard code == SQLITE_OK else { throw CocoaError(.fileReadUnknown) }
    }
}
