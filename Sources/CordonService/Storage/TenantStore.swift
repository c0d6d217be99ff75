internal import CordonIdentity
internal import CordonProtocol
internal import Foundation

/// The only way to the records of an organisation: each call is one transaction for one caller.
///
/// What a transaction throws becomes a ``ServiceError`` here, and where it refuses the caller, that is noted in the audit log
/// once the transaction is rolled back.
struct TenantStore: Sendable {
    /// The open event streams, which hear of a change after it is durable.
    let events = EventBroadcaster()
    /// Whether changes can be written.
    let health = StoreHealth()
    /// Who came, went or got an app lately.
    let journal = ReachJournal()
    private let announcer: Announcer
    private let storage: any ServiceStorage
    private let clock: @Sendable () -> Date
    private let refusals: RefusalLog

    init(storage: any ServiceStorage, announcer: Announcer, clock: @escaping @Sendable () -> Date) {
        self.storage = storage
        self.announcer = announcer
        self.clock = clock
        self.refusals = RefusalLog(storage: storage)
    }

    /// The present time in whole seconds, the precision of everything that is signed or stored.
    var now: Date { Date(timeIntervalSince1970: clock().timeIntervalSince1970.rounded(.down)) }

    /// Checks that an administrator may do something, whatever it is done to.
    ///
    /// - Parameter call: The name of the call for the audit log.
    /// - Throws: ``ServiceError`` with code `forbidden`.
    func require(
        _ permission: Permission, of administrator: Administrator, call: String = #function
    ) async throws(ServiceError) {
        guard !administrator.may(permission) else { return }
        throw await refusal(
            ServiceError(.forbidden, "the roles of \(administrator.id) do not include \(permission.rawValue)"),
            of: administrator, call)
    }

    /// Reads what an administrator may see with one permission.
    func read<Result: Sendable>(
        _ permission: Permission, as administrator: Administrator, call: String = #function,
        _ body: @escaping @Sendable (any StorageReader) throws -> Result
    ) async throws(ServiceError) -> Result {
        try await require(permission, of: administrator, call: call)
        return try await read(for: administrator, call: call, body)
    }

    /// Reads on one consistent state.
    func read<Result: Sendable>(
        for caller: some ServiceCaller, call: String = #function,
        _ body: @escaping @Sendable (any StorageReader) throws -> Result
    ) async throws(ServiceError) -> Result {
        do {
            return try await storage.read(caller.tenant, body)
        } catch {
            throw await refusal(error, of: caller, call)
        }
    }

    /// Reads a few records on one consistent state, at once and without waiting for lists; for what every app asks.
    func readBriefly<Result: Sendable>(
        for caller: some ServiceCaller, call: String = #function,
        _ body: @escaping @Sendable (any StorageReader) throws -> Result
    ) async throws(ServiceError) -> Result {
        do {
            return try await storage.readBriefly(caller.tenant, body)
        } catch {
            throw await refusal(error, of: caller, call)
        }
    }

    /// Runs a change and, once it is durable, tells connected apps of it.
    ///
    /// - Parameter isBehind: Whether others may go first: work behind changes, which comes in parts.
    func change<Result: Sendable>(
        for caller: some ServiceCaller, behindOthers isBehind: Bool = false, call: String = #function,
        _ body: @escaping @Sendable (inout Change) throws -> Result
    ) async throws(ServiceError) -> Result {
        let (tenant, now, facts, journal) = (caller.tenant, now, caller.facts, journal)
        let (result, news, noted): (Result, Change.News, Int64)
        do {
            let work: @Sendable (any StorageTransaction) throws -> (Result, Change.News, Int64) = { transaction in
                var change = Change(transaction, of: tenant, at: now, by: facts, journal: journal)
                let result = try body(&change)
                try change.writeStatuses()
                return (result, change.news, journal.last(of: tenant))
            }
            (result, news, noted) =
                isBehind ? try await storage.writeBehind(tenant, work) : try await storage.write(tenant, work)
            journal.finish(upTo: noted, of: tenant)
        } catch {
            if let error = error as? ServiceError { health.note(error) }
            throw await refusal(error, of: caller, call)
        }
        for told in news.events { events.publish(told, of: tenant) }
        for registrationID in news.closed {
            events.finish(EventBroadcaster.Address(tenant: tenant, registrationID: registrationID))
            announcer.forget(registrationID, of: tenant)
        }
        if let epoch = news.begunEpoch { announcer.tell(of: epoch, tenant, over: events) }
        if news.leavesAnnouncements { startAnnouncing(to: tenant) }
        return result
    }

    /// Takes up what is left of telling people of changes; returns at once.
    func startAnnouncing(to tenant: TenantID) { announcer.start(tenant, in: self) }

    /// Tells every app that a change concerns and that was not told yet; returns when that is done.
    func finishAnnouncing(to tenant: TenantID) async throws(ServiceError) {
        try await announcer.finish(tenant, in: self)
    }

    /// The error to throw, noted where it refuses the caller.
    private func refusal(_ error: any Error, of caller: some ServiceCaller, _ call: String) async -> ServiceError {
        let error = error as? ServiceError ?? ServiceError(.internalError, "the call failed: \(type(of: error))")
        if let actor = caller.actor, caller.isRefused(by: error) {
            let name = String(call.prefix { $0 != "(" })
            await refusals.note(
                error, name, by: actor, of: caller.tenant, caller.facts, isProved: caller.isProved, at: now)
        }
        return error
    }
}
