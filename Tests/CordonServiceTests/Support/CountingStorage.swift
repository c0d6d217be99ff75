import CordonBase
import CordonIdentity
import CordonProtocol
import CordonService

/// A store that counts the records that a test's own calls read and write, those within changes apart; and that fails, like a process
/// that is killed, after as many changes as a test says.
///
/// What goes on behind earlier changes, such as telling apps of them, is not counted, whenever it runs.
final class CountingStorage: ServiceStorage {
    /// How many records of each kind.
    struct Counts: Equatable {
        /// Read, by whatever the calls do.
        var read: [StorageKind: Int] = [:]
        /// Read by changes, while no other change can be made.
        var readInChanges: [StorageKind: Int] = [:]
        /// The most records that one change read.
        var mostReadInChange = 0
        /// Saved or removed.
        var written: [StorageKind: Int] = [:]
        /// The most records of each kind that one change saved or removed.
        var mostWrittenInChange: [StorageKind: Int] = [:]
    }

    /// How often records of a kind were read outside changes: one by its id, some by a lookup, or every one.
    struct Reads: Equatable {
        var one = 0
        var some = 0
        var all = 0
        /// Records of pages.
        var paged = 0
    }

    private struct Tally {
        var counts = Counts()
        var reads: [StorageKind: Reads] = [:]
    }

    /// What a store says that is there no more.
    static let gone = ServiceError(.storageUnavailable, "the process was killed")

    /// Whether a call is one of those that are counted; tasks that such a call starts inherit it, others never have it.
    @TaskLocal private static var isCounted = false

    private let storage: any ServiceStorage
    private let tally = Locked(Tally())
    private let changesLeft = Locked<Int?>(nil)
    private let readsLeft = Locked<Int?>(nil)
    private let isWaitedFor = Locked(false)
    private let nextChange = Locked<(@Sendable () async throws -> Void)?>(nil)

    init(_ storage: any ServiceStorage = InMemoryStorage()) {
        self.storage = storage
    }

    /// How many records a body reads and writes.
    func counts(during body: () async throws -> Void) async throws -> Counts {
        try await tally(during: body).counts
    }

    /// How often a body reads outside changes.
    func reads(during body: () async throws -> Void) async throws -> [StorageKind: Reads] {
        try await tally(during: body).reads
    }

    private func tally(during body: () async throws -> Void) async throws -> Tally {
        tally.withLock { $0 = Tally() }
        try await Self.$isCounted.withValue(true, operation: body)
        return tally.withLock { $0 }
    }

    /// Has every change hear that others wait for it, or not.
    func beWaitedFor(_ isWaitedFor: Bool) { self.isWaitedFor.withLock { $0 = isWaitedFor } }

    /// Lets so many changes through and no more; nil for all.
    func fail(afterChanges number: Int?) { changesLeft.withLock { $0 = number } }

    /// Has something done right before the next change, and before none after it.
    func beforeNextChange(_ body: @escaping @Sendable () async throws -> Void) { nextChange.withLock { $0 = body } }

    /// Lets so many reads outside changes through and no more; nil for all.
    func fail(afterReads number: Int?) { readsLeft.withLock { $0 = number } }

    /// Takes one of those that are left; whether there was one.
    private static func take(from left: Locked<Int?>) -> Bool {
        left.withLock { left in
            guard let number = left else { return true }
            left = max(0, number - 1)
            return number > 0
        }
    }

    func read<Result: Sendable>(
        _ tenant: TenantID, _ body: @escaping @Sendable (any StorageReader) throws -> Result
    ) async throws -> Result {
        guard changesLeft.withLock({ $0 != 0 }), Self.take(from: readsLeft) else { throw Self.gone }
        guard Self.isCounted else { return try await storage.read(tenant, body) }
        return try await storage.read(tenant) { [tally] records in
            try body(Reader(records: records, tally: tally, isInChange: false))
        }
    }

    func write<Result: Sendable>(
        _ tenant: TenantID, _ body: @escaping @Sendable (any StorageTransaction) throws -> Result
    ) async throws -> Result {
        try await nextChange.withLock { body in
            defer { body = nil }
            return body
        }?()
        guard Self.take(from: changesLeft) else { throw Self.gone }
        let isWaitedFor = isWaitedFor.withLock(\.self)
        guard Self.isCounted || isWaitedFor else { return try await storage.write(tenant, body) }
        return try await storage.write(tenant) { [tally] transaction in
            let (before, written) = tally.withLock { tally in
                (tally.counts.readInChanges.values.reduce(0, +), tally.counts.written)
            }
            defer {
                tally.withLock { tally in
                    for (kind, number) in tally.counts.written {
                        let most = max(tally.counts.mostWrittenInChange[kind] ?? 0, number - (written[kind] ?? 0))
                        tally.counts.mostWrittenInChange[kind] = most
                    }
                    let read = tally.counts.readInChanges.values.reduce(0, +) - before
                    tally.counts.mostReadInChange = max(tally.counts.mostReadInChange, read)
                }
            }
            return try body(Transaction(transaction: transaction, tally: tally, isWaitedFor: isWaitedFor))
        }
    }

    private struct Reader: StorageReader {
        let records: any StorageReader
        let tally: Locked<Tally>
        let isInChange: Bool

        private func note<Record: StoredRecord>(
            _ records: [Record], _ change: @Sendable (inout Reads) -> Void = { _ in }
        ) -> [Record] {
            let (number, isInChange) = (records.count, isInChange)
            tally.withLock { tally in
                let kind = Record.storageKind
                tally.counts.read[kind, default: 0] += number
                if isInChange {
                    tally.counts.readInChanges[kind, default: 0] += number
                } else {
                    change(&tally.reads[kind, default: Reads()])
                }
            }
            return records
        }

        func record<Record: StoredRecord>(_ type: Record.Type, _ id: String) throws(ServiceError) -> Record? {
            note(try [records.record(type, id)].compactMap(\.self)) { $0.one += 1 }.first
        }

        func records<Record: StoredRecord>(
            _ type: Record.Type, where lookup: (name: StorageLookup, value: String)?
        ) throws(ServiceError) -> [Record] {
            let isWhole = lookup == nil
            return note(try records.records(type, where: lookup)) { reads in
                if isWhole { reads.all += 1 } else { reads.some += 1 }
            }
        }

        func page<Record: StoredRecord>(
            _ type: Record.Type, of part: RecordPart, after id: String?, limit: Int
        ) throws(ServiceError) -> [Record] {
            let page = try records.page(type, of: part, after: id, limit: limit)
            let number = page.count
            return note(page) { $0.paged += number }
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
            let found = try records.records(type, where: lookup, in: range, limit: limit)
            let number = found.count
            return note(found) { $0.paged += number }
        }

        func count<Record: StoredRecord>(
            _ type: Record.Type, where lookup: StorageLookup, in range: Range<String>, atMost most: Int
        ) throws(ServiceError) -> Int {
            try records.count(type, where: lookup, in: range, atMost: most)
        }

        func auditRecords(_ query: AuditQuery) throws(ServiceError) -> [AuditRecord] {
            try records.auditRecords(query)
        }

        func lastAuditRecord() throws(ServiceError) -> AuditRecord? { try records.lastAuditRecord() }
    }

    private struct Transaction: StorageTransaction {
        let transaction: any StorageTransaction
        let tally: Locked<Tally>
        let isWaitedFor: Bool

        private var reader: Reader { Reader(records: transaction, tally: tally, isInChange: true) }

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

        func count<Record: StoredRecord>(
            _ type: Record.Type, where lookup: StorageLookup, in range: Range<String>, atMost most: Int
        ) throws(ServiceError) -> Int {
            try reader.count(type, where: lookup, in: range, atMost: most)
        }

        func auditRecords(_ query: AuditQuery) throws(ServiceError) -> [AuditRecord] {
            try transaction.auditRecords(query)
        }

        func lastAuditRecord() throws(ServiceError) -> AuditRecord? { try transaction.lastAuditRecord() }

        func save(_ record: some StoredRecord) throws(ServiceError) {
            let kind = type(of: record).storageKind
            tally.withLock { $0.counts.written[kind, default: 0] += 1 }
            try transaction.save(record)
        }

        func remove<Record: StoredRecord>(_ type: Record.Type, _ id: String) throws(ServiceError) {
            tally.withLock { $0.counts.written[Record.storageKind, default: 0] += 1 }
            try transaction.remove(type, id)
        }

        func append(_ record: AuditRecord) throws(ServiceError) { try transaction.append(record) }
    }
}
