internal import CordonBase
internal import CordonIdentity
internal import CordonProtocol
internal import Foundation

/// Makes keys, finds the one that signs now, and signs key sets; keeps in memory what it has read or signed.
struct KeyRing: Sendable {
    private let store: any ServiceKeyStore
    /// How long a signed key set is valid.
    private let setLifetime: Duration
    private let keys = Locked<[String: SoftwareSigningKey]>([:])
    private let sets = Locked<[TenantID: IssuedSet]>([:])

    /// A signed key set and how long to hand it out again.
    private struct IssuedSet {
        let set: SignedKeySet
        /// The keys that were to be published when it was signed.
        let keyIDs: [String]
        let freshUntil: Date
    }

    init(store: any ServiceKeyStore, setLifetime: Duration) {
        self.store = store
        self.setLifetime = setLifetime
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

    /// The signed set of the envelope keys to publish: the one handed out before, or a new one when keys have changed or half
    /// its life is over.
    func keySet(of known: [ServiceSigningKey], tenant: TenantID, at now: Date) throws(ServiceError) -> SignedKeySet {
        let published = known.published(at: now)
        if let last = sets.withLock({ $0[tenant] }), last.freshUntil > now, last.keyIDs == published.map(\.id) {
            return last.set
        }
        let set = try sign(published, for: .envelopes, root: known, tenant: tenant, at: now)
        let half = Double(setLifetime.wholeSeconds) / 2
        let issued = IssuedSet(set: set, keyIDs: published.map(\.id), freshUntil: now.addingTimeInterval(half))
        sets.withLock { $0[tenant] = issued }
        return set
    }

    /// Signs a set of keys with the root key.
    func sign(
        _ published: [ServiceSigningKey], for use: SignedKeySet.Use, root known: [ServiceSigningKey], tenant: TenantID,
        at now: Date
    ) throws(ServiceError) -> SignedKeySet {
        let root = try signer(.root, of: tenant, among: known, at: now)
        let expiry = now.addingTimeInterval(Double(setLifetime.wholeSeconds))
        do {
            return try SignedKeySet(published.map(\.publicKey), for: use, validFrom: now, until: expiry, root: root)
        } catch {
            throw ServiceError(.internalError, "the key set could not be signed: \(error.reason)")
        }
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
