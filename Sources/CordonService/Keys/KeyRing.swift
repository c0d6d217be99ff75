internal import CordonBase
internal import CordonIdentity
internal import CordonProtocol
internal import Foundation

/// Finds the key that signs now, and keeps secrets it has read in memory.
struct KeyRing: Sendable {
    private let store: any ServiceKeyStore
    private let keys = Locked<[String: SoftwareSigningKey]>([:])

    init(store: any ServiceKeyStore) {
        self.store = store
    }

    /// Makes a key: the secret is durable before its public record is handed out to be saved.
    func make(
        _ role: ServiceSigningKey.Role, of tenant: TenantID, created: Date, activeFrom: Date
    ) throws(ServiceError) -> ServiceSigningKey {
        let key = SoftwareSigningKey()
        try store.store(key, of: tenant)
        return ServiceSigningKey(role: role, publicKey: key.publicKey, created: created, activeFrom: activeFrom)
    }

    /// The newest key of a role that is active and published.
    func signer(
        _ role: ServiceSigningKey.Role, of tenant: TenantID, in records: some StorageReader, at now: Date
    ) throws(ServiceError) -> SoftwareSigningKey {
        try signer(role, of: tenant, among: records.records(ServiceSigningKey.self), at: now)
    }

    /// The newest key of a role that is active among some: the one made last, so that a key that was overtaken before it
    /// began never signs, and none that has left the key set.
    func signer(
        _ role: ServiceSigningKey.Role, of tenant: TenantID, among keys: [ServiceSigningKey], at now: Date
    ) throws(ServiceError) -> SoftwareSigningKey {
        let active = keys.filter { $0.role == role && $0.activeFrom <= now && !$0.isRetired(at: now) }
        guard
            let newest = active.max(by: {
                ($0.created, $0.activeFrom, $0.id) < ($1.created, $1.activeFrom, $1.id)
            })
        else {
            throw ServiceError(.notFound, "the organisation is not known here", place: tenant.rawValue)
        }
        return try secret(newest.id, of: tenant)
    }

    private func secret(_ id: String, of tenant: TenantID) throws(ServiceError) -> SoftwareSigningKey {
        let name = tenant.rawValue + "/" + id
        if let known = keys.withLock({ $0[name] }) { return known }
        let key = try store.key(id, of: tenant)
        keys.withLock { $0[name] = key }
        return key
    }
}

extension [ServiceSigningKey] {
    /// The envelope keys to publish: all that sign, will sign, or signed envelopes that may be in use.
    func published(at now: Date) -> [ServiceSigningKey] {
        filter { $0.role == .envelope && !$0.isRetired(at: now) }
            .sorted { ($0.activeFrom, $0.id) < ($1.activeFrom, $1.id) }
    }
}

extension ServiceSigningKey {
    /// Whether the key has left the key set.
    func isRetired(at now: Date) -> Bool { retires.map { $0 <= now } ?? false }
}
