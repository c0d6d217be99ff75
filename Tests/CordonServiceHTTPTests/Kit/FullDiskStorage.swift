import CordonBase
import CordonIdentity
import CordonService

/// A store in memory on a disk that a test fills.
final class FullDiskStorage: ServiceStorage {
    let isFull = Locked(false)
    private let storage = InMemoryStorage()

    func read<Result: Sendable>(
        _ tenant: TenantID, _ body: @escaping @Sendable (any StorageReader) throws -> Result
    ) async throws -> Result { try await storage.read(tenant, body) }

    func write<Result: Sendable>(
        _ tenant: TenantID, _ body: @escaping @Sendable (any StorageTransaction) throws -> Result
    ) async throws -> Result {
        guard !isFull.withLock({ $0 }) else { throw ServiceError(.storageUnavailable, "the disk is full") }
        return try await storage.write(tenant, body)
    }
}
