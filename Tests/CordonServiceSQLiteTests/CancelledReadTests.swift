import CordonBase
import CordonIdentity
import CordonService
import CordonServiceSQLite
import Foundation
import Testing

/// What nobody waits for any more is not read to its end.
struct CancelledReadTests {
    private static let tenant = TenantID("contoso.example")
    private static let lookUps = 10_000

    /// Looks for many records, and waits after the first until the test goes on.
    ///
    /// - Returns: How many were looked for.
    private static func lookUps(
        in storage: SQLiteStorage, whileReading body: @escaping @Sendable (Task<Void, any Error>) -> Void
    ) async throws -> Int {
        let (begun, begins) = AsyncStream<Void>.makeStream()
        let goesOn = DispatchSemaphore(value: 0)
        let count = Locked(0)
        let reading = Task {
            try await storage.read(tenant) { records in
                for number in 0..<lookUps {
                    _ = try records.record(DirectoryUser.self, "oid-\(number)")
                    count.withLock { $0 += 1 }
                    guard number == 0 else { continue }
                    begins.yield()
                    goesOn.wait()
                }
            }
        }
        for await _ in begun { break }
        body(reading)
        goesOn.signal()
        let outcome = await reading.result
        let done = count.withLock { $0 }
        if done == lookUps { try outcome.get() } else { #expect(throws: ServiceError.self) { try outcome.get() } }
        return done
    }

    @Test(.timeLimit(.minutes(10))) func `a cancelled read of 10,000 look-ups ends early, and the next reads all`()
        async throws
    {
        try await withStoreFile { file in
            let storage = try SQLiteStorage(file: file)
            #expect(try await Self.lookUps(in: storage) { $0.cancel() } == 1)
            #expect(try await Self.lookUps(in: storage) { _ in } == Self.lookUps)
            try storage.close()
        }
    }
}
