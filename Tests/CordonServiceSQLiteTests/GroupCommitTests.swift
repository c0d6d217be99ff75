import CordonIdentity
import CordonService
import CordonTestSupport
import Foundation
import Testing

@testable import CordonServiceSQLite

/// Writes that share a sync to the disk.
@Suite struct GroupCommitTests {
    private static let tenant = TenantID("contoso")

    private static func user(_ number: Int) -> DirectoryUser {
        DirectoryUser(id: "u\(number)", userPrincipalName: "u\(number)@contoso.example", displayName: "U")
    }

    private func withStorage(_ body: (SQLiteStorage) async throws -> Void) async throws {
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        let storage = try SQLiteStorage(file: folder.appending(path: "store.sqlite"))
        try await body(storage)
        try storage.close()
    }

    @Test func `one that fails leaves nothing, and the others at the same time are kept`() async throws {
        try await withStorage { storage in
            let outcomes = await withTaskGroup(of: (Int, Bool).self) { group in
                for number in 0..<300 {
                    group.addTask {
                        let isKept: Void? = try? await storage.write(Self.tenant) { records in
                            try records.save(Self.user(number))
                            if number.isMultiple(of: 3) { throw ServiceError(.conflict, "on purpose") }
                        }
                        return (number, isKept != nil)
                    }
                }
                return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
            }
            #expect(outcomes.allSatisfy { $0.value == !$0.key.isMultiple(of: 3) })
            let there = try await storage.read(Self.tenant) { records in
                try records.records(DirectoryUser.self).map(\.id)
            }
            #expect(Set(there) == Set((0..<300).filter { !$0.isMultiple(of: 3) }.map { "u\($0)" }))
        }
    }

    @Test func `each sees what came before it, so that no count is lost`() async throws {
        try await withStorage { storage in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<200 {
                    group.addTask {
                        try await storage.write(Self.tenant) { records in
                            var settings = try records.settings()
                            settings.targetingRevision += 1
                            try records.save(settings)
                        }
                    }
                }
                try await group.waitForAll()
            }
            let count = try await storage.read(Self.tenant) { records in
                try records.settings().targetingRevision
            }
            #expect(count == 200)
        }
    }

    /// A write whose body goes on until another waits for it, for ten seconds at most; whether one did.
    private static func waitedFor(in storage: SQLiteStorage) async throws -> Bool {
        try await storage.write(tenant) { records in
            try records.save(user(1))
            let start = ContinuousClock.now
            while !records.isWaitedFor, start.duration(to: .now) < .seconds(10) { usleep(1_000) }
            return records.isWaitedFor
        }
    }

    @Test func `a write that another waits for hears of it, and one that is alone does not`() async throws {
        try await withStorage { storage in
            #expect(try await storage.write(Self.tenant) { !$0.isWaitedFor })
            async let first = Self.waitedFor(in: storage)
            // Until the first one writes, so that the second is not the one that is waited for.
            try await Task.sleep(for: .milliseconds(50))
            try await storage.write(Self.tenant) { try $0.save(Self.user(2)) }
            #expect(try await first)
            let there = try await storage.read(Self.tenant) { try $0.records(DirectoryUser.self).map(\.id) }
            #expect(there == ["u1", "u2"])
        }
    }

    @Test func `one that joins a write under way and fails takes nothing of that one with it`() async throws {
        try await withStorage { storage in
            async let first = Self.waitedFor(in: storage)
            try await Task.sleep(for: .milliseconds(50))
            await #expect(throws: ServiceError.self) {
                try await storage.write(Self.tenant) { records in
                    try records.save(Self.user(2))
                    throw ServiceError(.conflict, "on purpose")
                }
            }
            #expect(try await first)
            let there = try await storage.read(Self.tenant) { try $0.records(DirectoryUser.self).map(\.id) }
            #expect(there == ["u1"])
        }
    }
}
