import CordonBase
import Foundation

/// Fails the file call with a number, counted among all calls or those of one kind, or every one of them; and counts.
final class FailingCall: Sendable {
    private let kind: String?
    private let number: Int?
    private let calls = Locked(0)

    /// Whether a call has failed.
    var isMet: Bool { calls.withLock { $0 >= (number ?? 1) } }

    init(_ kind: String? = nil, number: Int? = nil) {
        self.kind = kind
        self.number = number
    }

    func next(_ call: String) -> Int32 {
        guard kind == nil || call == kind else { return 0 }
        return calls.withLock { calls in
            calls += 1
            return number == nil || calls == number ? EIO : 0
        }
    }
}
