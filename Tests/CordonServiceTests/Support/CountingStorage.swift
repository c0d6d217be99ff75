import CordonBase
import CordonIdentity
import CordonProtocol
import CordonService

/// A store in memory that counts the records that are read and written, those within changes apart; and that fails, like a process
/// that is killed, after as many changes as a test says.
final class CountingStorage: ServiceStorage {
    /// How many records of each kind.
    struct Counts: Equatable {
        /// Read, by whomever.
        var read: [StorageKind: Int] = [:]
        /// Read by changes, while no other change can be made.
        var readInChanges: [StorageKind: Int] = [:]
        /// The most records that one change read.
        var mostReadInChange = 0
        /// Saved or removed.
        var written: [StorageKind: Int] = [:]
    }

    /// What a store says that is there no more.
    static let gone = ServiceError(.storageUnavailable, "the process was killed")

    private let storage: any ServiceStorage
    private let counts = Locked(Counts())
    private let changesLeft = Locked<Int?>(nil)

    init(_ storage: any ServiceStorage = InMemoryStorage()) {
        self.storage = storage
    }

    /// What a body reads and writes.
    func counts(during body: () async throws -> Void) async throws -> Counts {
        counts.withLock { $0 = Counts() }
        try await body()
        return counts.withLock { $0 }
    }

    /// Lets so many changes through and no more; nil for all.
    func fail(afterChanges number: Int?) { changesLeft.withLock { $0 = number } }

    func read<Result: Sendable>(
        _ tenant: TenantID, _ body: @escaping @Sendable (any StorageReader) throws -> Result
    ) async throws -> Result {
        guard changesLeft.withLock({ $0 != 0 }) else { throw Self.gone }
        return try await storage.read(tenant) { [counts] records in
            try body(Reader(records: records, counts: counts, isInChange: false))
        }
    }

    func write<Result: Sendable>(
        _ tenant: TenantID, _ body: @escaping @Sendable (any StorageTransaction) throws -> Result
    ) async throws -> Result {
        let isLetThrough = changesLeft.withLock { left in
            guard let number = left else { return true }
            left = max(0, number - 1)
            return number > 0
        }
        guard isLetThrough else { throw Self.gone }
        return try await storage.write(tenant) { [counts] transaction in
            let before = counts.withLock { $0.readInChanges.values.reduce(0, +) }
            defer {
                counts.withLock { counts in
                    let read = counts.readInChanges.values.reduce(0, +) - before
                    counts.mostReadInChange = max(counts.mostReadInChange, read)
                }
            }
            return try body(Transaction(transaction: transaction, counts: counts))
        }
    }

    private struct Reader: StorageReader {
        let records: any StorageReader
        let counts: Locked<Counts>
        let isInChange: Bool

        private func note<Record: StoredRecord>(_ records: [Record]) -> [Record] {
            let (number, isInChange) = (records.count, isInChange)
            counts.withLock { counts in
                counts.read[Record.storageKind, default: 0] += number
                if isInChange { counts.readInChanges[Record.storageKind, default: 0] += number }
            }
            return records
        }

        func record<Record: StoredRecord>(_ type: Record.Type, _ id: String) throws(ServiceError) -> Record? {
            note(try [records.record(type, id)].compactMap(\.self)).first
        }

        func records<Record: StoredRecord>(
            _ type: Record.Type, where lookup: (name: StorageLookup, value: String)?
        ) throws(ServiceError) -> [Record] {
            note(try records.records(type, where: lookup))
        }

        func page<Record: StoredRecord>(
            _ type: Record.Type, of part: RecordPart, after id: String?, limit: Int
        ) throws(ServiceError) -> [Record] {
            note(try records.page(type, of: part, after: id, limit: limit))
        }

        func identifiers<Record: StoredRecord>(
            _ type: Record.Type, of part: RecordPart, after id: String?, limit: Int
        ) throws(ServiceError) -> [String] {
            try records.identifiers(type, of: part, after: id, limit: limit)
        }

        func count<Record: StoredRecord>(
            _ type: Record.Type, of part: RecordPart, atMost most: Int
        ) throws(ServiceError) -> Int {
            try records.count(type, of: part, atMost: most)
        }

        func records<Record: StoredRecord>(
            _ type: Record.Type, where lookup: StorageLookup, in range: Range<String>, limit: Int
        ) throws(ServiceError) -> [Record] {
            note(try records.records(type, where: lookup, in: range, limit: limit))
        }

        func auditRecords(_ query: AuditQuery) throws(ServiceError) -> [AuditRecord] {
            try records.auditRecords(query)
        }

        func lastAuditRecord() throws(ServiceError) -> AuditRecord? { try records.lastAuditRecord() }
    }

    private struct Transaction: StorageTransaction {
        let transaction: any StorageTransaction
        let counts: Locked<Counts>

        private var reader: Reader { Reader(records: transaction, counts: counts, isInChange: true) }

        func record<Record: StoredRecord>(_ type: Record.Type, _ id: String) throws(ServiceError) -> Record? {
            try reader.record(type, id)
        }

        func records<Record: StoredRecord>(
            _ type: Record.Type, where lookup: (name: StorageLookup, value: String)?
        ) throws(ServiceError) -> [Record] {
            try reader.records(type, where: lookup)
        }

        func page<Record: StoredRecord>(
            _ type: Record.Type, of part: RecordPart, after id: String?, limit: Int
        ) throws(ServiceError) -> [Record] {
            try reader.page(type, of: part, after: id, limit: limit)
        }

        func identifiers<Record: StoredRecord>(
            _ type: Record.Type, of part: RecordPart, after id: String?, limit: Int
        ) throws(ServiceError) -> [String] {
            try reader.identifiers(type, of: part, after: id, limit: limit)
        }

        func count<Record: StoredRecord>(
            _ type: Record.Type, of part: RecordPart, atMost most: Int
        ) throws(ServiceError) -> Int {
            try reader.count(type, of: part, atMost: most)
        }

        func records<Record: StoredRecord>(
            _ type: Record.Type, where lookup: StorageLookup, in range: Range<String>, limit: Int
        ) throws(ServiceError) -> [Record] {
            try reader.records(type, where: lookup, in: range, limit: limit)
        }

        func auditRecords(_ query: AuditQuery) throws(ServiceError) -> [AuditRecord] {
            try transaction.auditRecords(query)
        }

        func lastAuditRecord() throws(ServiceError) -> AuditRecord? { try transaction.lastAuditRecord() }

        func save(_ record: some StoredRecord) throws(ServiceError) {
            let kind = type(of: record).storageKind
            counts.withLock { $0.written[kind, default: 0] += 1 }
            try transaction.save(record)
        }

        func remove<Record: StoredRecord>(_ type: Record.Type, _ id: String) throws(ServiceError) {
            counts.withLock { $0.written[Record.storageKind, default: 0] += 1 }
            try transaction.remove(type, id)
        }

        func append(_ record: AuditRecord) throws(ServiceError) { try transaction.append(record) }
    }
}
