internal import CordonIdentity
internal import CordonProtocol
internal import CordonService
internal import Foundation
internal import GRDB

/// One organisation's records within one transaction; whether it may write is the connection's affair.
struct SQLiteTransaction: StorageTransaction {
    private let database: Database
    private let tenant: String
    private let decoded: DecodedRecords?
    private let isCancelled: @Sendable () -> Bool
    private let hasFollowers: @Sendable () -> Bool

    var isWaitedFor: Bool { hasFollowers() }

    /// - Parameters:
    ///   - isCancelled: Whether the caller has given up; asked before each statement, since a body may run thousands of them and the
    ///     library stops only its own.
    ///   - isWaitedFor: Whether other writes wait for this one.
    init(
        _ database: Database, tenant: TenantID, decoded: DecodedRecords? = nil,
        isCancelled: @escaping @Sendable () -> Bool = { false }, isWaitedFor: @escaping @Sendable () -> Bool = { false }
    ) {
        self.database = database
        self.tenant = tenant.rawValue
        self.decoded = decoded
        self.isCancelled = isCancelled
        hasFollowers = isWaitedFor
    }

    func record<Record: StoredRecord>(_ type: Record.Type, _ id: String) throws(ServiceError) -> Record? {
        try attempt {
            var found: Record?
            try forEachRow(
                "SELECT document FROM record WHERE tenant = ? AND kind = ? AND id = ?",
                [tenant, Record.storageKind.rawValue, id]
            ) { row in found = try decode(type, row.bytes(0), id) }
            return found
        }
    }

    func records<Record: StoredRecord>(
        _ type: Record.Type, where lookup: (name: StorageLookup, value: String)?
    ) throws(ServiceError) -> [Record] {
        let kind = Record.storageKind.rawValue
        // A few, such as the signing keys, are asked for again and again.
        guard let lookup else {
            return try list(
                type, "SELECT id, document FROM record WHERE tenant = ? AND kind = ? ORDER BY id", [tenant, kind],
                remembering: 16)
        }
        return try list(
            type,
            """
            SELECT id, document FROM lookup JOIN record USING (tenant, kind, id)
            WHERE tenant = ? AND kind = ? AND name = ? AND value = ? ORDER BY id
            """, [tenant, kind, lookup.name.rawValue, lookup.value], remembering: 16)
    }

    /// The records of a list.
    ///
    /// - Parameter most: How many are remembered as they were decoded: of a list without an end only the beginning, so that it does not
    ///   drive out everything else.
    private func list<Record: StoredRecord>(
        _ type: Record.Type, _ sql: String, _ arguments: [any StoreArgument], remembering most: Int
    ) throws(ServiceError) -> [Record] {
        try attempt {
            var found: [Record] = []
            try forEachRow(sql, arguments) { row in
                found.append(try decode(type, row.bytes(1), found.count < most ? row.text(0) : nil))
            }
            return found
        }
    }

    func page<Record: StoredRecord>(
        _ type: Record.Type, of part: RecordPart, after id: String?, limit: Int
    ) throws(ServiceError) -> [Record] {
        let (sql, arguments) = selection("id, document", Record.storageKind, part, after: id, limit: limit)
        // What a person is shown, who often looks again; not what goes through all that there is.
        return try list(type, sql, arguments, remembering: limit <= 200 ? limit : 0)
    }

    func identifiers<Record: StoredRecord>(
        _ type: Record.Type, of part: RecordPart, after id: String?, limit: Int
    ) throws(ServiceError) -> [String] {
        // Whole lists, which a check-in asks for, come without a bound and a place to begin.
        if case .found(let name, let value) = part, id == nil, limit == .max {
            return try texts(
                "SELECT id FROM lookup WHERE tenant = ? AND kind = ? AND name = ? AND value = ? ORDER BY id",
                [tenant, Record.storageKind.rawValue, name.rawValue, value])
        }
        let (sql, arguments) = selection("id", Record.storageKind, part, after: id, limit: limit)
        return try texts(sql, arguments)
    }

    func count<Record: StoredRecord>(
        _ type: Record.Type, of part: RecordPart, atMost most: Int
    ) throws(ServiceError) -> Int {
        let (sql, arguments) = selection("1", Record.storageKind, part, after: nil, limit: most)
        return try number("SELECT count(*) FROM (\(sql))", arguments)
    }

    func records<Record: StoredRecord>(
        _ type: Record.Type, where lookup: StorageLookup, in range: Range<String>, limit: Int
    ) throws(ServiceError) -> [Record] {
        try list(
            type,
            """
            SELECT id, document FROM lookup JOIN record USING (tenant, kind, id)
            WHERE tenant = ? AND kind = ? AND name = ? AND value >= ? AND value < ? ORDER BY value, id LIMIT ?
            """,
            [
                tenant, Record.storageKind.rawValue, lookup.rawValue, range.lowerBound, range.upperBound,
                max(0, limit),
            ], remembering: limit <= 1_000 ? limit : 0)
    }

    func count<Record: StoredRecord>(
        _ type: Record.Type, where lookup: StorageLookup, in range: Range<String>, atMost most: Int
    ) throws(ServiceError) -> Int {
        try number(
            """
            SELECT count(*) FROM (SELECT 1 FROM lookup
            WHERE tenant = ? AND kind = ? AND name = ? AND value >= ? AND value < ? LIMIT ?)
            """,
            [
                tenant, Record.storageKind.rawValue, lookup.rawValue, range.lowerBound, range.upperBound,
                max(0, most),
            ])
    }

    /// A statement for a part of a kind, ordered by id. Ids and values alone are read from an index, without the documents.
    private func selection(
        _ column: String, _ kind: StorageKind, _ part: RecordPart, after id: String?, limit: Int
    ) -> (sql: String, arguments: [any StoreArgument]) {
        // A negative limit means none in SQLite.
        let limit = max(0, limit)
        let kind = kind.rawValue
        let last = id ?? ""
        switch part {
        case .all:
            return (
                "SELECT \(column) FROM record WHERE tenant = ? AND kind = ? AND id > ? ORDER BY id LIMIT ?",
                [tenant, kind, last, limit]
            )
        case .found(let name, let value):
            let join = column == "id, document" ? "JOIN record USING (tenant, kind, id)" : ""
            return (
                """
                SELECT \(column) FROM lookup \(join)
                WHERE tenant = ? AND kind = ? AND name = ? AND value = ? AND id > ? ORDER BY id LIMIT ?
                """, [tenant, kind, name.rawValue, value, last, limit]
            )
        case .beginning(let prefix):
            return (
                """
                SELECT \(column) FROM record
                WHERE tenant = ? AND kind = ? AND id >= ? AND id < ? AND id > ? ORDER BY id LIMIT ?
                """, [tenant, kind, prefix, prefix + "\u{10FFFF}", last, limit]
            )
        }
    }

    func auditRecords(_ query: AuditQuery) throws(ServiceError) -> [AuditRecord] {
        let lines = try documents(
            """
            SELECT line FROM audit WHERE tenant = ? AND sequence > ? AND sequence < ? AND (? IS NULL OR action = ?)
            AND (? IS NULL OR target = ?) ORDER BY sequence \(query.before == nil ? "" : "DESC") LIMIT ?
            """,
            [
                tenant, query.after, query.before ?? Int64.max, query.action, query.action, query.target, query.target,
                query.limit,
            ])
        return try lines.map { line throws(ServiceError) in try auditRecord(line) }
    }

    func lastAuditRecord() throws(ServiceError) -> AuditRecord? {
        let lines = try documents(
            "SELECT line FROM audit WHERE tenant = ? ORDER BY sequence DESC LIMIT 1", [tenant])
        return try lines.first.map { line throws(ServiceError) in try auditRecord(line) }
    }

    func save(_ record: some StoredRecord) throws(ServiceError) {
        let kind = type(of: record).storageKind.rawValue
        let document: Data
        do {
            document = try StorageCoding.encode(record)
        } catch {
            throw ServiceError(.internalError, "a record has no stored form", place: kind)
        }
        try execute(
            """
            INSERT INTO record (tenant, kind, id, document) VALUES (?, ?, ?, ?)
            ON CONFLICT DO UPDATE SET document = excluded.document
            """, [tenant, kind, record.storageID, document])
        try saveLookups(of: record, kind: kind)
        decoded?.forget(type(of: record).storageKind, record.storageID, of: tenant)
    }

    func remove<Record: StoredRecord>(_ type: Record.Type, _ id: String) throws(ServiceError) {
        let key: [any StoreArgument] = [tenant, Record.storageKind.rawValue, id]
        try execute("DELETE FROM record WHERE tenant = ? AND kind = ? AND id = ?", key)
        try execute("DELETE FROM lookup WHERE tenant = ? AND kind = ? AND id = ?", key)
        decoded?.forget(Record.storageKind, id, of: tenant)
    }

    func append(_ record: AuditRecord) throws(ServiceError) {
        guard record.follows(try lastAuditRecord()) else {
            throw ServiceError(.internalError, "an audit record does not follow the last one", place: record.action)
        }
        try execute(
            "INSERT INTO audit (tenant, sequence, action, target, line) VALUES (?, ?, ?, ?, ?)",
            [tenant, record.sequence, record.action, record.target, Data(record.line.utf8)])
    }

    /// Writes lookups anew: of a kind that has others than when its records were saved.
    func renewLookups<Record: StoredRecord>(of type: Record.Type) throws(ServiceError) {
        var last: String?
        while true {
            let page = try page(type, of: .all, after: last, limit: 1_000)
            for record in page { try saveLookups(of: record, kind: type.storageKind.rawValue) }
            guard let end = page.last?.storageID else { return }
            last = end
        }
    }

    /// Writes lookups only where they differ: most writes change none.
    private func saveLookups(of record: some StoredRecord, kind: String) throws(ServiceError) {
        let wanted = record.lookups
        let present = try lookups(of: record.storageID, kind: kind)
        for (name, value) in present where wanted[name] != value {
            try execute(
                "DELETE FROM lookup WHERE tenant = ? AND kind = ? AND name = ? AND value = ? AND id = ?",
                [tenant, kind, name.rawValue, value, record.storageID])
        }
        for (name, value) in wanted where present[name] != value {
            try execute(
                "INSERT INTO lookup (tenant, kind, name, value, id) VALUES (?, ?, ?, ?, ?)",
                [tenant, kind, name.rawValue, value, record.storageID])
        }
    }

    private func lookups(of id: String, kind: String) throws(ServiceError) -> [StorageLookup: String] {
        try attempt {
            var found: [StorageLookup: String] = [:]
            try forEachRow(
                "SELECT name, value FROM lookup WHERE tenant = ? AND kind = ? AND id = ?", [tenant, kind, id]
            ) { row in
                if let name = StorageLookup(rawValue: row.text(0)) { found[name] = row.text(1) }
            }
            return found
        }
    }

    private func documents(_ sql: String, _ arguments: [any StoreArgument]) throws(ServiceError) -> [Data] {
        try attempt {
            var found: [Data] = []
            try forEachRow(sql, arguments) { found.append(Data($0.bytes(0))) }
            return found
        }
    }

    private func texts(_ sql: String, _ arguments: [any StoreArgument]) throws(ServiceError) -> [String] {
        try attempt {
            var found: [String] = []
            try forEachRow(sql, arguments) { found.append($0.text(0)) }
            return found
        }
    }

    private func number(_ sql: String, _ arguments: [any StoreArgument]) throws(ServiceError) -> Int {
        try attempt {
            var found = 0
            try forEachRow(sql, arguments) { found = $0.number(0) }
            return found
        }
    }

    private func execute(_ sql: String, _ arguments: [any StoreArgument]) throws(ServiceError) {
        try attempt { try StoreStatement(sql, on: database).run(arguments) }
    }

    private func forEachRow(
        _ sql: String, _ arguments: [any StoreArgument], do body: (StoreStatement.Row) throws -> Void
    ) throws {
        guard !isCancelled() else { throw CancellationError() }
        try StoreStatement(sql, on: database).forEachRow(arguments, do: body)
    }

    private func attempt<Result>(_ body: () throws -> Result) throws(ServiceError) -> Result {
        do {
            return try body()
        } catch {
            throw ServiceError(storage: error, place: nil)
        }
    }

    /// The record in a document; one that is remembered under its id where that document is the same.
    private func decode<Record: StoredRecord>(
        _ type: Record.Type, _ document: UnsafeRawBufferPointer, _ id: String?
    ) throws(ServiceError) -> Record {
        do {
            guard let decoded, let id else { return try StorageCoding.decode(type, Data(document)) }
            return try decoded.record(type, id, of: tenant, in: document)
        } catch {
            throw ServiceError(.storageDamaged, "a stored record is not readable", place: Record.storageKind.rawValue)
        }
    }

    private func auditRecord(_ line: Data) throws(ServiceError) -> AuditRecord {
        do {
            return try AuditRecord(line: String(decoding: line, as: UTF8.self))
        } catch {
            throw ServiceError(.storageDamaged, "a stored audit record is not readable")
        }
    }
}
