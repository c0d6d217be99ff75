import CordonBase
import CordonIdentity
import CordonService
import CordonTestSupport
import Foundation
import Testing

@testable import CordonServiceSQLite

/// Writes that share a sync to the disk.
@Suite(.tags(.machineAlone)) struct GroupCommitTests {
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

    /// A write whose body says that it is under way, and goes on until another waits for it, for some minutes at most; whether one did.
    private static func waitedFor(in storage: SQLiteStorage, _ isUnderWay: Locked<Bool>) async throws -> Bool {
        try await storage.write(tenant) { records in
            try records.save(user(1))
            isUnderWay.withLock { $0 = true }
            let start = ContinuousClock.now
            while !records.isWaitedFor, start.duration(to: .now) < .seconds(240) { usleep(1_000) }
            return records.isWaitedFor
        }
    }

    @Test func `a write that another waits for hears of it, and one that is alone does not`() async throws {
        try await withStorage { storage in
            #expect(try await storage.write(Self.tenant) { !$0.isWaitedFor })
            let isUnderWay = Locked(false)
            async let first = Self.waitedFor(in: storage, isUnderWay)
            // The second must not be the one that is waited for.
            try await Self.until { isUnderWay.withLock(\.self) }
            try await storage.write(Self.tenant) { try $0.save(Self.user(2)) }
            #expect(try await first)
            let there = try await storage.read(Self.tenant) { try $0.records(DirectoryUser.self).map(\.id) }
            #expect(there == ["u1", "u2"])
        }
    }

    @Test func `one that joins a write under way and fails takes nothing of that one with it`() async throws {
        try await withStorage { storage in
            let isUnderWay = Locked(false)
            async let first = Self.waitedFor(in: storage, isUnderWay)
            try await Self.until { isUnderWay.withLock(\.self) }
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

    @Test func `a write behind others lets those go first that came after it`()
        async throws
    {
        try await withStorage { storage in
            let order = Locked<[String]>([])
            async let first: Void = storage.write(Self.tenant) { records in
                try records.save(Self.user(0))
                order.withLock { $0.append("under way") }
                // Until the last one waits; the one behind others is not waited for.
                let start = ContinuousClock.now
                while !records.isWaitedFor, start.duration(to: .now) < .seconds(240) { usleep(1_000) }
            }
            try await Self.until { !order.withLock(\.isEmpty) }
            async let behind: Bool = storage.writeBehind(Self.tenant) { records in
                order.withLock { $0.append("behind") }
                try records.save(Self.user(1))
                return records.isWaitedFor
            }
            // Long enough for it to be there before the last one; were it not, the order would be the same.
            try await Task.sleep(for: .milliseconds(50))
            async let last: Void = storage.write(Self.tenant) { records in
                try records.save(Self.user(2))
                order.withLock { $0.append("after it") }
            }
            _ = try await (first, last)
            #expect(try await !behind)
            #expect(order.withLock(\.self) == ["under way", "after it", "behind"])
            let there = try await storage.read(Self.tenant) { try $0.records(DirectoryUser.self).map(\.id) }
            #expect(there == ["u0", "u1", "u2"])
        }
    }

    @Test func `a write behind others comes to its turn however many others there are`() async throws {
        try await withStorage { storage in
            let (isDone, others) = (Locked(false), Locked(0))
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<8 {
                    group.addTask {
                        while !isDone.withLock(\.self) {
                            try await storage.write(Self.tenant) { try $0.save(Self.user(number)) }
                            others.withLock { $0 += 1 }
                        }
                    }
                }
                try await Self.until { others.withLock { $0 > 8 } }
                for _ in 0..<3 { try await storage.writeBehind(Self.tenant) { try $0.save(Self.user(100)) } }
                isDone.withLock { $0 = true }
                try await group.waitForAll()
            }
            let found = try await storage.read(Self.tenant) { try $0.record(DirectoryUser.self, "u100") }
            #expect(found != nil)
        }
    }

    private static func until(_ condition: () -> Bool) async throws {
        let start = ContinuousClock.now
        while !condition(), start.duration(to: .now) < .seconds(240) { await Task.yield() }
        try #require(condition())
    }
}
