import CordonIdentity
import CordonProtocol
import CordonService
import CordonServiceSQLite
import Foundation

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

    /// The numbers of the people in the large group: half of the registrations are outside it, and where there are fewer
    /// registrations than members, the others have none.
    var crowd: Range<Int> { registrations / 2..<registrations / 2 + Growth.crowd }

    static func person(_ number: Int) -> String { String(format: "p-%08d", number) }

    static func id(_ number: Int) -> String { String(format: "r-%08d", number) }

    static func wipe(_ number: Int) -> String { String(format: "w-%08d", number) }

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
        // The group may have members beyond the last registration, in the same step.
        while start < registrations {
            let end = min(start + Self.step, registrations)
            let last = end == registrations ? max(end, crowd.upperBound) : end
            try copier.copy(start..<last) { kind, id in
                switch kind {
                case "membership": id.hasPrefix("few/") ? 0..<Growth.targeted : crowd
                // One in ten was wiped once.
                case "operation": 0..<registrations / 10
                default: 0..<registrations
                }
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

/// Copies the rows of a store that have a number in their ids, with other numbers in its place.
private struct RowCopier {
    private let file: SQLiteFile
    private let tenant: String
    private var copied: [(sql: String, kind: String, id: String)] = []

    /// Takes the rows to copy out of the store.
    init(_ url: URL, tenant: String, pattern: String) throws {
        self.tenant = tenant
        file = try SQLiteFile(url)
        for table in ["record", "lookup"] {
            try file.execute(
                "CREATE TEMP TABLE pattern_\(table) AS SELECT * FROM \(table) WHERE instr(id, '\(pattern)') > 0")
            try file.execute("DELETE FROM main.\(table) WHERE instr(id, '\(pattern)') > 0")
        }
        func replaced(_ column: String) -> String { "replace(\(column), '\(pattern)', printf('%08d', i))" }
        var rows: [(kind: String, id: String)] = []
        try file.each("SELECT kind, id FROM pattern_record ORDER BY kind, id") { rows.append(($0, $1)) }
        for (kind, id) in rows {
            copied.append(
                (
                    """
                    INSERT INTO main.record SELECT tenant, kind, \(replaced("id")),
                    CAST(\(replaced("CAST(document AS TEXT)")) AS BLOB)
                    FROM number CROSS JOIN pattern_record WHERE kind = '\(kind)' AND id = '\(id)'
                    """, kind, id
                ))
            var names: [String] = []
            try file.each("SELECT name, '' FROM pattern_lookup WHERE kind = '\(kind)' AND id = '\(id)'") { name, _ in
                names.append(name)
            }
            for name in names {
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

    /// How many records of a kind there are.
    func count(of kind: String) throws -> Int {
        var number = 0
        try file.each(
            "SELECT count(*), '' FROM record WHERE tenant = '\(tenant)' AND kind = '\(kind)'"
        ) { count, _ in number = Int(count) ?? 0 }
        return number
    }

    /// Makes the rows of some numbers, in one transaction.
    ///
    /// - Parameter range: For which numbers there are rows of a kind and id.
    func copy(_ numbers: Range<Int>, within range: (_ kind: String, _ id: String) -> Range<Int>) throws {
        try file.execute("BEGIN IMMEDIATE")
        for row in copied {
            let own = numbers.clamped(to: range(row.kind, row.id))
            guard !own.isEmpty else { continue }
            try file.execute(
                """
                WITH RECURSIVE number (i) AS (
                    SELECT \(own.lowerBound) UNION ALL SELECT i + 1 FROM number WHERE i + 1 < \(own.upperBound)
                ) \(row.sql)
                """)
        }
        try file.execute("COMMIT")
    }

    /// Writes everything into the file.
    func close() throws { try file.close() }
}
