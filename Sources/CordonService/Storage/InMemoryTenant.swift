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
        let part = lookup.map { RecordPart.found(by: $0.name, $0.value) } ?? .all
        return ids(of: Record.storageKind, part).compactMap { table[$0] as? Record }
    }

    func page<Record: StoredRecord>(
        _ type: Record.Type, of part: RecordPart, after id: String?, limit: Int
    ) throws(ServiceError) -> [Record] {
        let table = tables[Record.storageKind] ?? [:]
        return try identifiers(type, of: part, after: id, limit: limit).compactMap { table[$0] as? Record }
    }

    func identifiers<Record: StoredRecord>(
        _ type: Record.Type, of part: RecordPart, after id: String?, limit: Int
    ) throws(ServiceError) -> [String] {
        Array(ids(of: Record.storageKind, part, after: id).prefix(max(0, limit)))
    }

    func count<Record: StoredRecord>(
        _ type: Record.Type, of part: RecordPart, atMost most: Int
    ) throws(ServiceError) -> Int {
        let number =
            switch part {
            case .all: tables[Record.storageKind]?.count ?? 0
            case .found(let name, let value):
                index[Lookup(kind: Record.storageKind, name: name, value: value)]?.count ?? 0
            case .beginning: ids(of: Record.storageKind, part).count
            }
        return min(number, max(0, most))
    }

    /// The ids of a part that come after one, ordered by their bytes.
    private func ids(of kind: StorageKind, _ part: RecordPart, after id: String? = nil) -> [String] {
        let table = tables[kind] ?? [:]
        let ids: [String] =
            switch part {
            case .all: Array(table.keys)
            case .found(let name, let value): Array(index[Lookup(kind: kind, name: name, value: value)] ?? [])
            case .beginning(let prefix): table.keys.filter { $0.utf8.starts(with: prefix.utf8) }
            }
        let rest = id.map { id in ids.filter { id.utf8.lexicographicallyPrecedes($0.utf8) } } ?? ids
        return rest.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    func auditRecords(_ query: AuditQuery) throws(ServiceError) -> [AuditRecord] {
        func isMeant(_ record: AuditRecord) -> Bool {
            (query.action ?? record.action) == record.action && (query.target ?? record.target) == record.target
        }
        let rest = audit.dropFirst(Int(clamping: max(0, query.after)))
        guard let end = query.before else { return Array(rest.lazy.filter(isMeant).prefix(query.limit)) }
        return Array(rest.prefix { $0.sequence < end }.reversed().lazy.filter(isMeant).prefix(query.limit))
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
