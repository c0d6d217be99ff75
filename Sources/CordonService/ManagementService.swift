public import CordonIdentity
internal import CordonProtocol
public import Foundation
public import Logging

/// The management service over a store: what administrators, enrolled apps and directories ask of it, one role each.
///
/// Callers are verified before they get here. Their roles are checked here, and their tenant bounds what they see: an id of
/// another tenant is ``ServiceError/Code/notFound``. Whatever changes something is one transaction together with its audit
/// records; it is durable when the call returns, and connected apps are told after that. What is refused for who asked is in
/// the audit log as well (SRV-CI-092). All calls may come from any task at once, and every call throws ``ServiceError``.
public struct ManagementService: Sendable {
    /// What administrators see and do.
    public let administration: Administration
    /// What enrolled apps and shared devices use.
    public let devices: DeviceService
    /// What directories and identity providers say of people.
    public let provisioning: Provisioning

    let store: TenantStore
    let targeting: Targeting
    let wipes: Wipes
    let configuration: ServiceConfiguration
    let logger: Logger
    private let keys: KeyRing

    /// Makes a service; call ``open(_:)`` for each organisation before the first call of a client.
    ///
    /// - Parameters:
    ///   - storage: Where everything but secrets is.
    ///   - keyStore: Where the secrets of signing keys are.
    ///   - clock: The present time; the service looks at whole seconds.
    ///   - ids: Where ids come from.
    public init(
        storage: any ServiceStorage, keyStore: any ServiceKeyStore,
        configuration: ServiceConfiguration = ServiceConfiguration(),
        clock: @escaping @Sendable () -> Date = { Date() },
        ids: RandomID = .system, logger: Logger
    ) {
        store = TenantStore(storage: storage, clock: clock)
        keys = KeyRing(store: keyStore, setLifetime: configuration.keySetLifetime)
        targeting = Targeting(numericConflict: configuration.numericConflict)
        wipes = Wipes(targeting: targeting, ids: ids, lifetime: configuration.wipeLifetime, logger: logger)
        self.configuration = configuration
        self.logger = logger
        administration = Administration(
            store: store, targeting: targeting, wipes: wipes, keys: keys, ids: ids, configuration: configuration,
            logger: logger)
        devices = DeviceService(
            store: store, targeting: targeting, wipes: wipes, keys: keys, ids: ids, configuration: configuration,
            logger: logger)
        provisioning = Provisioning(store: store, targeting: targeting)
    }

    /// Opens an organisation: makes its root key and its first envelope key where it has none yet.
    ///
    /// - Throws: ``ServiceError``: `keyUnavailable` when a key of the store is not in the key store, or a `storage…` code.
    public func open(_ tenant: TenantID) async throws(ServiceError) {
        let now = store.now
        let known = try await store.read(for: tenant) { try $0.records(ServiceSigningKey.self) }
        guard known.isEmpty else {
            for role in [ServiceSigningKey.Role.root, .envelope] {
                _ = try keys.signer(role, of: tenant, among: known, at: now)
            }
            return
        }
        let made = [
            try keys.make(.root, of: tenant, created: now, activeFrom: now),
            try keys.make(.envelope, of: tenant, created: now, activeFrom: now),
        ]
        try await store.change(for: tenant) { change in
            // Another start may have been quicker; its keys count.
            guard try change.records(ServiceSigningKey.self).isEmpty else { return }
            for key in made {
                try change.save(key)
                try change.audit(
                    .service, "key.create", "key/\(key.id)",
                    details: ["role": key.role.rawValue])
            }
        }
    }
}
