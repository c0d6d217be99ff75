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
    /// What connected apps are told.
    private(set) var news = News()
    private let transaction: any StorageTransaction
    /// The people whom it touches, for the figures.
    let statuses = StatusNotes()
    /// What the audit log says of the call that makes the change.
    private let facts: CallFacts?
    /// Who came, went or got an app lately.
    let journal: ReachJournal

    /// What connected apps are told once a change is durable.
    struct News: Sendable {
        /// The events to send.
        fileprivate(set) var events: [EventBroadcaster.Told] = []
        /// The registrations whose streams end.
        fileprivate(set) var closed: [String] = []
        /// The epoch that began, nil where none did.
        fileprivate(set) var begunEpoch: Int64?
        /// Whether it is still to be worked out whom the change concerns.
        fileprivate(set) var leavesAnnouncements = false
    }

    init(
        _ transaction: any StorageTransaction, of tenant: TenantID, at now: Date, by facts: CallFacts?,
        journal: ReachJournal
    ) {
        self.journal = journal
        self.transaction = transaction
        self.facts = facts
        self.tenant = tenant
        self.now = now
    }

    /// Notes an event, in the store as well.
    mutating func note(_ kind: ServiceEvent.Kind, for registrationID: String) throws(ServiceError) {
        var bookmark = try record(EventBookmark.self, registrationID) ?? EventBookmark(registrationID: registrationID)
        let epoch = try settings().epoch ?? 0
        let event = bookmark.note(kind, in: epoch)
        news.events.append(EventBroadcaster.Told(registrationID: registrationID, event: event, epoch: epoch))
        try save(bookmark)
    }

    /// Notes that every app should check in, without writing a row for each: a new epoch begins.
    mutating func noteEverybody() throws(ServiceError) {
        var settings = try settings()
        settings.epoch = (settings.epoch ?? 0) + 1
        news.begunEpoch = settings.epoch
        try save(settings)
    }

    /// Leaves it to be worked out behind the change whom it concerns.
    mutating func leave(_ announcement: Announcement) throws(ServiceError) {
        news.leavesAnnouncements = true
        try save(announcement)
    }

    /// Writes down how figures change by it; for the end of the change.
    mutating func writeStatuses() throws(ServiceError) {
        guard try statuses.write(in: transaction) else { return }
        news.leavesAnnouncements = true
    }

    /// Notes that a registration has closed: its streams end.
    mutating func noteClosing(_ registrationID: String) {
        news.closed.append(registrationID)
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

    func records<Record: StoredRecord>(_ type: Record.Type, ids: [String]) throws(ServiceError) -> [Record] {
        try transaction.records(type, ids: ids)
    }

    func page<Record: StoredRecord>(
        _ type: Record.Type, of part: RecordPart, after id: String?, limit: Int
    ) throws(ServiceError) -> [Record] {
        try transaction.page(type, of: part, after: id, limit: limit)
    }

    func identifiers<Record: StoredRecord>(
        _ type: Record.Type, of part: RecordPart, after id: String?, limit: Int
    ) throws(ServiceError) -> [String] {
        try transaction.identifiers(type, of: part, after: id, limit: limit)
    }

    func count<Record: StoredRecord>(
        _ type: Record.Type, of part: RecordPart, atMost most: Int
    ) throws(ServiceError) -> Int {
        try transaction.count(type, of: part, atMost: most)
    }

    func records<Record: StoredRecord>(
        _ type: Record.Type, where lookup: StorageLookup, in range: Range<String>, limit: Int
    ) throws(ServiceError) -> [Record] {
        try transaction.records(type, where: lookup, in: range, limit: limit)
    }

    func count<Record: StoredRecord>(
        _ type: Record.Type, where lookup: StorageLookup, in range: Range<String>, atMost most: Int
    ) throws(ServiceError) -> Int {
        try transaction.count(type, where: lookup, in: range, atMost: most)
    }

    func auditRecords(_ query: AuditQuery) throws(ServiceError) -> [AuditRecord] { try transaction.auditRecords(query) }

    func lastAuditRecord() throws(ServiceError) -> AuditRecord? { try transaction.lastAuditRecord() }

    func save(_ record: some StoredRecord) throws(ServiceError) {
        try statuses.note(saving: record, in: transaction)
        noteReach(ofOne: record)
        try transaction.save(record)
    }

    func remove<Record: StoredRecord>(_ type: Record.Type, _ id: String) throws(ServiceError) {
        try statuses.note(removing: id, of: Record.storageKind, in: transaction)
        noteReach(ofRemoved: type, [id])
        try transaction.remove(type, id)
    }

    func save<Record: StoredRecord>(contentsOf records: [Record]) throws(ServiceError) {
        for record in records { try statuses.note(saving: record, in: transaction) }
        for record in records { noteReach(ofOne: record) }
        try transaction.save(contentsOf: records)
    }

    func remove<Record: StoredRecord>(_ type: Record.Type, ids: [String]) throws(ServiceError) {
        for id in ids { try statuses.note(removing: id, of: Record.storageKind, in: transaction) }
        noteReach(ofRemoved: type, ids)
        try transaction.remove(type, ids: ids)
    }

    /// Notes whose rules may depend on a record of a person or of their groups.
    private func noteReach(ofOne record: some StoredRecord) {
        switch record {
        case let membership as GroupMembership:
            guard case .user(let id) = membership.member else { return }
            journal.note(CollectionOfOne(folded(id)), of: tenant)
        case let user as DirectoryUser: journal.note(CollectionOfOne(user.storageID), of: tenant)
        default: return
        }
    }

    private func noteReach<Record: StoredRecord>(ofRemoved type: Record.Type, _ ids: [String]) {
        guard type is GroupMembership.Type else { return }
        journal.note(ids.lazy.map(GroupMembership.person(inID:)), of: tenant)
    }

    func append(_ record: AuditRecord) throws(ServiceError) { try transaction.append(record) }

    /// Writes down what the app of a registration did or reports, unless the day's share is used up: nothing is ever removed from the audit log. The next
    /// record says how many were left out. The share is in the registration, which the caller saves.
    func audit(
        of registration: inout Registration, _ action: String, outcome: AuditRecord.Outcome = .done,
        details: [String: String] = [:]
    ) throws(ServiceError) {
        let known = registration.reportShare
        var share =
            known.flatMap { $0.isOf(now) ? $0 : nil } ?? Registration.ReportShare(now, leftOut: known?.leftOut ?? 0)
        let leftOut = share.take()
        registration.reportShare = share
        guard let leftOut else { return }
        var details = details
        if leftOut > 0 { details["leftOut"] = String(leftOut) }
        try audit(
            AuditRecord.Actor(registration), action, "registration/\(registration.id)", outcome: outcome,
            details: details)
    }

    var isWaitedFor: Bool { transaction.isWaitedFor }
}
