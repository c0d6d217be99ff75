import CordonBase
import CordonIdentity
import CordonService

/// Makes another change once, between what a request has read and what it writes.
final class MeanwhileStorage: ServiceStorage {
    private struct Waiting {
        var reads: Int
        let isRead: @Sendable (any Sendable) -> Bool
        let body: @Sendable () async throws -> Void
    }

    private let storage = InMemoryStorage()
    private let waiting = Locked<Waiting?>(nil)

    /// Runs a body once something was read so often.
    func meanwhile<Read: Sendable>(
        after type: Read.Type, read times: Int = 1, _ body: @escaping @Sendable () async throws -> Void
    ) {
        // Not `is`, which is true of every empty list.
        waiting.withLock { $0 = Waiting(reads: times, isRead: { Swift.type(of: $0) == Read.self }, body: body) }
    }

    /// Whether nothing waits any more.
    var hasRun: Bool { waiting.withLock { $0 == nil } }

    func read<Result: Sendable>(
        _ tenant: TenantID, _ body: @escaping @Sendable (any StorageReader) throws -> Result
    ) async throws -> Result {
        let result = try await storage.read(tenant, body)
        let due = waiting.withLock { waiting -> (@Sendable () async throws -> Void)? in
            guard waiting?.isRead(result) == true else { return nil }
            waiting?.reads -= 1
            guard let body = waiting?.body, waiting?.reads == 0 else { return nil }
            waiting = nil
            return body
        }
        try await due?()
        return result
    }

    func write<Result: Sendable>(
        _ tenant: TenantID, _ body: @escaping @Sendable (any StorageTransaction) throws -> Result
    ) async throws -> Result {
        try await storage.write(tenant, body)
    }
}
