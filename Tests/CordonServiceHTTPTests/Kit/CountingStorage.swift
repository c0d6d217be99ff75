import CordonBase
import CordonIdentity
import CordonProtocol
import CordonService

/// A store that counts what is read of it.
final class CountingStorage: ServiceStorage {
    private let base = InMemoryStorage()
    private let counts = Locked<[StorageKind: Reads]>([:])

    /// How often records of a kind were read: one by its id, some by a lookup, or every one.
    struct Reads: Equatable {
        var one = 0
        var some = 0
        var all = 0
        /// Records of pages.
        var paged = 0
    }

    /// What a body reads.
    func reads(during body: () async throws -> Void) async throws -> [StorageKind: Reads] {
        counts.withLock { $0 = [:] }
        try await body()
        return counts.withLock { $0 }
    }

    func read<Result: Sendable>(
        _ tenant: TenantID, _ body: @escaping @Sendable (any StorageReader) throws -> Result
    ) async throws -> Result {
        try await base.read(tenant) { [counts] records in
            try body(Reader(base: records, counts: counts))
        }
    }

    func write<Result: Sendable>(
        _ tenant: TenantID, _ body: @escaping @Sendable (any StorageTransaction) throws -> Result
    ) async throws -> Result {
        try await base.write(tenant, body)
    }

    private struct Reader: StorageReader {
        let base: any StorageReader
        let counts: Locked<[StorageKind: Reads]>

        func record<Record: StoredRecord>(_ type: Record.Type, _ id: String) throws(ServiceError) -> Record? {
            counts.withLock { $0[Record.storageKind, default: Reads()].one += 1 }
            return try base.record(type, id)
        }

        func records<Record: StoredRecord>(
            _ type: Record.Type, where lookup: (name: StorageLookup, value: String)?
        ) throws(ServiceError) -> [Record] {
            counts.withLock { counts in
                var reads = counts[Record.storageKind] ?? Reads()
                if lookup == nil { reads.all += 1 } else { reads.some += 1 }
                counts[Record.storageKind] = reads
            }
            return try base.records(type, where: lookup)
        }

        func page<Record: StoredRecord>(
            _ type: Record.Type, of part: RecordPart, after id: String?, limit: Int
        ) throws(ServiceError) -> [Record] {
            let page = try base.page(type, of: part, after: id, limit: limit)
            let (number, kind) = (page.count, Record.storageKind)
            counts.withLock { $0[kind, default: Reads()].paged += number }
            return page
        }

        func records<Record: StoredRecord>(
            _ type: Record.Type, where lookup: StorageLookup, in range: Range<String>, limit: Int
        ) throws(ServiceError) -> [Record] {
            let found = try base.records(type, where: lookup, in: range, limit: limit)
            let (number, kind) = (found.count, Record.storageKind)
            counts.withLock { $0[kind, default: Reads()].paged += number }
            return found
        }

        func identifiers<Record: StoredRecord>(
            _ type: Record.Type, of part: RecordPart, after id: String?, limit: Int
        ) throws(ServiceError) -> [String] {
            try base.identifiers(type, of: part, after: id, limit: limit)
        }

        func count<Record: StoredRecord>(
            _ type: Record.Type, of part: RecordPart, atMost most: Int
        ) throws(ServiceError) -> Int {
            try base.count(type, of: part, atMost: most)
        }

        func count<Record: StoredRecord>(
            _ type: Record.Type, where lookup: StorageLookup, in range: Range<String>, atMost most: Int
        ) throws(ServiceError) -> Int {
            try base.count(type, where: lookup, in: range, atMost: most)
        }

        func auditRecords(_ query: AuditQuery) throws(ServiceError) -> [AuditRecord] { try base.auditRecords(query) }

        func lastAuditRecord() throws(ServiceError) -> AuditRecord? { try base.lastAuditRecord() }
    }
}
