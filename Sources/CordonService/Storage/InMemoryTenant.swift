internal import CordonProtocol

/// The records of one organisation in memory, with what is needed to take a transaction back.
///
/// Not sendable: only ``InMemoryStorage`` holds it, and hands it out for the time of a body.
final class InMemoryTenant: StorageTransaction {
    private var tables: [StorageKind: [String: any StoredRecord]] = [:]
    private var index: [Lookup: Set<String>] = [:]
    private var audit: [AuditRecord] = []
    private var undo: [(kind: StorageKind, id: String, before: (any StoredRecord)?)] = []
    private var auditBefore = 0

    private struct Lookup: Hashable {
        var kind: StorageKind
        var name: StorageLookup
        var value: String
    }

    func begin() {
        undo.removeAll(keepingCapacity: true)
        auditBefore = audit.count
    }

    func rollBack() {
        for step in undo.reversed() { put(step.before, kind: step.kind, id: step.id) }
        audit.removeSubrange(auditBefore...)
    }

    func record<Record: StoredRecord>(_ type: Record.Type, _ id: String) throws(ServiceError) -> Record? {
        tables[Record.storageKind]?[id] as? Record
    }

    func records<Record: StoredRecord>(
        _ type: Record.Type, where lookup: (name: StorageLookup, value: String)?
    ) throws(ServiceError) -> [Record] {
        let table = tables[Record.storageKind] ?? [:]
        let ids: any Sequence<String> =
            if let lookup {
                index[Lookup(kind: Record.storageKind, name: lookup.name, value: lookup.value)] ?? []
            } else {
                table.keys
            }
        return ids.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.compactMap { table[$0] as? Record }
    }

    func auditRecords(_ query: AuditQuery) throws(ServiceError) -> [AuditRecord] {
        let rest = audit.dropFirst(Int(max(0, query.after))).lazy.filter { record in
            (query.action ?? record.action) == record.action && (query.target ?? record.target) == record.target
        }
        return Array(rest.prefix(query.limit))
    }

    func lastAuditRecord() throws(ServiceError) -> AuditRecord? { audit.last }

    func save(_ record: some StoredRecord) throws(ServiceError) {
        change(type(of: record).storageKind, record.storageID, to: record)
    }

    func remove<Record: StoredRecord>(_ type: Record.Type, _ id: String) throws(ServiceError) {
        change(Record.storageKind, id, to: nil)
    }

    func append(_ record: AuditRecord) throws(ServiceError) {
        guard record.follows(audit.last) else {
            throw ServiceError(.internalError, "an audit record does not follow the last one", place: record.action)
        }
        audit.append(record)
    }

    private func change(_ kind: StorageKind, _ id: String, to record: (any StoredRecord)?) {
        undo.append((kind, id, tables[kind]?[id]))
        put(record, kind: kind, id: id)
    }

    private func put(_ record: (any StoredRecord)?, kind: StorageKind, id: String) {
        for (name, value) in tables[kind]?[id]?.lookups ?? [:] {
            index[Lookup(kind: kind, name: name, value: value)]?.remove(id)
        }
        tables[kind, default: [:]][id] = record
        for (name, value) in record?.lookups ?? [:] {
            index[Lookup(kind: kind, name: name, value: value), default: []].insert(id)
        }
    }
}
