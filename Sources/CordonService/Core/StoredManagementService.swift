internal import CordonBase
public import CordonIdentity
internal import CordonProtocol
public import Foundation
public import Logging

/// The management service over a store: every rule of targeting, check-in and wipe is here or below.
///
/// Whatever changes something is one transaction together with its audit records, and connected apps are told
/// after it is durable. May be used from any task.
public final class StoredManagementService: ManagementService {
    let storage: any ServiceStorage
    let keys: KeyRing
    let configuration: ServiceConfiguration
    let ids: RandomID
    let logger: Logger
    let events = EventHub()
    let targeting: TargetingCache
    let keySets = Locked<[TenantID: KeySetCache]>([:])
    private let clock: @Sendable () -> Date

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
        self.storage = storage
        self.keys = KeyRing(store: keyStore)
        self.configuration = configuration
        self.ids = ids
        self.logger = logger
        self.clock = clock
        self.targeting = TargetingCache(numericConflict: configuration.numericConflict)
    }

    /// Opens an organisation: makes its root key and its first envelope key where it has none yet.
    ///
    /// - Throws: ``ServiceError``: `keyUnavailable` when a key of the store is not in the key store, or a `storage…` code.
    public func open(_ tenant: TenantID) async throws(ServiceError) {
        let now = self.now
        let known = try await storage.read(tenant) { records throws(ServiceError) in
            try records.records(ServiceSigningKey.self)
        }
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
        try await storage.write(tenant) { transaction throws(ServiceError) in
            // Another start may have been quicker; its keys count.
            guard try transaction.records(ServiceSigningKey.self).isEmpty else { return }
            for key in made {
                try transaction.save(key)
                try transaction.audit(
                    .service, "key.create", "key/\(key.id)", of: tenant, at: now,
                    details: ["role": key.role.rawValue])
            }
        }
    }

    /// The present time in whole seconds, the precision of everything that is signed or stored.
    var now: Date { Date(timeIntervalSince1970: clock().timeIntervalSince1970.rounded(.down)) }

    /// Checks that the administrator may do something; the only place that decides.
    func require(_ permission: Permission, of administrator: Administrator) throws(ServiceError) {
        guard administrator.may(permission) else {
            throw ServiceError(.forbidden, "the roles of \(administrator.id) do not include \(permission.rawValue)")
        }
    }
}
