internal import CordonBase
internal import CordonService
internal import Foundation

/// Records as they were decoded last, each beside the bytes that it was decoded from.
///
/// A record is taken from here only where the store holds the very same bytes, so nothing here can be out of date,
/// whichever process wrote. Decoding JSON costs about ten times the look-up in SQLite. Bounded in number and in bytes: when a
/// generation is full, or an hour old, the one before is forgotten, and large documents, such as the pieces of apps' logs, are not remembered at
/// all. What is written or removed is forgotten at once, since its former bytes come no more. May be used from any thread.
final class DecodedRecords: Sendable {
    private struct Name: Hashable {
        var tenant: String
        var kind: StorageKind
        var id: String
    }

    private struct Entry {
        var document: Data
        var record: any StoredRecord
    }

    private struct Generations {
        var current: [Name: Entry] = [:]
        var previous: [Name: Entry] = [:]
        /// The bytes of all documents of the current generation, and of the one before.
        var bytes = (current: 0, previous: 0)
        /// When the current one began.
        var begun: ContinuousClock.Instant

        mutating func turn(at moment: ContinuousClock.Instant) {
            (previous, current) = (current, [:])
            bytes = (0, bytes.current)
            begun = moment
        }
    }

    /// The most bytes of a document that is remembered: a policy has far fewer.
    static let largestDocument = 128 << 10

    /// How old a generation gets.
    private static let longest = Duration.seconds(3_600)

    private let capacity: Int
    private let mostBytes: Int
    private let now: @Sendable () -> ContinuousClock.Instant
    private let known: Locked<Generations>

    /// Remembers up to so many records, with documents of so many bytes.
    init(
        capacity: Int = 20_000, bytes: Int = 64 << 20, now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.capacity = capacity
        mostBytes = bytes
        self.now = now
        known = Locked(Generations(begun: now()))
    }

    /// How many records are remembered.
    var count: Int { known.withLock { $0.current.count + $0.previous.count } }

    /// The bytes of all documents that are remembered.
    var size: Int { known.withLock { $0.bytes.current + $0.bytes.previous } }

    /// The record in a document: a known one where the bytes are the same, a decoded one otherwise.
    func record<Record: StoredRecord>(
        _ type: Record.Type, _ id: String, of tenant: String, in bytes: UnsafeRawBufferPointer
    ) throws -> Record {
        let name = Name(tenant: tenant, kind: type.storageKind, id: id)
        let entry = known.withLock { $0.current[name] ?? $0.previous[name] }
        if let entry, Self.isSame(entry.document, bytes), let record = entry.record as? Record { return record }
        let document = Data(bytes)
        let record = try StorageCoding.decode(type, document)
        guard document.count <= Self.largestDocument else { return record }
        let moment = now()
        known.withLock { [capacity, mostBytes] known in
            let isOld = known.begun.duration(to: moment) >= Self.longest
            if isOld || known.current.count >= capacity / 2 || known.bytes.current + document.count > mostBytes / 2 {
                known.turn(at: moment)
            }
            let former = known.current.updateValue(Entry(document: document, record: record), forKey: name)
            known.bytes.current += document.count - (former?.document.count ?? 0)
        }
        return record
    }

    /// Forgets a record that is written or removed. Where that is given up, it is decoded once more.
    func forget(_ kind: StorageKind, _ id: String, of tenant: String) {
        let name = Name(tenant: tenant, kind: kind, id: id)
        known.withLock { known in
            if let entry = known.current.removeValue(forKey: name) { known.bytes.current -= entry.document.count }
            if let entry = known.previous.removeValue(forKey: name) { known.bytes.previous -= entry.document.count }
        }
    }

    private static func isSame(_ document: Data, _ bytes: UnsafeRawBufferPointer) -> Bool {
        document.withUnsafeBytes { known in
            guard known.count == bytes.count, let left = known.baseAddress, let right = bytes.baseAddress else {
                return known.count == bytes.count
            }
            return memcmp(left, right, known.count) == 0
        }
    }
}
