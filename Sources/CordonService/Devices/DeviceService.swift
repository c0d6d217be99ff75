internal import CordonBase
public import CordonIdentity
public import CordonProtocol
internal import Foundation
internal import Logging

/// What enrolled apps and shared devices use.
///
/// Each call of an app names its ``DeviceCaller``; one whose account or key is not the registration's is refused.
public struct DeviceService: Sendable {
    let store: TenantStore
    let targeting: Targeting
    let wipes: Wipes
    let keys: KeyRing
    let envelopes: EnvelopeIssuer
    let ids: RandomID
    let configuration: ServiceConfiguration
    let logger: Logger

    init(
        store: TenantStore, targeting: Targeting, wipes: Wipes, keys: KeyRing, ids: RandomID,
        configuration: ServiceConfiguration, logger: Logger
    ) {
        self.store = store
        self.targeting = targeting
        self.wipes = wipes
        self.keys = keys
        self.envelopes = EnvelopeIssuer(keys: keys, usualLifetime: configuration.envelopeLifetime)
        self.ids = ids
        self.configuration = configuration
        self.logger = logger
    }

    /// The keys that sign envelopes, vouched for by the root key (SRV-CI-025); signed again when keys change or half the set's
    /// life is over.
    ///
    /// - Throws: ``ServiceError`` with status 222 while a restored store waits for an administrator.
    public func keySet(of tenant: TenantID) async throws(ServiceError) -> SignedKeySet {
        let known = try await store.read(for: tenant) { records in
            // A key that has leaked since the backup would be vouched for again.
            try records.requireConfirmed()
            return try records.records(ServiceSigningKey.self)
        }
        if let set = keys.issuedSet(of: known, tenant: tenant, at: store.now) { return set }
        // Nothing is written for an organisation that is not known.
        _ = try keys.root(of: tenant, among: known, at: store.now)
        let (version, current) = try await store.change(for: tenant) { change in
            var state = try change.record(KeySetState.self, KeySetState.id) ?? KeySetState()
            state.advance(at: change.now)
            try change.save(state)
            return (state.version, try change.records(ServiceSigningKey.self))
        }
        return try keys.issue(current, version: version, tenant: tenant, at: store.now)
    }

    /// For how many seconds clients may keep a key set.
    public func keySetMaxAge(of tenant: TenantID) async throws(ServiceError) -> Int {
        try await store.read(for: tenant) { (try $0.settings().service ?? .usual).keySetMaxAgeSeconds }
    }

    /// What the discovery document needs (SRV-CI-017).
    public func discoveryFacts(of tenant: TenantID) async throws(ServiceError) -> DiscoveryFacts {
        let known = try await store.read(for: tenant) { try $0.records(ServiceSigningKey.self) }
        return DiscoveryFacts(
            tenant: tenant, rootKeyThumbprint: try keys.root(of: tenant, among: known, at: store.now),
            versions: [ServiceDiscovery.currentVersion])
    }

    /// Whether a check-in could be answered: the store can be read, and written where a change could not be since the last
    /// probe, its envelope key is there, and key sets can be signed.
    ///
    /// - Returns: Where the root key is.
    /// - Throws: ``ServiceError`` saying what is missing.
    public func readiness(of tenant: TenantID) async throws(ServiceError) -> RootKeyState {
        let now = store.now
        if let failure = store.health.failure {
            try await store.change(for: tenant) { try $0.save(StoreProbe()) }
            try await store.change(for: tenant) { try $0.remove(StoreProbe.self, StoreProbe.id) }
            store.health.noteProbe(after: failure)
        }
        let known = try await store.read(for: tenant) { try $0.records(ServiceSigningKey.self) }
        _ = try keys.signer(.envelope, of: tenant, among: known, at: now)
        let state = try keys.rootKeyState(of: tenant, among: known, at: now)
        guard state.isHere || state.delegationEnds.map({ $0 > now }) ?? false else {
            throw ServiceError(.keyUnavailable, "the root key is elsewhere, and what it delegated has ended")
        }
        return state
    }

    /// Account and key of a registration, for checking a report that comes without a token; nil for an unknown id.
    public func holder(ofRegistration id: String, of tenant: TenantID) async throws(ServiceError) -> DeviceCaller? {
        try await store.readBriefly(for: tenant) { records in
            try records.record(Registration.self, id).map { DeviceCaller(account: $0.account, key: $0.key) }
        }
    }

    /// Whether a registration was told to do something and has not said how that ended.
    public func isAwaited(
        _ commandID: String, ofRegistration id: String, of tenant: TenantID
    ) async throws(ServiceError) -> Bool {
        try await store.readBriefly(for: tenant) { records in
            if let operation = try records.record(WipeOperation.self, commandID) {
                return operation.registrationID == id && operation.state.awaitsReport
            }
            guard let command = try records.record(IssuedCommand.self, commandID) else { return false }
            return command.registrationID == id && command.state.awaitsReport
        }
    }

    /// Whether an account was disabled or removed, by the directory or by a signal (SRV-TG-32). For transports, which
    /// then let its apps in as far as learning that.
    public func isAccountDisabled(_ account: AccountID, of tenant: TenantID) async throws(ServiceError) -> Bool {
        try await store.readBriefly(for: tenant) { records in try records.isDisabled(account) }
    }

    /// Closes a registration and notes what the app says about it (SRV-CI-013, SRV-CI-021); nil where it says nothing.
    ///
    /// - Throws: ``ServiceError`` with code `conflict` while a wipe is under way or owed, or the person is blocked.
    public func unregister(
        _ id: String, report: UnenrollmentReport? = nil, by caller: DeviceCaller
    ) async throws(ServiceError) {
        try await store.change(for: caller) { change in
            try change.requireConfirmed()
            var registration = try change.registration(id, of: caller)
            guard registration.state == .active else { return }
            guard try !change.hasWipe(of: registration), try !change.isBlocked(registration.account.id) else {
                throw ServiceError(
                    .conflict, "the account's data is to be removed",
                    hint: "Check in, carry the wipe out and send its receipt.")
            }
            registration.close(.unregistered, at: change.now)
            try change.save(registration)
            change.noteClosing(id)
            try change.endCommands(of: registration)
            try change.audit(
                AuditRecord.Actor(registration), "registration.unregister", "registration/\(id)",
                details: report.map {
                    ["reason": $0.reason.rawValue, "doWipe": String($0.doWipe), "succeeded": String($0.succeeded)]
                } ?? [:])
        }
    }

    /// Tells of changes as they happen; after the given event id those that were missed come first.
    ///
    /// Events only say that a check-in is worthwhile, so several missed ones of a kind may come as one. The stream ends
    /// when the registration closes or the reader stops.
    public func events(
        ofRegistration id: String, after eventID: Int64?, by caller: DeviceCaller
    ) async throws(ServiceError) -> EventSubscription {
        let now = store.now
        let lifetime = configuration.registrationLifetime
        let address = EventBroadcaster.Address(tenant: caller.tenant, registrationID: id)
        // Subscribed before the store is read, so that nothing falls between.
        let (stream, token) = store.events.subscribe(address)
        let (missed, lastID, epoch): ([ServiceEvent], Int64, Int64)
        do {
            (missed, lastID, epoch) = try await store.readBriefly(for: caller) { records in
                // Also of a restored store that waits: the event of its confirmation brings apps back at once.
                _ = try records.openRegistration(id, of: caller, at: now, lifetime: lifetime)
                let epoch = try records.settings().epoch ?? 0
                let bookmark = try records.record(EventBookmark.self, id) ?? EventBookmark(registrationID: id)
                let last = bookmark.lastID(in: epoch)
                guard let eventID else { return ([], last, epoch) }
                // An id from the future is of a store that was restored since: everything may have been missed.
                return (bookmark.events(after: eventID <= last ? eventID : 0, in: epoch), last, epoch)
            }
        } catch {
            store.events.cancel(token, at: address)
            throw error
        }
        store.events.begin(token, at: address, with: missed, lastID: lastID, epoch: epoch)
        return stream
    }
}
