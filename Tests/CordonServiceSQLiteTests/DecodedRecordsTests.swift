import CordonBase
import CordonIdentity
import CordonService
import Foundation
import Testing

@testable import CordonServiceSQLite

/// Decoded records are remembered, and never told when the store says otherwise.
struct DecodedRecordsTests {
    private static let tenant = TenantID("contoso.example")

    private func name(in storage: SQLiteStorage) async throws -> String? {
        try await storage.read(Self.tenant) { records in
            let alone = try records.record(DirectoryUser.self, "oid-1")?.displayName
            let lists = [
                try records.records(DirectoryUser.self, where: nil),
                try records.page(DirectoryUser.self, of: .all, after: nil, limit: 10),
                try records.records(DirectoryUser.self, where: .shown, in: ""..<"\u{10FFFF}", limit: 10),
            ]
            #expect(lists.map { $0.map(\.displayName) } == Array(repeating: alone.map { [$0] } ?? [], count: 3))
            return alone
        }
    }

    private func save(_ name: String, in storage: SQLiteStorage) async throws {
        try await storage.write(Self.tenant) { transaction in
            try transaction.save(
                DirectoryUser(id: "oid-1", userPrincipalName: "worker@contoso.example", displayName: name))
        }
    }

    @Test func `what another connection wrote to the store is told at once`() async throws {
        try await withStoreFile { file in
            let (reader, writer) = (try SQLiteStorage(file: file), try SQLiteStorage(file: file))
            try await save("before", in: writer)
            #expect(try await name(in: reader) == "before")
            try await save("after", in: writer)
            #expect(try await name(in: reader) == "after")
        }
    }

    @Test func `a change that was given up is not told`() async throws {
        try await withStoreFile { file in
            let storage = try SQLiteStorage(file: file)
            try await save("kept", in: storage)
            await #expect(throws: ServiceError(.internalError, "")) {
                try await storage.write(Self.tenant) { transaction in
                    try transaction.save(
                        DirectoryUser(id: "oid-1", userPrincipalName: "worker@contoso.example", displayName: "given up")
                    )
                    _ = try transaction.record(DirectoryUser.self, "oid-1")
                    throw ServiceError(.internalError, "given up")
                }
            }
            #expect(try await name(in: storage) == "kept")
        }
    }

    @Test func `one organisation's record is not told to another, nor beyond the bound`() throws {
        let decoded = DecodedRecords(capacity: 4)
        for number in 0..<50 {
            for tenant in ["a", "b"] {
                let user = DirectoryUser(
                    id: "u\(number)", userPrincipalName: "\(tenant)@x.example", displayName: tenant)
                let document = try StorageCoding.encode(user)
                for _ in 0..<2 {
                    let found = try document.withUnsafeBytes { bytes in
                        try decoded.record(DirectoryUser.self, user.id, of: tenant, in: bytes)
                    }
                    #expect(found == user)
                }
            }
        }
        #expect(throws: (any Error).self) {
            try Data("{}".utf8).withUnsafeBytes { bytes in
                try decoded.record(DirectoryUser.self, "u49", of: "a", in: bytes)
            }
        }
    }

    @Test func `what is written over or removed is remembered no more, and neither is what nobody has read for hours`()
        async throws
    {
        try await withStoreFile { file in
            let storage = try SQLiteStorage(file: file)
            try await save("first", in: storage)
            #expect(try await name(in: storage) == "first")
            #expect(storage.decoded.count == 1)
            try await save("second", in: storage)
            #expect(storage.decoded.count == 0 && storage.decoded.size == 0)
            #expect(try await name(in: storage) == "second")
            try await storage.write(Self.tenant) { try $0.remove(DirectoryUser.self, "oid-1") }
            #expect(storage.decoded.count == 0 && storage.decoded.size == 0)
        }
        let moment = Locked(ContinuousClock.now)
        let decoded = DecodedRecords(now: { moment.withLock { $0 } })
        func read(_ id: String) throws {
            let document = try StorageCoding.encode(DirectoryUser(id: id, userPrincipalName: id, displayName: id))
            _ = try document.withUnsafeBytes { try decoded.record(DirectoryUser.self, id, of: "a", in: $0) }
        }
        for number in 0..<100 { try read("morning-\(number)") }
        for hour in 1...2 {
            moment.withLock { $0 += .seconds(3_600) }
            try read("later-\(hour)")
        }
        #expect(decoded.count == 2)
    }

    @Test func `what is remembered is bounded in bytes, and pieces of logs are not remembered`() throws {
        let decoded = DecodedRecords(bytes: 1 << 20)
        func read(_ record: some StoredRecord) throws {
            let document = try StorageCoding.encode(record)
            func again<Record: StoredRecord>(_ record: Record) throws -> Record {
                try document.withUnsafeBytes { try decoded.record(Record.self, record.storageID, of: "a", in: $0) }
            }
            for _ in 0..<2 { #expect(try again(record) == record) }
        }
        for number in 0..<100 {
            let name = String(repeating: "n", count: 40_000 + number)
            try read(DirectoryUser(id: "u\(number % 30)", userPrincipalName: "a@x.example", displayName: name))
            #expect(decoded.size <= 1 << 20)
        }
        let full = decoded.size
        #expect(full > 1 << 19, "the control: these are remembered")
        for number in 0..<20 {
            let bytes = Data(repeating: 7, count: 256 << 10)
            try read(LogPiece(collectionID: "c", offset: number << 18, bytes: bytes))
        }
        #expect(decoded.size == full)
    }

    @Test func `a record is found by its very id, whatever that is, also by a statement that failed before`()
        async throws
    {
        let ids = ["", "a", "A", "o'r\"x; --", "\u{E4}\u{1F600}", String(repeating: "long", count: 500)]
        try await withStoreFile { file in
            let storage = try SQLiteStorage(file: file)
            try await storage.write(Self.tenant) { transaction in
                for id in ids {
                    try transaction.save(DirectoryUser(id: id, userPrincipalName: "\(id.count)@x", displayName: id))
                }
            }
            let (found, missing, named) = try await storage.read(Self.tenant) { records in
                // Thrown out of the middle of the rows; the statement is the connection's, and is used again right after.
                _ = try? records.records(StrangeUser.self, where: nil)
                return (
                    try ids.map { try records.record(DirectoryUser.self, $0.lowercased())?.displayName },
                    try records.record(DirectoryUser.self, "b"),
                    try records.records(DirectoryUser.self, where: (.name, "1@x")).map(\.displayName)
                )
            }
            #expect(found.count == ids.count && missing == nil && named.allSatisfy { $0.count == 1 })
            for (id, name) in zip(ids, found) { #expect(name?.lowercased() == id.lowercased()) }
        }
    }

    /// A person as nothing in a store says it.
    private struct StrangeUser: StoredRecord {
        let storageID: String
        let strange: Int
        static var storageKind: StorageKind { .user }
    }
}
