import CordonBase
import CordonIdentity
import CordonProtocol
import CordonService
import Foundation

/// Keys in memory, with what was stored for a test to look for.
final class RecordingKeyStore: ServiceKeyStore {
    private let keys = InMemoryServiceKeyStore()
    private let stored = Locked<[(Data, String)]>([])

    var secrets: [(Data, String)] { stored.withLock { $0 } }

    func store(_ key: SoftwareSigningKey, of tenant: TenantID) throws(ServiceError) {
        stored.withLock { $0.append((key.rawRepresentation, key.publicKey.thumbprint)) }
        try keys.store(key, of: tenant)
    }

    func key(_ id: String, of tenant: TenantID) throws(ServiceError) -> SoftwareSigningKey {
        try keys.key(id, of: tenant)
    }

    func holds(_ id: String, of tenant: TenantID) throws(ServiceError) -> Bool { try keys.holds(id, of: tenant) }

    func delegation(of tenant: TenantID) throws(ServiceError) -> String? { try keys.delegation(of: tenant) }

    func store(delegation: String, of tenant: TenantID) throws(ServiceError) {
        try keys.store(delegation: delegation, of: tenant)
    }
}
