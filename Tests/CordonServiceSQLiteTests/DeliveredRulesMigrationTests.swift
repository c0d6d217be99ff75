import CordonIdentity
import CordonProtocol
import CordonTestSupport
import Foundation
import GRDB
import Testing

@testable import CordonService
@testable import CordonServiceSQLite

/// What a version before delivered has its end noted, so that it and the versions that it names are put away in time.
struct DeliveredRulesMigrationTests {
    private static let tenant = TenantID("contoso")
    private static let start = Date(timeIntervalSince1970: 1_700_000_000)

    /// - Parameter applied: When the app said so, in seconds after the start; nil for never.
    private static func rules(_ registration: String, _ sequence: Int64, applied: Double?) -> DeliveredRules {
        var rules = DeliveredRules(
            registrationID: registration, sequence: sequence, version: "v\(sequence)",
            delivered: start + Double(sequence), policies: [], allowedAccounts: nil)
        rules.applied = applied.map { start + $0 }
        return rules
    }

    /// A store as the version before left it, with records.
    private static func store(_ file: URL, _ records: [any StoredRecord]) async throws {
        let storage = try SQLiteStorage(file: file)
        try await storage.write(tenant) { transaction in for record in records { try transaction.save(record) } }
        try storage.close()
        let queue = try DatabaseQueue(path: file.path)
        try await queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA user_version = 3") }
        try queue.close()
    }

    @Test func `what was delivered before the conversion ends where later rules came into force, or with its app`()
        async throws
    {
        let registration = Registration(
            id: "kept",
            account: ManagedAccount(id: "oid-a", tenant: Self.tenant, userPrincipalName: "a@contoso.example"),
            key: SoftwareSigningKey().publicKey, source: .appRegistered, created: Self.start,
            application: .init(bundleID: "com.example.notes", version: "1", sdkVersion: "1"),
            device: .init(tag: "t", osVersion: "18", model: "m"))
        // By their ids, 10 comes before 2, and "kept-not" before "kept".
        let records: [any StoredRecord] = [
            registration, Self.rules("kept", 1, applied: 100), Self.rules("kept", 2, applied: nil),
            Self.rules("kept", 9, applied: 200), Self.rules("kept", 10, applied: 300),
            Self.rules("kept", 11, applied: nil),
            Self.rules("kept-not", 1, applied: 100), Self.rules("kept-not", 2, applied: 150),
        ]
        try await withStoreFile { file in
            try await Self.store(file, records)
            let before = Date()
            let storage = try SQLiteStorage(file: file)
            let (all, due) = try await storage.read(Self.tenant) { records in
                (
                    try records.records(DeliveredRules.self),
                    try records.records(DeliveredRules.self, where: .due, in: "ended/"..<"ended0", limit: 99)
                )
            }
            let ends = Dictionary(uniqueKeysWithValues: all.map { ($0.storageID, $0.superseded) })
            #expect(ends.count == 7)
            #expect(ends["kept/1"] == Self.start + 200 && ends["kept/2"] == Self.start + 200)
            #expect(ends["kept/9"] == Self.start + 300)
            // The app may have these in force still.
            #expect(ends["kept/10"] == .some(nil) && ends["kept/11"] == .some(nil))
            // Nothing says when the other's registration was closed.
            #expect(ends["kept-not/1"] == Self.start + 150)
            let end = try #require(ends["kept-not/2"] ?? nil)
            #expect(end > before - 2 && end <= Date())
            #expect(Set(due.map(\.storageID)) == ["kept/1", "kept/2", "kept/9", "kept-not/1", "kept-not/2"])
            try storage.close()
        }
    }
}
