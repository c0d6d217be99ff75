import CordonBase
import CordonProtocol
import Crypto
import Foundation

/// The lines that stand before the audit log in an exported history, and whether the log vouches for them.
struct HistoryAhead {
    private enum Place { case start, ahead, log }

    private var place = Place.start
    private var digest = SHA256()
    private var isHistory = false
    /// The newest record of the log, nil before the first.
    private var newest: AuditRecord?

    /// Whether a line stands before the audit log; of any other export none does.
    mutating func takes(_ line: String) -> Bool {
        if place == .start {
            isHistory = line.contains(#""type":"history""#)
            place = isHistory ? .ahead : .log
        }
        guard place == .ahead else {
            if isHistory, !line.hasPrefix(#"{"checkpoint":"#) { newest = try? AuditRecord(line: line) }
            return false
        }
        digest.update(data: Data((line + "\n").utf8))
        if line.hasSuffix(#""type":"audit"}"#) { place = .log }
        return true
    }

    /// What is wrong with the lines before the log, nil where nothing is, or where there are none.
    var flaw: String? {
        guard isHistory else { return nil }
        guard let newest, newest.action == "history.seal" else {
            return "the audit log does not end by vouching for the history"
        }
        return newest.details["digest"] == digest.finalize().hex
            ? nil : "the history is not the one that the audit log vouches for"
    }
}
