internal import CordonIdentity
internal import CordonProtocol

/// What connected apps are to be told once a transaction is durable.
struct PendingEvents: Sendable {
    private(set) var events: [(registrationID: String, event: ServiceEvent)] = []
    private(set) var closed: [String] = []

    /// Notes an event in the store and here.
    mutating func note(
        _ kind: ServiceEvent.Kind, for registrationID: String, in transaction: some StorageTransaction
    ) throws(ServiceError) {
        var bookmark =
            try transaction.record(EventBookmark.self, registrationID) ?? EventBookmark(registrationID: registrationID)
        events.append((registrationID, bookmark.note(kind)))
        try transaction.save(bookmark)
    }

    /// Notes that a registration has closed: its streams end.
    mutating func noteClosing(_ registrationID: String) {
        closed.append(registrationID)
    }
}

extension StoredManagementService {
    /// Runs a change and, once it is durable, tells connected apps of it.
    func change<Result: Sendable>(
        _ tenant: TenantID,
        _ body: @escaping @Sendable (any StorageTransaction, inout PendingEvents) throws(ServiceError) -> Result
    ) async throws(ServiceError) -> Result {
        let (result, pending) = try await storage.write(tenant) { transaction throws(ServiceError) in
            var pending = PendingEvents()
            let result = try body(transaction, &pending)
            return (result, pending)
        }
        for (registrationID, event) in pending.events {
            events.publish(event, to: EventHub.Address(tenant: tenant, registrationID: registrationID))
        }
        for registrationID in pending.closed {
            events.finish(EventHub.Address(tenant: tenant, registrationID: registrationID))
        }
        return result
    }
}
