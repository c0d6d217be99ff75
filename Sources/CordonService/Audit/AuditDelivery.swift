public import CordonProtocol
internal import Foundation

/// Records of the audit log for a receiver, oldest first.
public struct AuditBatch: Sendable, Equatable {
    /// The sequence number of the record before the first one, 0 for the beginning.
    public let after: Int64
    /// The records, which follow each other without a gap.
    public let records: [AuditRecord]

    /// Makes a batch.
    public init(after: Int64, records: [AuditRecord]) {
        (self.after, self.records) = (after, records)
    }

    /// The same for the same records and no others: after a restore, other records have the numbers of those that were lost. A batch that
    /// comes again with later records has another id; a receiver tells records apart by number and hash.
    public var id: String { "audit-\(after)-" + (records.last.map { "\($0.sequence)-\($0.hash)" } ?? "\(after)") }
}

/// How far a receiver has the audit log.
struct AuditDelivery: Codable, Sendable, Equatable {
    /// The sequence number of the newest record that it took.
    var delivered: Int64 = 0
    /// How many deliveries failed since.
    var failures = 0
    /// When to try again; nil for at once.
    var next: Date?

    /// Notes a failure, and when the next attempt is.
    mutating func noteFailure(at now: Date) {
        failures += 1
        next = Redelivery.next(after: failures, at: now)
    }
}

/// The newest signed head of the audit log.
struct AuditHead: Codable, Sendable, Equatable {
    /// The sequence number of the record that tells of it.
    var sequence: Int64
    /// When it was signed.
    var time: Date
}
