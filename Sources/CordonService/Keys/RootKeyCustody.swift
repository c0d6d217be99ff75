public import CordonIdentity
public import CordonProtocol
public import Foundation

/// What is done with a root key that is kept away from the service's machine: it delegates signing, there or where it is.
public struct RootKeyCustody: Sendable {
    private let store: any ServiceKeyStore
    private let tenant: TenantID
    private let clock: @Sendable () -> Date

    /// Works on the keys of one organisation, while its service runs or not.
    public init(
        _ store: any ServiceKeyStore, of tenant: TenantID, clock: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.store = store
        self.tenant = tenant
        self.clock = clock
    }

    /// Makes a key for key sets here and delegates to it; the service uses it from the next key set on.
    ///
    /// - Parameters:
    ///   - root: The root key, from where it is kept.
    ///   - pin: Its thumbprint, nil for that of the delegation before.
    /// - Throws: ``ServiceError``: `wrongKey` for another root key, `keyUnavailable`.
    public func delegate(
        by root: SoftwareSigningKey, pinned pin: String? = nil, for life: Duration
    ) throws(ServiceError) -> KeyDelegation {
        try check(root.publicKey.thumbprint, pin)
        return try KeyRing(store: store, setLifetime: life).delegate(by: root, of: tenant, for: life, at: clock())
    }

    /// Makes a key for key sets here and returns its public half, for the root key to delegate to where it is kept.
    public func request() throws(ServiceError) -> JSONWebKey {
        let key = SoftwareSigningKey()
        try store.store(key, of: tenant)
        return key.publicKey
    }

    /// Takes a delegation that was signed elsewhere.
    ///
    /// - Throws: ``ServiceError``: `wrongKey` for one by another root key or for a key that is not here, `invalid` for one that
    ///   has ended or is none.
    public func install(_ text: String, pinned pin: String? = nil) throws(ServiceError) -> KeyDelegation {
        let delegation: KeyDelegation
        do { delegation = try KeyDelegation(verifying: text) } catch {
            throw ServiceError(.invalid, "the text is not a delegation: \(error.reason)")
        }
        try check(delegation.root, pin)
        guard delegation.expires > clock() else { throw ServiceError(.invalid, "the delegation has ended") }
        guard try store.holds(delegation.key.thumbprint, of: tenant) else {
            throw ServiceError(.wrongKey, "the delegation is for a key that is not here")
        }
        try store.store(delegation: text, of: tenant)
        return delegation
    }

    private func check(_ root: String, _ pin: String?) throws(ServiceError) {
        let known = try store.delegation(of: tenant).flatMap { try? KeyDelegation(verifying: $0) }?.root
        guard let expected = pin ?? known else {
            throw ServiceError(
                .invalid, "the root key of the organisation is not known here", hint: "Give the root key's thumbprint.")
        }
        guard root == expected else {
            throw ServiceError(.wrongKey, "the root key is another than the organisation's")
        }
    }
}
