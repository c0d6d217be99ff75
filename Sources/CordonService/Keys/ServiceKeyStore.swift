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

    /// Whether the secret of a key is here; that of the root key may be kept away.
    ///
    /// - Throws: ``ServiceError`` with code `keyUnavailable` when that cannot be found out.
    func holds(_ id: String, of tenant: TenantID) throws(ServiceError) -> Bool

    /// The newest delegation of the root key, compact JWS; nil where there is none.
    ///
    /// - Throws: ``ServiceError`` with code `keyUnavailable`.
    func delegation(of tenant: TenantID) throws(ServiceError) -> String?

    /// Keeps a delegation durably in place of the one before; the key that it names must be here already.
    ///
    /// - Throws: ``ServiceError`` with code `keyUnavailable`.
    func store(delegation: String, of tenant: TenantID) throws(ServiceError)
}

/// Keys in this process's memory; for tests.
public final class InMemoryServiceKeyStore: ServiceKeyStore {
    private let keys = Locked<[String: SoftwareSigningKey]>([:])
    private let delegations = Locked<[TenantID: String]>([:])

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

    /// Whether a key is here.
    public func holds(_ id: String, of tenant: TenantID) throws(ServiceError) -> Bool {
        keys.withLock { $0[tenant.rawValue + "/" + id] != nil }
    }

    /// The newest delegation.
    public func delegation(of tenant: TenantID) throws(ServiceError) -> String? { delegations.withLock { $0[tenant] } }

    /// Keeps a delegation as long as the process lasts.
    public func store(delegation: String, of tenant: TenantID) throws(ServiceError) {
        delegations.withLock { $0[tenant] = delegation }
    }

    /// Forgets a key, as when its file is moved away.
    public func remove(_ id: String, of tenant: TenantID) {
        keys.withLock { $0[tenant.rawValue + "/" + id] = nil }
    }
}
