import CordonBase
import CordonIdentity

@testable import CordonService

/// A store in memory on a disk that a test fills.
final class FullDiskStorage: ServiceStorage {
    let isFull = Locked(false)
    /// The largest probe that finds room, in bytes; nil for any.
    let room = Locked<Int?>(nil)
    private let storage = InMemoryStorage()

    func read<Result: Sendable>(
        _ tenant: TenantID, _ body: @escaping @Sendable (any StorageReader) throws -> Result
    ) async throws -> Result { try await storage.read(tenant, body) }

    func write<Result: Sendable>(
        _ tenant: TenantID, _ body: @escaping @Sendable (any StorageTransaction) throws -> Result
    ) async throws -> Result {
        guard !isFull.withLock({ $0 }) else { throw ServiceError(.storageUnavailable, "the disk is full") }
        let room = room.withLock { $0 } ?? .max
        return try await storage.write(tenant) { transaction in
            let result = try body(transaction)
            let probe = try transaction.record(StoreProbe.self, StoreProbe.id)
            guard probe == nil || StoreProbe.size <= room else {
                throw ServiceError(.storageUnavailable, "the disk is full")
            }
            return result
        }
    }
}
