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
            try records.record(DirectoryUser.self, "oid-1")?.displayName
        }
    }

    private func save(_ name: String, in storage: SQLiteStorage) async throws {
        try await storage.write(Self.tenant) { transaction in
            try transaction.save(
                DirectoryUser(id: "oid-1", userPrincipalName: "worker@contoso.example", displayName: name))
        }
    }

    @Test func `what somebody else wrote to the store is told at once`() async throws {
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
                #expect(try decoded.record(DirectoryUser.self, user.id, of: tenant, in: document) == user)
                #expect(try decoded.record(DirectoryUser.self, user.id, of: tenant, in: document) == user)
            }
        }
        #expect(throws: (any Error).self) {
            try decoded.record(DirectoryUser.self, "u49", of: "a", in: Data("{}".utf8))
        }
    }
}
