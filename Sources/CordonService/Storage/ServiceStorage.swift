public import CordonIdentity
public import CordonProtocol

/// Where the management service keeps what it knows, one organisation apart from the other.
///
/// Transactions are serialisable: a write sees the result of every write that returned before, and all of its
/// changes or none are kept. A write that returned is durable as far as the store can be. Bodies may run on any thread, must not
/// wait, and may run for one tenant only; another tenant's records do not exist for them.
public protocol ServiceStorage: Sendable {
    /// Runs the body on a consistent state; changes are not possible.
    ///
    /// - Throws: What the body throws, or ``ServiceError`` with a `storage…` code.
    func read<Result: Sendable>(
        _ tenant: TenantID, _ body: @escaping @Sendable (any StorageReader) throws -> Result
    ) async throws -> Result

    /// Runs a body that reads a few records by id or lookup, as the ``read(_:_:)`` of a check-in does.
    ///
    /// A store may run it at once on the caller's thread. It does not wait for a ``read(_:_:)``, however many there are.
    ///
    /// - Throws: What the body throws, or ``ServiceError`` with a `storage…` code.
    func readBriefly<Result: Sendable>(
        _ tenant: TenantID, _ body: @escaping @Sendable (any StorageReader) throws -> Result
    ) async throws -> Result

    /// Runs the body and keeps its changes; when it throws, none is kept.
    ///
    /// - Throws: What the body throws, or ``ServiceError`` with a `storage…` code.
    func write<Result: Sendable>(
        _ tenant: TenantID, _ body: @escaping @Sendable (any StorageTransaction) throws -> Result
    ) async throws -> Result

    /// Runs a body as ``write(_:_:)`` does, for work behind changes whose caller is in no hurry.
    ///
    /// A store may let other writes go first, though not without end.
    ///
    /// - Throws: What the body throws, or ``ServiceError`` with a `storage…` code.
    func writeBehind<Result: Sendable>(
        _ tenant: TenantID, _ body: @escaping @Sendable (any StorageTransaction) throws -> Result
    ) async throws -> Result
}

extension ServiceStorage {
    /// Writes as ``write(_:_:)``, for stores in which no write waits long for another.
    public func writeBehind<Result: Sendable>(
        _ tenant: TenantID, _ body: @escaping @Sendable (any StorageTransaction) throws -> Result
    ) async throws -> Result {
        try await write(tenant, body)
    }

    /// Reads as ``read(_:_:)``, for stores whose reads never wait for one another.
    public func readBriefly<Result: Sendable>(
        _ tenant: TenantID, _ body: @escaping @Sendable (any StorageReader) throws -> Result
    ) async throws -> Result {
        try await read(tenant, body)
    }
}

/// A consistent view of one organisation's records; valid only inside the body that it was handed to.
public protocol StorageReader {
    /// The record with the id, nil where there is none.
    func record<Record: StoredRecord>(_ type: Record.Type, _ id: String) throws(ServiceError) -> Record?

    /// The records whose lookup has the value, ordered by id; every record of the type where no lookup is given.
    func records<Record: StoredRecord>(
        _ type: Record.Type, where lookup: (name: StorageLookup, value: String)?
    ) throws(ServiceError) -> [Record]

    /// The records with the ids, in the order of the ids; those that there are not are left out.
    func records<Record: StoredRecord>(_ type: Record.Type, ids: [String]) throws(ServiceError) -> [Record]

    /// A page of records, ordered by id.
    ///
    /// - Parameters:
    ///   - after: The id after which the page begins, nil for the first page.
    ///   - limit: The most records of the page.
    func page<Record: StoredRecord>(
        _ type: Record.Type, of part: RecordPart, after id: String?, limit: Int
    ) throws(ServiceError) -> [Record]

    /// The ids of a page of records, ordered; the records themselves are not read.
    func identifiers<Record: StoredRecord>(
        _ type: Record.Type, of part: RecordPart, after id: String?, limit: Int
    ) throws(ServiceError) -> [String]

    /// How many records there are; counting stops at `most`.
    func count<Record: StoredRecord>(
        _ type: Record.Type, of part: RecordPart, atMost most: Int
    ) throws(ServiceError) -> Int

    /// The first records whose lookup has a value in a range, ordered by value and then by id: work by the time at which it is due.
    func records<Record: StoredRecord>(
        _ type: Record.Type, where lookup: StorageLookup, in range: Range<String>, limit: Int
    ) throws(ServiceError) -> [Record]

    /// How many records have a lookup in a range; counting stops at `most`.
    func count<Record: StoredRecord>(
        _ type: Record.Type, where lookup: StorageLookup, in range: Range<String>, atMost most: Int
    ) throws(ServiceError) -> Int

    /// The audit records that match, oldest first; newest first where the query says before which record.
    func auditRecords(_ query: AuditQuery) throws(ServiceError) -> [AuditRecord]

    /// The newest audit record, nil in a new log.
    func lastAuditRecord() throws(ServiceError) -> AuditRecord?
}

extension StorageReader {
    /// Every record of the type, ordered by id.
    public func records<Record: StoredRecord>(_ type: Record.Type) throws(ServiceError) -> [Record] {
        try records(type, where: nil)
    }

    /// The organisation's settings.
    public func settings() throws(ServiceError) -> TenantSettings {
        try record(TenantSettings.self, TenantSettings.id) ?? TenantSettings()
    }
}

/// A view that can change records.
public protocol StorageTransaction: StorageReader {
    /// Whether other changes wait for the end of this one: a body whose work comes in parts ends then, and goes on in another.
    var isWaitedFor: Bool { get }

    /// Adds the record, or replaces the one with its id.
    func save(_ record: some StoredRecord) throws(ServiceError)

    /// Removes the record with the id, if there is one.
    func remove<Record: StoredRecord>(_ type: Record.Type, _ id: String) throws(ServiceError)

    /// Adds the records, or replaces those with their ids.
    func save<Record: StoredRecord>(contentsOf records: [Record]) throws(ServiceError)

    /// Removes the records with the ids, as far as there are any.
    func remove<Record: StoredRecord>(_ type: Record.Type, ids: [String]) throws(ServiceError)

    /// Adds a record at the end of the audit log; there is no way to change or remove one.
    ///
    /// - Throws: ``ServiceError`` with code `internalError` when it does not follow the last record.
    func append(_ record: AuditRecord) throws(ServiceError)
}

extension StorageReader {
    /// The records with the ids, one after the other.
    public func records<Record: StoredRecord>(_ type: Record.Type, ids: [String]) throws(ServiceError) -> [Record] {
        var found: [Record] = []
        for id in ids {
            if let record = try record(type, id) { found.append(record) }
        }
        return found
    }

    /// A page cut from all records of the part; a store that has many pages itself.
    public func page<Record: StoredRecord>(
        _ type: Record.Type, of part: RecordPart, after id: String?, limit: Int
    ) throws(ServiceError) -> [Record] {
        let rest = try records(type, of: part).drop { record in
            guard let id else { return false }
            return !id.utf8.lexicographicallyPrecedes(record.storageID.utf8)
        }
        return Array(rest.prefix(max(0, limit)))
    }

    /// The ids of a page.
    public func identifiers<Record: StoredRecord>(
        _ type: Record.Type, of part: RecordPart, after id: String?, limit: Int
    ) throws(ServiceError) -> [String] {
        try page(type, of: part, after: id, limit: limit).map(\.storageID)
    }

    /// Counts the ids of a page.
    public func count<Record: StoredRecord>(
        _ type: Record.Type, of part: RecordPart, atMost most: Int
    ) throws(ServiceError) -> Int {
        try identifiers(type, of: part, after: nil, limit: most).count
    }

    /// The first of all records of the kind whose lookup is in the range.
    public func records<Record: StoredRecord>(
        _ type: Record.Type, where lookup: StorageLookup, in range: Range<String>, limit: Int
    ) throws(ServiceError) -> [Record] {
        func key(_ record: Record) -> [String.UTF8View] {
            [(record.lookups[lookup] ?? "").utf8, record.storageID.utf8]
        }
        let found = try records(type, where: nil).filter { record in
            record.lookups[lookup].map { value in
                !value.utf8.lexicographicallyPrecedes(range.lowerBound.utf8)
                    && value.utf8.lexicographicallyPrecedes(range.upperBound.utf8)
            } ?? false
        }
        let sorted = found.sorted { left, right in
            key(left).lexicographicallyPrecedes(key(right)) { $0.lexicographicallyPrecedes($1) }
        }
        return Array(sorted.prefix(max(0, limit)))
    }

    /// Counts the records.
    public func count<Record: StoredRecord>(
        _ type: Record.Type, where lookup: StorageLookup, in range: Range<String>, atMost most: Int
    ) throws(ServiceError) -> Int {
        try records(type, where: lookup, in: range, limit: most).count
    }

    private func records<Record: StoredRecord>(
        _ type: Record.Type, of part: RecordPart
    ) throws(ServiceError) -> [Record] {
        switch part {
        case .all: try records(type, where: nil)
        case .found(let lookup, let value): try records(type, where: (lookup, value))
        case .beginning(let prefix):
            try records(type, where: nil).filter { $0.storageID.utf8.starts(with: prefix.utf8) }
        }
    }
}

extension StorageTransaction {
    /// False, for stores that do not know.
    public var isWaitedFor: Bool { false }

    /// Saves one after the other.
    public func save<Record: StoredRecord>(contentsOf records: [Record]) throws(ServiceError) {
        for record in records { try save(record) }
    }

    /// Removes one after the other.
    public func remove<Record: StoredRecord>(_ type: Record.Type, ids: [String]) throws(ServiceError) {
        for id in ids { try remove(type, id) }
    }
}
