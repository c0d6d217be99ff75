import CordonIdentity
import CordonProtocol
import CordonTestSupport
import Foundation
import GRDB
import Testing

@testable import CordonService
@testable import CordonServiceSQLite

/// A store with many rows is brought to the present version with every row as it was (the benchmark does the same with a million).
struct LargeMigrationTests {
    private static let tenant = TenantID("contoso")
    private static let registrations = 9_000

    /// A store as the first version wrote it: lists of members in groups, and no look-ups by time.
    private func store(in folder: URL) throws -> URL {
        let file = folder.appending(path: "service.sqlite")
        let account = ManagedAccount(id: "oid-#", tenant: Self.tenant, userPrincipalName: "#@contoso.example")
        let registration = Registration(
            id: "r-#", account: account, key: SoftwareSigningKey().publicKey, source: .appRegistered,
            created: Date(timeIntervalSince1970: 7_200),
            application: .init(bundleID: "com.example.notes", version: "1", sdkVersion: "1"),
            device: .init(tag: "t-#", osVersion: "18", model: "m"))
        let user = DirectoryUser(id: "oid-#", userPrincipalName: "#@contoso.example", displayName: "#")
        let queue = try DatabaseQueue(path: file.path)
        try queue.write { database in
            for step in StorageMigrations.steps.prefix(1) { try step.run(on: database) }
            for (kind, id, document) in [
                ("registration", "r-#", try StorageCoding.encode(registration)),
                ("user", "oid-#", try StorageCoding.encode(user)),
            ] {
                try database.execute(
                    sql: """
                        WITH RECURSIVE number (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM number WHERE i < ?)
                        INSERT INTO record SELECT 'contoso', ?, replace(?, '#', i), CAST(replace(?, '#', i) AS BLOB) FROM number
                        """,
                    arguments: [Self.registrations, kind, id, String(decoding: document, as: UTF8.self)])
            }
            for (kind, name, value) in [
                ("registration", "user", "'oid-' || substr(id, 3)"), ("registration", "key", "'k'"),
                ("registration", "state", "'active'"), ("registration", "app", "'com.example.notes'"),
                ("user", "name", "substr(id, 5) || '@contoso.example'"),
            ] {
                let value = name == "key" ? "'\(registration.key.thumbprint)'" : value
                try database.execute(
                    sql:
                        "INSERT INTO lookup SELECT tenant, kind, '\(name)', \(value), id FROM record WHERE kind = '\(kind)'"
                )
            }
            // Ten groups, each of two hundred people and of the group before it.
            for group in 0..<10 {
                let people = (1...200).map { "{\"user\":{\"_0\":\"oid-\(group * 200 + $0)\"}}" }
                let inner = group == 0 ? [] : ["{\"group\":{\"_0\":\"g\(group - 1)\"}}"]
                let members = (people + inner).joined(separator: ",")
                try database.execute(
                    sql: "INSERT INTO record VALUES ('contoso', 'group', ?, CAST(? AS BLOB))",
                    arguments: ["g\(group)", "{\"displayName\":\"G\",\"id\":\"g\(group)\",\"members\":[\(members)]}"])
            }
            try database.execute(sql: "PRAGMA application_id = \(StorageMigrations.applicationID)")
            try database.execute(sql: "PRAGMA user_version = 1")
        }
        try queue.close()
        return file
    }

    private func rows(_ sql: String, of file: URL) throws -> [[String]] {
        let queue = try DatabaseQueue(path: file.path)
        defer { try? queue.close() }
        return try queue.read { database in
            try Row.fetchAll(database, sql: sql).map { row in (0..<row.count).map { row[$0] } }
        }
    }

    @Test func `a store of twenty thousand rows has every row after the conversion, and look-ups for each`()
        async throws
    {
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        let file = try store(in: folder)
        let kept = """
            SELECT kind, id, CAST(document AS TEXT) FROM record WHERE kind IN ('registration', 'user') ORDER BY kind, id
            """
        let before = try rows(kept, of: file)
        #expect(before.count == 2 * Self.registrations)
        try SQLiteStorage(file: file).close()
        #expect(try rows(kept, of: file) == before)
        let members = try rows("SELECT id FROM record WHERE kind = 'membership'", of: file)
        let expected = (0..<10).flatMap { group in
            (1...200).map { "g\(group)/u/oid-\(group * 200 + $0)" } + (group == 0 ? [] : ["g\(group)/g/g\(group - 1)"])
        }
        #expect(Set(members.joined()) == Set(expected) && members.count == expected.count)
        // What the present code would look a registration up by, of each.
        var lookups: [String: Set<String>] = [:]
        for row in try rows("SELECT id, name || '=' || value FROM lookup WHERE kind = 'registration'", of: file) {
            lookups[row[0], default: []].insert(row[1])
        }
        #expect(lookups.count == Self.registrations)
        let storage = try SQLiteStorage(file: file)
        let wrong = try await storage.read(Self.tenant) { [lookups] records in
            try records.records(Registration.self).count { registration in
                lookups[registration.id] != Set(registration.lookups.map { "\($0.key.rawValue)=\($0.value)" })
            }
        }
        #expect(wrong == 0)
        try storage.close()
    }
}
