internal import CordonBase
public import CordonIdentity
public import CordonProtocol
internal import Foundation

extension StoredManagementService {
    /// The signed key set, as ``DeviceService/keySet(of:)`` says; signed anew when keys change or half its life is over.
    public func keySet(of tenant: TenantID) async throws(ServiceError) -> SignedKeySet {
        let now = self.now
        let known = try await signingKeys(of: tenant)
        let published = known.published(at: now)
        if let cached = keySets.withLock({ $0[tenant] }), cached.freshUntil > now,
            cached.keyIDs == published.map(\.id)
        {
            return cached.set
        }
        let set = try signedKeySet(of: published, root: known, tenant: tenant, at: now)
        let half = Double(configuration.keySetLifetime.wholeSeconds) / 2
        let cache = KeySetCache(
            set: set, keyIDs: published.map(\.id), freshUntil: now.addingTimeInterval(half))
        keySets.withLock { $0[tenant] = cache }
        return set
    }

    /// What the discovery document needs, as ``DeviceService/discoveryFacts(of:)`` says.
    public func discoveryFacts(of tenant: TenantID) async throws(ServiceError) -> DiscoveryFacts {
        let root = try keys.signer(.root, of: tenant, among: try await signingKeys(of: tenant), at: now)
        return DiscoveryFacts(
            tenant: tenant, rootKeyThumbprint: root.publicKey.thumbprint, versions: [ServiceDiscovery.currentVersion])
    }

    /// The signing keys of an organisation.
    func signingKeys(of tenant: TenantID) async throws(ServiceError) -> [ServiceSigningKey] {
        try await storage.read(tenant) { records throws(ServiceError) in
            try records.records(ServiceSigningKey.self)
        }
    }

    /// Signs a set of keys with the root key.
    func signedKeySet(
        of published: [ServiceSigningKey], for use: SignedKeySet.Use = .envelopes, root known: [ServiceSigningKey],
        tenant: TenantID, at now: Date
    ) throws(ServiceError) -> SignedKeySet {
        let root = try keys.signer(.root, of: tenant, among: known, at: now)
        let expiry = now.addingTimeInterval(Double(configuration.keySetLifetime.wholeSeconds))
        do throws(ProtocolError) {
            return try SignedKeySet(
                published.map(\.publicKey), for: use, validFrom: now, until: expiry, root: root)
        } catch {
            throw ServiceError(.internalError, "the key set could not be signed: \(error.reason)")
        }
    }
}
