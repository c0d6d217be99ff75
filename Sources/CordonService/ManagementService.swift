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
    /// Where the console keeps its sessions.
    package let consoleSessions: ConsoleSessions

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
        keys = KeyRing(store: keyStore, setLifetime: configuration.keySetLifetime)
        targeting = Targeting(numericConflict: configuration.numericConflict)
        store = TenantStore(
            storage: storage,
            announcer: Announcer(
                targeting: targeting, perSecond: configuration.announcementsPerSecond, logger: logger),
            clock: clock)
        wipes = Wipes(targeting: targeting, ids: ids, lifetime: configuration.wipeLifetime, logger: logger)
        self.configuration = configuration
        self.logger = logger
        let review = ChangeReview(store: store, targeting: targeting, ids: ids, configuration: configuration)
        administration = Administration(
            store: store, targeting: targeting, wipes: wipes, review: review, keys: keys, ids: ids,
            configuration: configuration,
            logger: logger)
        devices = DeviceService(
            store: store, targeting: targeting, wipes: wipes, keys: keys, ids: ids, configuration: configuration,
            logger: logger)
        provisioning = Provisioning(store: store, targeting: targeting, review: review, ids: ids)
        consoleSessions = ConsoleSessions(store: store)
    }

    /// Opens an organisation: makes its keys where it has none yet, those of roles that a service before did not know, the root
    /// key's delegation, and what digests of secret values are made with.
    ///
    /// - Throws: ``ServiceError``: `keyUnavailable` when a key of the store is not in the key store, or a `storage…` code. The
    ///   root key may be elsewhere as long as what it delegated lasts.
    public func open(_ tenant: TenantID) async throws(ServiceError) {
        let now = store.now
        var known = try await store.read(for: tenant) { try $0.records(ServiceSigningKey.self) }
        let missing = [ServiceSigningKey.Role.root, .envelope, .audit].filter { role in
            !known.contains { $0.role == role }
        }
        // A store that has lost some of its keys is not made whole by others.
        if missing.count == 3 || missing == [.audit] {
            var made: [ServiceSigningKey] = []
            for role in missing { made.append(try keys.make(role, of: tenant, created: now, activeFrom: now)) }
            let new = made
            known = try await store.change(for: tenant) { change in
                if try change.isWithoutPeople() {
                    var settings = try change.settings()
                    settings.countsPeople = true
                    try change.save(settings)
                }
                // Another start may have been quicker; its keys count.
                let present = try change.records(ServiceSigningKey.self)
                for key in new where !present.contains(where: { $0.role == key.role }) {
                    try change.save(key)
                    try change.audit(
                        .service, "key.create", "key/\(key.id)", details: ["role": key.role.rawValue])
                }
                return try change.records(ServiceSigningKey.self)
            }
        }
        for role in [ServiceSigningKey.Role.envelope, .audit] {
            _ = try keys.signer(role, of: tenant, among: known, at: now)
        }
        try keys.renewDelegation(of: tenant, among: known, at: now)
        _ = try await devices.readiness(of: tenant)
        try await makeSecretSalt(of: tenant)
        try await admitAdministrators(of: tenant, at: now)
        // What a process before left of telling apps.
        store.startAnnouncing(to: tenant)
    }

    /// Makes what digests of secret values are made with, before any is kept that the next process has to find again.
    private func makeSecretSalt(of tenant: TenantID) async throws(ServiceError) {
        guard try await store.read(for: tenant, { try $0.settings().secretSalt == nil }) else { return }
        let salt = administration.ids.token()
        try await store.change(for: tenant) { change in
            var settings = try change.settings()
            settings.secretSalt = settings.secretSalt ?? salt
            try change.save(settings)
        }
    }
}
