import CordonIdentity
import CordonProtocol
import CordonService
import CordonTestSupport
import Foundation
import GRDB
import Testing

@testable import CordonServiceSQLite

/// A store of any older version is brought to the present one, with everything in it.
@Suite struct MigrationTests {
    /// What a store of a version holds that was written by the software of that time; frozen, as released.
    private static let content: [Int: String] = [
        1: """
        INSERT INTO record (tenant, kind, id, document) VALUES ('contoso', 'user', 'oid-a', CAST(
            '{"accountEnabled":true,"displayName":"A","id":"oid-a","isLicensed":true,"userPrincipalName":"a@contoso.example"}'
            AS BLOB));
        INSERT INTO lookup (tenant, kind, name, value, id) VALUES
            ('contoso', 'user', 'name', 'a@contoso.example', 'oid-a');
        INSERT INTO record (tenant, kind, id, document) VALUES ('contoso', 'settings', 'tenant', CAST(
            '{"targetingRevision":7}' AS BLOB));
        INSERT INTO record (tenant, kind, id, document) VALUES ('contoso', 'group', 'staff', CAST(
            '{"displayName":"Staff","id":"Staff","members":[{"user":{"_0":"OID-a"}},{"group":{"_0":"writers"}}]}' AS BLOB));
        INSERT INTO record (tenant, kind, id, document) VALUES ('contoso', 'group', 'writers', CAST(
            '{"description":"who write","displayName":"Writers","id":"writers","members":[]}' AS BLOB));
        """,
        2: memberships,
        3: memberships + shownPeople,
        4: memberships + shownPeople + shownGroups,
        5: memberships + shownPeople + shownGroups,
        6: memberships + shownPeople + shownGroups,
    ]

    /// Groups by display name.
    private static let shownGroups = """

        INSERT INTO lookup (tenant, kind, name, value, id) VALUES
            ('contoso', 'group', 'shown', 'staff' || char(1) || 'staff', 'staff'),
            ('contoso', 'group', 'shown', 'writers' || char(1) || 'writers', 'writers');
        """

    /// People by display name.
    private static let shownPeople = """

        INSERT INTO lookup (tenant, kind, name, value, id) VALUES
            ('contoso', 'user', 'shown', 'a' || char(1) || 'oid-a', 'oid-a');
        """

    /// Members of groups as records of their own.
    private static let memberships = """
        INSERT INTO record (tenant, kind, id, document) VALUES ('contoso', 'user', 'oid-a', CAST(
            '{"accountEnabled":true,"displayName":"A","id":"oid-a","isLicensed":true,"userPrincipalName":"a@contoso.example"}'
            AS BLOB));
        INSERT INTO lookup (tenant, kind, name, value, id) VALUES
            ('contoso', 'user', 'name', 'a@contoso.example', 'oid-a');
        INSERT INTO record (tenant, kind, id, document) VALUES ('contoso', 'settings', 'tenant', CAST(
            '{"targetingRevision":7}' AS BLOB));
        INSERT INTO record (tenant, kind, id, document) VALUES ('contoso', 'group', 'staff', CAST(
            '{"displayName":"Staff","id":"Staff"}' AS BLOB));
        INSERT INTO record (tenant, kind, id, document) VALUES ('contoso', 'group', 'writers', CAST(
            '{"description":"who write","displayName":"Writers","id":"writers"}' AS BLOB));
        INSERT INTO record (tenant, kind, id, document) VALUES ('contoso', 'membership', 'staff/u/oid-a', CAST(
            '{"group":"staff","member":{"user":{"_0":"OID-a"}}}' AS BLOB));
        INSERT INTO lookup (tenant, kind, name, value, id) VALUES
            ('contoso', 'membership', 'member', 'u/oid-a', 'staff/u/oid-a');
        INSERT INTO record (tenant, kind, id, document) VALUES ('contoso', 'membership', 'staff/g/writers', CAST(
            '{"group":"staff","member":{"group":{"_0":"writers"}}}' AS BLOB));
        INSERT INTO lookup (tenant, kind, name, value, id) VALUES
            ('contoso', 'membership', 'member', 'g/writers', 'staff/g/writers'),
            ('contoso', 'membership', 'nested', 'group', 'staff/g/writers');
        """

    private func store(_ version: Int, in folder: URL) throws -> URL {
        let file = folder.appending(path: "version-\(version).sqlite")
        let queue = try DatabaseQueue(path: file.path)
        try queue.writeWithoutTransaction { database in
            for step in StorageMigrations.steps.prefix(version) { try step.run(on: database) }
            try database.execute(sql: "PRAGMA application_id = \(StorageMigrations.applicationID)")
            try database.execute(sql: "PRAGMA user_version = \(version)")
            if let content = Self.content[version] { try database.execute(sql: content) }
        }
        try queue.close()
        return file
    }

    @Test func `every released version has its content here`() {
        #expect(Set(Self.content.keys) == Set(1...StorageMigrations.current))
    }

    @Test(arguments: 0...StorageMigrations.current)
    func `a store is opened, brought up to date and read`(version: Int) async throws {
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        let file = try store(version, in: folder)
        let storage = try SQLiteStorage(file: file)
        let (users, revision) = try await storage.read(TenantID("contoso")) { records in
            (
                try records.records(DirectoryUser.self, where: (.name, "a@contoso.example")),
                try records.settings().targetingRevision
            )
        }
        #expect(users.map(\.id) == (version == 0 ? [] : ["oid-a"]))
        #expect(revision == (version == 0 ? 0 : 7))
        let (groups, members, nested) = try await storage.read(TenantID("contoso")) { records in
            (
                try records.records(GroupEntry.self),
                try records.page(GroupMembership.self, of: .beginning(with: "staff/"), after: nil, limit: 9),
                try records.records(GroupMembership.self, where: (.nested, "group"))
            )
        }
        let staff = GroupEntry(id: "Staff", displayName: "Staff")
        let writers = GroupEntry(id: "writers", displayName: "Writers", description: "who write")
        #expect(groups == (version == 0 ? [] : [staff, writers]))
        #expect(members.map(\.member) == (version == 0 ? [] : [.group("writers"), .user("OID-a")]))
        #expect(nested == members.filter { $0.member == .group("writers") })
        try storage.close()
        let queue = try DatabaseQueue(path: file.path)
        let now = try await queue.read { try Int.fetchOne($0, sql: "PRAGMA user_version") }
        #expect(now == StorageMigrations.current)
        #expect(try StorageBackup.check(file).first?.id == (version == 0 ? nil : "contoso"))
        try queue.close()
    }

    @Test func `lists are found in a store of the version that had no lookups for them`() async throws {
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        let file = folder.appending(path: "service.sqlite")
        let tenant = TenantID("contoso")
        let account = ManagedAccount(id: "oid-a", tenant: tenant, userPrincipalName: "a@contoso.example")
        let records: [any StoredRecord] = [
            DirectoryUser(id: "oid-a", userPrincipalName: "a@contoso.example", displayName: "Ada"),
            GroupEntry(id: "Staff", displayName: "Staff"),
            Registration(
                id: "r", account: account, key: SoftwareSigningKey().publicKey, source: .appRegistered, created: Date(),
                application: .init(bundleID: "com.example.notes", version: "1", sdkVersion: "1"),
                device: .init(tag: "T-1", osVersion: "18", model: "m")),
            WipeOperation(
                id: "w", registrationID: "r", account: account.id, bundleID: "com.example.notes", reason: .device,
                requestedBy: "owner", requested: Date(), notAfter: Date(), version: "v"),
            LogCollection(
                id: "l", registrationID: "r", userID: "oid-a", requestedBy: "owner", requested: Date(), notAfter: Date()
            ),
            IssuedCommand(
                id: "c", registrationID: "r", account: account.id, bundleID: "com.example.notes",
                kind: .refreshConfiguration, requestedBy: "owner", requested: Date(), notAfter: Date()),
        ]
        func lookups() async throws -> Set<[String]> {
            let queue = try DatabaseQueue(path: file.path)
            defer { try? queue.close() }
            return try await queue.read { database in
                Set(try Row.fetchAll(database, sql: "SELECT * FROM lookup").map { row in (0..<5).map { row[$0] } })
            }
        }
        let new = try SQLiteStorage(file: file)
        try await new.write(tenant) { transaction in for record in records { try transaction.save(record) } }
        try new.close()
        let wanted = try await lookups()
        #expect(Set(wanted.map { $0[2] }).isSuperset(of: ["shown", "device", "newest"]))
        for kind in ["logCollection", "command"] {
            #expect(wanted.contains { $0[1] == kind && $0[2] == "newest" }, "\(kind)")
        }
        let queue = try DatabaseQueue(path: file.path)
        try await queue.writeWithoutTransaction { database in
            try database.execute(
                sql: """
                    DELETE FROM lookup WHERE name IN ('shown', 'device', 'newest') OR kind = 'operation' AND name = 'user';
                    PRAGMA user_version = 2
                    """)
        }
        try queue.close()
        try SQLiteStorage(file: file).close()
        #expect(try await lookups() == wanted)
    }

    @Test func `what is due is found in a store of the version that did not look for it by time`() async throws {
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        let file = folder.appending(path: "service.sqlite")
        let tenant = TenantID("contoso")
        let registration = Registration(
            id: "r", account: ManagedAccount(id: "oid-a", tenant: tenant, userPrincipalName: "a@contoso.example"),
            key: SoftwareSigningKey().publicKey, source: .appRegistered, created: Date(timeIntervalSince1970: 7_200),
            application: .init(bundleID: "com.example.notes", version: "1", sdkVersion: "1"),
            device: .init(tag: "t", osVersion: "18", model: "m"))
        func due(_ storage: SQLiteStorage) async throws -> [Registration] {
            try await storage.read(tenant) { records in
                try records.records(Registration.self, where: .due, in: "active/"..<"active0", limit: 9)
            }
        }
        let new = try SQLiteStorage(file: file)
        try await new.write(tenant) { try $0.save(registration) }
        #expect(try await due(new) == [registration])
        try new.close()
        let queue = try DatabaseQueue(path: file.path)
        try await queue.writeWithoutTransaction { database in
            try database.execute(sql: "DELETE FROM lookup WHERE name = 'due'")
            try database.execute(sql: "PRAGMA user_version = 1")
        }
        try queue.close()
        let old = try SQLiteStorage(file: file)
        #expect(try await due(old) == [registration])
        try old.close()
    }

    @Test func `wipes that failed are counted in a store of the version that had no lookup for them`() async throws {
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        let file = folder.appending(path: "service.sqlite")
        let tenant = TenantID("contoso")
        let new = try SQLiteStorage(file: file)
        try await new.write(tenant) { transaction in
            try transaction.save(
                WipeOperation(
                    id: "o", registrationID: "r", account: AccountID("oid-a"), bundleID: "com.example.notes",
                    reason: .device, requestedBy: "owner", requested: Date(), notAfter: Date(), version: "v",
                    state: .failed))
        }
        try new.close()
        let queue = try DatabaseQueue(path: file.path)
        try await queue.writeWithoutTransaction { database in
            try database.execute(
                sql: "DELETE FROM lookup WHERE kind = 'operation' AND name = 'state'; PRAGMA user_version = 5")
        }
        try queue.close()
        let old = try SQLiteStorage(file: file)
        let failed = try await old.read(tenant) { records in
            try records.count(WipeOperation.self, of: .found(by: .state, "failed"), atMost: .max)
        }
        #expect(failed == 1)
        try old.close()
    }
}
