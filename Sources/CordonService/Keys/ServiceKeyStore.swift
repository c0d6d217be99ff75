internal import CordonBase
public import CordonIdentity
public import CordonProtocol
internal import Foundation

/// Where the secrets of signing keys are; never in the service's database, so that a copy of that signs nothing.
///
/// Calls may come from any thread.
public protocol ServiceKeyStore: Sendable {
    /// Keeps a key durably before it returns.
    ///
    /// - Throws: ``ServiceError`` with code `keyUnavailable`.
    func store(_ key: SoftwareSigningKey, of tenant: TenantID) throws(ServiceError)

    /// The key with an id.
    ///
    /// - Throws: ``ServiceError`` with code `keyUnavailable` when it is missing, damaged or not protected.
    func key(_ id: String, of tenant: TenantID) throws(ServiceError) -> SoftwareSigningKey
}

/// Keys in this process's memory; for tests.
public final class InMemoryServiceKeyStore: ServiceKeyStore {
    private let keys = Locked<[String: SoftwareSigningKey]>([:])

    /// Makes an empty store.
    public init() {}

    /// Keeps a key as long as the process lasts.
    public func store(_ key: SoftwareSigningKey, of tenant: TenantID) throws(ServiceError) {
        keys.withLock { $0[tenant.rawValue + "/" + key.publicKey.thumbprint] = key }
    }

    /// The key with an id.
    public func key(_ id: String, of tenant: TenantID) throws(ServiceError) -> SoftwareSigningKey {
        guard let key = keys.withLock({ $0[tenant.rawValue + "/" + id] }) else {
            throw ServiceError(.keyUnavailable, "a signing key is missing", place: id)
        }
        return key
    }
}
