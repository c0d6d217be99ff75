import CordonBase
import CordonIdentity
import CordonProtocol
import CordonService

/// A store in memory that counts the records of telemetry that are read.
final class CountingStorage: ServiceStorage {
    let telemetryRead = Locked(0)
    private let storage = InMemoryStorage()

    func read<Result: Sendable>(
        _ tenant: TenantID, _ body: @escaping @Sendable (any StorageReader) throws -> Result
    ) async throws -> Result {
        let counter = telemetryRead
        return try await storage.read(tenant) { records in
            try body(Reader(records: records, counter: counter))
        }
    }

    func write<Result: Sendable>(
        _ tenant: TenantID, _ body: @escaping @Sendable (any StorageTransaction) throws -> Result
    ) async throws -> Result {
        let counter = telemetryRead
        return try await storage.write(tenant) { transaction in
            try body(Transaction(transaction: transaction, counter: counter))
        }
    }

    private static func count<Record>(_ records: [Record], in counter: Locked<Int>) -> [Record] {
        let number = records.count
        if Record.self == TelemetryRecord.self { counter.withLock { $0 += number } }
        return records
    }

    private struct Reader: StorageReader {
        let records: any StorageReader
        let counter: Locked<Int>

        func record<Record: StoredRecord>(_ type: Record.Type, _ id: String) throws(ServiceError) -> Record? {
            CountingStorage.count(try [records.record(type, id)].compactMap(\.self), in: counter).first
        }

        func records<Record: StoredRecord>(
            _ type: Record.Type, where lookup: (name: StorageLookup, value: String)?
        ) throws(ServiceError) -> [Record] {
            CountingStorage.count(try records.records(type, where: lookup), in: counter)
        }

        func auditRecords(_ query: AuditQuery) throws(ServiceError) -> [AuditRecord] {
            try records.auditRecords(query)
        }

        func lastAuditRecord() throws(ServiceError) -> AuditRecord? { try records.lastAuditRecord() }
    }

    private struct Transaction: StorageTransaction {
        let transaction: any StorageTransaction
        let counter: Locked<Int>

        private var reader: Reader { Reader(records: transaction, counter: counter) }

        func record<Record: StoredRecord>(_ type: Record.Type, _ id: String) throws(ServiceError) -> Record? {
            try reader.record(type, id)
        }

        func records<Record: StoredRecord>(
            _ type: Record.Type, where lookup: (name: StorageLookup, value: String)?
        ) throws(ServiceError) -> [Record] {
            try reader.records(type, where: lookup)
        }

        func auditRecords(_ query: AuditQuery) throws(ServiceError) -> [AuditRecord] {
            try transaction.auditRecords(query)
        }

        func lastAuditRecord() throws(ServiceError) -> AuditRecord? { try transaction.lastAuditRecord() }

        func save(_ record: some StoredRecord) throws(ServiceError) { try transaction.save(record) }

        func remove<Record: StoredRecord>(_ type: Record.Type, _ id: String) throws(ServiceError) {
            try transaction.remove(type, id)
        }

        func append(_ record: AuditRecord) throws(ServiceError) { try transaction.append(record) }
    }
}
