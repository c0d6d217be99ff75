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

    /// Notes that what a person's tokens opened ends with them: the apps come back, with a new token or not at all.
    mutating func noteClosing(ofUser id: String, in records: some StorageReader) throws(ServiceError) {
        for registration in try records.records(Registration.self, where: (.user, id)) { noteClosing(registration.id) }
    }
}
