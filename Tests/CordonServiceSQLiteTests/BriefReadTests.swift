import CordonBase
import CordonIdentity
import CordonService
import CordonServiceSQLite
import Foundation
import Testing

/// Check-ins read over connections of their own.
struct BriefReadTests {
    private static let tenant = TenantID("contoso.example")
    /// More lists than the store has connections for them.
    private static let lists = 12

    @Test(.timeLimit(.minutes(10))) func `a brief read does not wait for lists, however many there are`() async throws {
        try await withStoreFile { file in
            let storage = try SQLiteStorage(file: file)
            try await storage.write(Self.tenant) { transaction in
                try transaction.save(
                    DirectoryUser(id: "oid-1", userPrincipalName: "a@contoso.example", displayName: "A"))
            }
            let isOver = DispatchSemaphore(value: 0)
            let release: @Sendable () -> Void = { for _ in 0..<Self.lists { isOver.signal() } }
            let (begun, begins) = AsyncStream<Void>.makeStream()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<Self.lists {
                    group.addTask {
                        try await storage.read(Self.tenant) { _ in
                            begins.yield()
                            isOver.wait()
                        }
                    }
                }
                // Eight have every connection for lists, and the others wait for one.
                var count = 0
                for await _ in begun {
                    count += 1
                    if count == 8 { break }
                }
                let name = try await withTaskCancellationHandler {
                    try await storage.readBriefly(Self.tenant) { records in
                        try records.record(DirectoryUser.self, "oid-1")?.displayName
                    }
                } onCancel: {
                    release()
                }
                #expect(name == "A")
                release()
                try await group.waitForAll()
            }
            try storage.close()
            await #expect(throws: ServiceError.self) {
                try await storage.readBriefly(Self.tenant) { try $0.settings() }
            }
        }
    }
}
