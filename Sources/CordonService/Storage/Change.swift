internal import CordonIdentity
internal import CordonProtocol
internal import Foundation

/// A change of one organisation's records under way: its transaction, its moment, and what connected apps are told once it
/// is durable.
struct Change: StorageTransaction {
    /// The organisation.
    let tenant: TenantID
    /// The moment of the change, in whole seconds.
    let now: Date
    /// The events to send.
    private(set) var events: [(registrationID: String, event: ServiceEvent)] = []
    /// The registrations whose streams end.
    private(set) var closed: [String] = []
    private let transaction: any StorageTransaction
    /// What the audit log says of the call that makes the change.
    private let facts: CallFacts?

    init(_ transaction: any StorageTransaction, of tenant: TenantID, at now: Date, by facts: CallFacts? = nil) {
        self.transaction = transaction
        self.facts = facts
        self.tenant = tenant
        self.now = now
    }

    /// Notes an event, in the store as well.
    mutating func note(_ kind: ServiceEvent.Kind, for registrationID: String) throws(ServiceError) {
        var bookmark = try record(EventBookmark.self, registrationID) ?? EventBookmark(registrationID: registrationID)
        events.append((registrationID, bookmark.note(kind)))
        try save(bookmark)
    }

    /// Notes that a registration has closed: its streams end.
    mutating func noteClosing(_ registrationID: String) {
        closed.append(registrationID)
    }

    /// Notes that what a person's tokens opened ends with them: the apps come back, with a new token or not at all.
    mutating func noteClosing(ofUser id: String) throws(ServiceError) {
        for registration in try records(Registration.self, where: (.user, id)) { noteClosing(registration.id) }
    }

    /// Writes a record of the change at the end of the audit log.
    func audit(
        _ actor: AuditRecord.Actor, _ action: String, _ target: String, outcome: AuditRecord.Outcome = .done,
        details: [String: String] = [:]
    ) throws(ServiceError) {
        let call = actor.kind == .administrator ? facts?.details ?? [:] : [:]
        try audit(
            actor, action, target, of: tenant, at: now, outcome: outcome,
            details: details.merging(call) { said, _ in said })
    }

    func record<Record: StoredRecord>(_ type: Record.Type, _ id: String) throws(ServiceError) -> Record? {
        try transaction.record(type, id)
    }

    func records<Record: StoredRecord>(
        _ type: Record.Type, where lookup: (name: StorageLookup, value: String)?
    ) throws(ServiceError) -> [Record] {
        try transaction.records(type, where: lookup)
    }

    func auditRecords(_ query: AuditQuery) throws(ServiceError) -> [AuditRecord] { try transaction.auditRecords(query) }

    func lastAuditRecord() throws(ServiceError) -> AuditRecord? { try transaction.lastAuditRecord() }

    func save(_ record: some StoredRecord) throws(ServiceError) { try transaction.save(record) }

    func remove<Record: StoredRecord>(_ type: Record.Type, _ id: String) throws(ServiceError) {
        try transaction.remove(type, id)
    }

    func append(_ record: AuditRecord) throws(ServiceError) { try transaction.append(record) }
}
