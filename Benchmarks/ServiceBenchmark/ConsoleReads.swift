import CordonBase
import CordonIdentity
import CordonProtocol
import CordonService

/// A store that counts the records and ids that are read of it.
final class ConsoleReads: ServiceStorage {
    private let storage: any ServiceStorage
    private let read = Locked(0)

    init(_ storage: any ServiceStorage) { self.storage = storage }

    /// How many were read since the last time this was asked.
    func take() -> Int {
        read.withLock { read in
            defer { read = 0 }
            return read
        }
    }

    func read<Result: Sendable>(
        _ tenant: TenantID, _ body: @escaping @Sendable (any StorageReader) throws -> Result
    ) async throws -> Result {
        try await storage.read(tenant) { [read] in try body(Reader(records: $0, read: read)) }
    }

    func readBriefly<Result: Sendable>(
        _ tenant: TenantID, _ body: @escaping @Sendable (any StorageReader) throws -> Result
    ) async throws -> Result {
        try await storage.readBriefly(tenant) { [read] in try body(Reader(records: $0, read: read)) }
    }

    func write<Result: Sendable>(
        _ tenant: TenantID, _ body: @escaping @Sendable (any StorageTransaction) throws -> Result
    ) async throws -> Result {
        try await storage.write(tenant, body)
    }

    private struct Reader: StorageReader {
        let records: any StorageReader
        let read: Locked<Int>

        private func note<Read>(_ all: [Read]) -> [Read] {
            let number = all.count
            read.withLock { $0 += number }
            return all
        }

        func record<Record: StoredRecord>(_ type: Record.Type, _ id: String) throws(ServiceError) -> Record? {
            note(try [records.record(type, id)]).first ?? nil
        }

        func records<Record: StoredRecord>(
            _ type: Record.Type, where lookup: (name: StorageLookup, value: String)?
        ) throws(ServiceError) -> [Record] {
            note(try records.records(type, where: lookup))
        }

        func records<Record: StoredRecord>(_ type: Record.Type, ids: [String]) throws(ServiceError) -> [Record] {
            note(try records.records(type, ids: ids))
        }

        func page<Record: StoredRecord>(
            _ type: Record.Type, of part: RecordPart, after id: String?, limit: Int
        ) throws(ServiceError) -> [Record] {
            note(try records.page(type, of: part, after: id, limit: limit))
        }

        func identifiers<Record: StoredRecord>(
            _ type: Record.Type, of part: RecordPart, after id: String?, limit: Int
        ) throws(ServiceError) -> [String] {
            note(try records.identifiers(type, of: part, after: id, limit: limit))
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

        func count<Record: StoredRecord>(
            _ type: Record.Type, where lookup: StorageLookup, in range: Range<String>, atMost most: Int
        ) throws(ServiceError) -> Int {
            try records.count(type, where: lookup, in: range, atMost: most)
        }

        func auditRecords(_ query: AuditQuery) throws(ServiceError) -> [AuditRecord] {
            note(try records.auditRecords(query))
        }

        func lastAuditRecord() throws(ServiceError) -> AuditRecord? { try records.lastAuditRecord() }
    }
}
