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

    /// A signed key set and when it was signed, by which it is handed out again.
    private struct IssuedSet {
        let set: SignedKeySet
        /// The keys that were to be published when it was signed.
        let keyIDs: [String]
        let signed: Date
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
        try secret(record(role, of: tenant, among: keys, at: now).id, of: tenant)
    }

    private func record(
        _ role: ServiceSigningKey.Role, of tenant: TenantID, among keys: [ServiceSigningKey], at now: Date
    ) throws(ServiceError) -> ServiceSigningKey {
        let usable = keys.filter { $0.role == role && !$0.isRetired(at: now) }
        let newest = usable.filter { $0.activeFrom <= now }.max {
            ($0.created, $0.activeFrom, $0.id) < ($1.created, $1.activeFrom, $1.id)
        }
        // Of a clock that was set back, every key is of the future; the one that begins first signs then.
        guard let newest = newest ?? usable.min(by: { ($0.activeFrom, $0.id) < ($1.activeFrom, $1.id) }) else {
            throw ServiceError(.notFound, "the organisation is not known here", place: tenant.rawValue)
        }
        return newest
    }

    /// The signed set of the envelope keys to publish that was handed out before; nil where keys have changed or half its life
    /// is over, and ``issue(_:version:tenant:at:)`` is to make another.
    func issuedSet(of known: [ServiceSigningKey], tenant: TenantID, at now: Date) -> SignedKeySet? {
        let published = known.published(at: now).map(\.id)
        let half = Double(setLifetime.wholeSeconds) / 2
        return sets.withLock { $0[tenant] }.flatMap { issued in
            // One that was signed while the clock was ahead is good for too long.
            abs(now.timeIntervalSince(issued.signed)) < half && issued.keyIDs == published ? issued.set : nil
        }
    }

    /// Signs a set of the envelope keys to publish, and keeps it; where one of a higher version was signed meanwhile, answers that one.
    func issue(
        _ known: [ServiceSigningKey], version: Int64, tenant: TenantID, at now: Date
    ) throws(ServiceError) -> SignedKeySet {
        let published = known.published(at: now)
        let set = try sign(published, for: .envelopes, version: version, root: known, tenant: tenant, at: now)
        let issued = IssuedSet(set: set, keyIDs: published.map(\.id), signed: now)
        return sets.withLock { sets in
            // Apps that took the higher version would refuse this one until the next.
            if let newer = sets[tenant]?.set, newer.version > version { return newer }
            sets[tenant] = issued
            return set
        }
    }

    /// Signs a set of keys: with the root key where it is here, else with the key that it delegated that to.
    func sign(
        _ published: [ServiceSigningKey], for use: SignedKeySet.Use, version: Int64 = 0,
        root known: [ServiceSigningKey],
        tenant: TenantID, at now: Date
    ) throws(ServiceError) -> SignedKeySet {
        let expiry = now.addingTimeInterval(Double(setLifetime.wholeSeconds))
        let keys = published.map(\.publicKey)
        let root = try record(.root, of: tenant, among: known, at: now)
        let delegation = try store.holds(root.id, of: tenant) ? nil : usableDelegation(by: root, of: tenant, at: now)
        let signer = try secret(delegation?.key.thumbprint ?? root.id, of: tenant)
        do {
            guard let delegation else {
                return try SignedKeySet(
                    keys, for: use, version: version, validFrom: now, until: expiry, root: signer)
            }
            return try SignedKeySet(
                keys, for: use, version: version, validFrom: now, until: expiry, delegate: signer, under: delegation)
        } catch {
            throw ServiceError(.internalError, "the key set could not be signed: \(error.reason)")
        }
    }

    /// The root key's thumbprint; its secret may be elsewhere.
    func root(of tenant: TenantID, among known: [ServiceSigningKey], at now: Date) throws(ServiceError) -> String {
        try record(.root, of: tenant, among: known, at: now).id
    }

    /// Where the root key is, and until when what it delegated can sign key sets.
    func rootKeyState(
        of tenant: TenantID, among known: [ServiceSigningKey], at now: Date
    ) throws(ServiceError) -> RootKeyState {
        let root = try record(.root, of: tenant, among: known, at: now)
        let delegation = try delegation(by: root, of: tenant)
        return RootKeyState(
            thumbprint: root.id, isHere: try store.holds(root.id, of: tenant), delegationEnds: delegation?.expires)
    }

    /// Has the root key delegate signing anew where it is here and less than half of the delegation is left.
    func renewDelegation(of tenant: TenantID, among known: [ServiceSigningKey], at now: Date) throws(ServiceError) {
        let state = try rootKeyState(of: tenant, among: known, at: now)
        let half = Double(Self.delegationLifetime.wholeSeconds) / 2
        guard state.isHere, state.delegationEnds.map({ $0.timeIntervalSince(now) < half }) ?? true else { return }
        let root = try secret(state.thumbprint, of: tenant)
        _ = try delegate(by: root, of: tenant, for: Self.delegationLifetime, at: now)
    }

    /// Makes a key, and has a root key delegate signing key sets to it; both are durable before it returns.
    func delegate(
        by root: SoftwareSigningKey, of tenant: TenantID, for life: Duration, at now: Date
    ) throws(ServiceError) -> KeyDelegation {
        let key = SoftwareSigningKey()
        try store.store(key, of: tenant)
        let delegation: KeyDelegation
        do {
            delegation = try KeyDelegation(
                of: key.publicKey, from: now, until: now.addingTimeInterval(Double(life.wholeSeconds)), root: root)
        } catch {
            throw ServiceError(.internalError, "the root key could not delegate: \(error.reason)")
        }
        try store.store(delegation: delegation.text, of: tenant)
        return delegation
    }

    /// How long a delegation lasts that the service has its root key make.
    static let delegationLifetime = Duration.seconds(90 * 86_400)

    private func usableDelegation(
        by root: ServiceSigningKey, of tenant: TenantID, at now: Date
    ) throws(ServiceError) -> KeyDelegation {
        let delegation = try delegation(by: root, of: tenant)
        guard let delegation, delegation.expires > now else {
            throw ServiceError(
                .keyUnavailable, "the root key is elsewhere, and what it delegated has ended",
                hint: "Run cordon keys delegate with the root key.")
        }
        return delegation
    }

    /// The delegation that lies with the keys, provided that the root key made it.
    private func delegation(by root: ServiceSigningKey, of tenant: TenantID) throws(ServiceError) -> KeyDelegation? {
        guard let text = try store.delegation(of: tenant) else { return nil }
        guard let delegation = try? KeyDelegation(verifying: text), delegation.root == root.id else {
            throw ServiceError(.keyUnavailable, "the delegation beside the keys is not of the root key")
        }
        return delegation
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
    /// The keys that have signed checkpoints of the audit log: those for that, and envelope keys from before there were any. One
    /// that leaked isn't among them.
    var ofAuditLog: [ServiceSigningKey] {
        let first = filter { $0.role == .audit }.map(\.created).min() ?? .distantFuture
        return filter { key in
            key.role == .audit && key.isRevoked != true
                || key.role == .envelope && key.created < first && !hasLeaked(key)
        }
    }

    /// Whether an envelope key left at the moment in which another was made and began to sign: services before marked no key
    /// as revoked.
    private func hasLeaked(_ key: ServiceSigningKey) -> Bool {
        key.isRevoked == true
            || contains { $0.role == .envelope && $0.created == key.retires && $0.activeFrom == key.retires }
    }

    /// The envelope keys to publish: all that sign, will sign, or signed envelopes that may be in use.
    func published(at now: Date) -> [ServiceSigningKey] {
        filter { $0.role == .envelope && !$0.isRetired(at: now) }
            .sorted { ($0.activeFrom, $0.id) < ($1.activeFrom, $1.id) }
    }
}

extension ServiceSigningKey {
    /// Whether the key has left the key set; one that was revoked has for good, also when the clock is set back.
    func isRetired(at now: Date) -> Bool { isRevoked == true || retires.map { $0 <= now } ?? false }
}
