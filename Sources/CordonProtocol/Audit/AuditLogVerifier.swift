internal import CordonIdentity
internal import Foundation

/// Checks an exported audit log without the service: chain, checkpoints, and the receipts of wipes.
///
/// Hand it the lines in order with ``read(_:)``, then ask for the ``report()``. Its memory grows with the number of
/// registrations and of checkpoints, not of records.
public struct AuditLogVerifier: Sendable {
    /// The most faults that a report lists.
    public static let largestReport = 100

    private let pin: String?
    private let expected: [AuditCheckpoint]
    private var line = 0
    private var last: AuditRecord?
    private var records = 0
    private var seal: AuditSeal?
    private var sealed: Sealed?
    private var faults: [AuditFault] = []
    private var receipts = ReceiptAudit()
    private var hashes: [Int64: String] = [:]
    private var embedded: [Embedded] = []
    private let wanted: Set<Int64>

    /// A checkpoint that the log itself tells of: it was made of the record right before.
    private struct Embedded {
        var line: Int
        var text: String
        var sequence: Int64
        var hash: String
    }

    private struct Sealed {
        var checkpoint: AuditCheckpoint
        var keys: JSONWebKeySet
        var root: String
    }

    /// Makes a verifier.
    ///
    /// - Parameters:
    ///   - pin: The thumbprint of the root key; nil trusts whichever key the export brings along.
    ///   - earlier: Checkpoints of the same log from elsewhere, already verified; the log must contain them all.
    public init(pin: String? = nil, earlier: [AuditCheckpoint] = []) {
        self.pin = pin
        self.expected = earlier
        self.wanted = Set(earlier.map(\.sequence))
    }

    /// Checks the next line, without its line feed.
    public mutating func read(_ text: String) {
        line += 1
        if seal != nil { return fault(.broken, "something follows the checkpoint") }
        if text.hasPrefix(#"{"checkpoint":"#) { return readSeal(text) }
        let record: AuditRecord
        do {
            record = try AuditRecord(line: text)
        } catch {
            return fault(.unreadable, error.reason)
        }
        records += 1
        if record.hash != record.expectedHash {
            fault(.edited, "the hash of record \(record.sequence) is not that of its content")
        }
        if let last, last.tenant != record.tenant { fault(.foreign, "the record is of another organisation") }
        if !record.isNumbered(after: last) || record.previousHash != last?.hash ?? AuditRecord.noHash {
            fault(.broken, "record \(record.sequence) does not follow record \(last?.sequence ?? 0)")
        }
        if let text = record.details["checkpoint"] {
            embedded.append(
                Embedded(
                    line: line, text: text, sequence: last?.sequence ?? 0, hash: last?.hash ?? AuditRecord.noHash))
        }
        last = record
        if wanted.contains(record.sequence) { hashes[record.sequence] = record.hash }
        if let reason = receipts.fault(in: record) { fault(.wrongReceipt, reason) }
    }

    /// What was found, once every line was read.
    public func report() -> AuditReport {
        var copy = self
        copy.finish()
        return AuditReport(
            tenant: last?.tenant ?? copy.sealed?.checkpoint.tenant, records: records, receipts: receipts.verified,
            checkpoint: copy.sealed?.checkpoint, rootKeyThumbprint: copy.sealed?.root,
            isPinned: pin != nil && copy.sealed?.root == pin, faults: copy.faults)
    }

    private mutating func readSeal(_ text: String) {
        do {
            let seal = try MessageCoding.decode(AuditSeal.self, from: Data(text.utf8))
            self.seal = seal
            let (keys, root) = try seal.keys.auditKeys(pin: pin)
            sealed = Sealed(
                checkpoint: try AuditCheckpoint(verifying: seal.checkpoint, signedBy: keys), keys: keys, root: root)
        } catch {
            fault(.wrongSeal, error.reason)
        }
    }

    private mutating func finish() {
        line = 0
        guard seal != nil else { return fault(.unsealed, "the log does not end in a checkpoint") }
        guard let sealed else { return }
        let head = AuditCheckpoint(of: last, tenant: sealed.checkpoint.tenant, time: sealed.checkpoint.time)
        if head != sealed.checkpoint {
            fault(
                .truncated, "the log ends in record \(head.sequence), its checkpoint in \(sealed.checkpoint.sequence)")
        }
        if let last, last.tenant != sealed.checkpoint.tenant {
            fault(.foreign, "the checkpoint is of another organisation")
        }
        for checkpoint in expected { compare(checkpoint) }
        for entry in embedded {
            line = entry.line
            let checkpoint = checkpoint(in: entry.text, signedBy: sealed.keys)
            if checkpoint?.sequence != entry.sequence || checkpoint?.hash != entry.hash {
                fault(.forked, "a checkpoint in the log does not fit the record before it")
            }
        }
    }

    /// The checkpoint that a record holds. Of one by a key that the service no longer vouches for, because it leaked, the content
    /// alone counts: the log's own seal is over the record that holds it.
    private func checkpoint(in text: String, signedBy keys: JSONWebKeySet) -> AuditCheckpoint? {
        do {
            return try AuditCheckpoint(verifying: text, signedBy: keys)
        } catch {
            guard error.code == .unknownKey else { return nil }
            return try? AuditCheckpoint(unverified: text)
        }
    }

    private mutating func compare(_ checkpoint: AuditCheckpoint) {
        let sequence = checkpoint.sequence
        if sequence > last?.sequence ?? 0 {
            fault(.truncated, "an earlier checkpoint knows record \(sequence), the log ends before it")
        } else if sequence > 0, hashes[sequence] != checkpoint.hash || checkpoint.tenant != last?.tenant {
            fault(.forked, "record \(sequence) is not the one that an earlier checkpoint knows")
        }
    }

    private mutating func fault(_ code: AuditFault.Code, _ reason: String) {
        guard faults.count < Self.largestReport else { return }
        faults.append(AuditFault(code: code, line: line, reason: reason))
    }
}
