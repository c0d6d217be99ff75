import CordonIdentity
import CordonProtocol
import CordonService
import CordonServiceSQLite
import Foundation
import GRDBSQLite

/// A store with so many people and registrations, made by a generator: the service itself makes one of each, with its rules in
/// force, and SQLite copies their rows with other numbers.
struct GrowthStore {
    /// The number in the rows that are copied.
    private static let pattern = 99_999_999
    /// How many registrations come in one transaction.
    private static let step = 100_000

    static let application = ApplicationFacts(bundleID: ServiceProcess.bundleID, version: "1", sdkVersion: "1")

    let registrations: Int
    let folder: URL
    var file: URL { folder.appending(path: "service.sqlite") }
    private var keyFile: URL { folder.appending(path: "device.key") }

    init(registrations: Int, in folder: URL) {
        self.registrations = registrations
        self.folder = folder.appending(path: "growth-\(registrations)")
    }

    static func person(_ number: Int) -> String { String(format: "p-%08d", number) }

    static func id(_ number: Int) -> String { String(format: "r-%08d", number) }

    static func device(_ number: Int) -> DeviceDescription {
        DeviceDescription(tag: String(format: "t-%08d", number), osVersion: "18", model: "m")
    }

    static func account(_ number: Int) -> ManagedAccount {
        ManagedAccount(
            id: AccountID(person(number)), tenant: ServiceProcess.tenant,
            userPrincipalName: "\(person(number))@contoso.example")
    }

    /// The key of every device, kept with the store, so that a later run is the same devices.
    func deviceKey() throws -> SoftwareSigningKey {
        try SoftwareSigningKey(rawRepresentation: Data(contentsOf: keyFile))
    }

    /// Makes what is missing; goes on where an earlier run was ended.
    func fill() async throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        if !FileManager.default.fileExists(atPath: keyFile.path) {
            try SoftwareSigningKey().rawRepresentation.write(to: keyFile)
        }
        let mark = folder.appending(path: "filled")
        guard !FileManager.default.fileExists(atPath: mark.path) else { return }
        try await Growth.makePattern(Self.pattern, in: self)
        let copier = try RowCopier(file, tenant: ServiceProcess.tenant.rawValue, pattern: String(Self.pattern))
        var start = try copier.count(of: "registration")
        while start < registrations {
            let end = min(start + Self.step, registrations)
            try copier.copy(start..<end) { kind, id in
                guard kind == "membership" else { return registrations }
                return id.hasPrefix("few/") ? Growth.targeted : Growth.crowd
            }
            FileHandle.standardError.write(Data("growth \(registrations): \(end) rows made\n".utf8))
            start = end
        }
        try copier.close()
        try Data().write(to: mark)
    }

    /// Takes away what an earlier run left to tell, which would go on beside this one.
    func forgetAnnouncements() async throws {
        let storage = try SQLiteStorage(file: file)
        try await storage.write(ServiceProcess.tenant) { transaction in
            let left = try transaction.identifiers(Announcement.self, of: .all, after: nil, limit: .max)
            try transaction.remove(Announcement.self, ids: left)
        }
        try storage.close()
    }
}

/// Copies the rows of a store that have a number in their ids, with other numbers in its place, by SQLite's own interface.
private final class RowCopier {
    private var handle: OpaquePointer?
    private let tenant: String
    private let pattern: String
    private var copied: [(sql: String, kind: String, id: String)] = []

    /// Takes the rows to copy out of the store.
    init(_ file: URL, tenant: String, pattern: String) throws {
        self.tenant = tenant
        self.pattern = pattern
        try check(sqlite3_open_v2(file.path, &handle, SQLITE_OPEN_READWRITE, nil))
        try execute("PRAGMA synchronous = OFF; PRAGMA cache_size = -400000")
        for table in ["record", "lookup"] {
            try execute(
                "CREATE TEMP TABLE pattern_\(table) AS SELECT * FROM \(table) WHERE instr(id, '\(pattern)') > 0")
            try execute("DELETE FROM main.\(table) WHERE instr(id, '\(pattern)') > 0")
        }
        let number = "printf('%08d', i)"
        func replaced(_ column: String) -> String { "replace(\(column), '\(pattern)', \(number))" }
        for (kind, id) in try rows("SELECT kind, id FROM pattern_record ORDER BY kind, id") {
            copied.append(
                (
                    """
                    INSERT INTO main.record SELECT tenant, kind, \(replaced("id")),
                    CAST(\(replaced("CAST(document AS TEXT)")) AS BLOB)
                    FROM number CROSS JOIN pattern_record WHERE kind = '\(kind)' AND id = '\(id)'
                    """, kind, id
                ))
            for (name, _) in try rows("SELECT name, id FROM pattern_lookup WHERE kind = '\(kind)' AND id = '\(id)'") {
                copied.append(
                    (
                        """
                        INSERT INTO main.lookup SELECT tenant, kind, name, \(replaced("value")), \(replaced("id"))
                        FROM number CROSS JOIN pattern_lookup
                        WHERE kind = '\(kind)' AND id = '\(id)' AND name = '\(name)'
                        """, kind, id
                    ))
            }
        }
    }

    deinit { sqlite3_close_v2(handle) }

    /// How many records of a kind there are.
    func count(of kind: String) throws -> Int {
        let sql = "SELECT count(*), '' FROM record WHERE tenant = '\(tenant)' AND kind = '\(kind)'"
        return try rows(sql).first.flatMap { Int($0.0) } ?? 0
    }

    /// Makes the rows of some numbers, in one transaction.
    ///
    /// - Parameter most: Up to which number there are rows of a kind and id.
    func copy(_ numbers: Range<Int>, upTo most: (_ kind: String, _ id: String) -> Int) throws {
        try execute("BEGIN IMMEDIATE")
        for row in copied {
            let end = min(numbers.upperBound, most(row.kind, row.id))
            guard numbers.lowerBound < end else { continue }
            try execute(
                """
                WITH RECURSIVE number (i) AS (
                    SELECT \(numbers.lowerBound) UNION ALL SELECT i + 1 FROM number WHERE i + 1 < \(end)
                ) \(row.sql)
                """)
        }
        try execute("COMMIT")
    }

    /// Writes everything into the file.
    func close() throws {
        try execute("PRAGMA wal_checkpoint(TRUNCATE)")
        try check(sqlite3_close_v2(handle))
        handle = nil
    }

    private func rows(_ sql: String) throws -> [(String, String)] {
        var statement: OpaquePointer?
        try check(sqlite3_prepare_v2(handle, sql, -1, &statement, nil))
        defer { sqlite3_finalize(statement) }
        var found: [(String, String)] = []
        while sqlite3_step(statement) == SQLITE_ROW {
            guard let first = sqlite3_column_text(statement, 0), let second = sqlite3_column_text(statement, 1) else {
                throw CocoaError(.fileReadCorruptFile)
            }
            found.append((String(cString: first), String(cString: second)))
        }
        return found
    }

    private func execute(_ sql: String) throws { try check(sqlite3_exec(handle, sql, nil, nil, nil)) }

    private func check(_ code: Int32) throws {
        guard code == SQLITE_OK else {
            throw GrowthFailure(reason: handle.map { String(cString: sqlite3_errmsg($0)) } ?? "SQLite: \(code)")
        }
    }
}

/// Why a store could not be made.
struct GrowthFailure: Error { let reason: String }
