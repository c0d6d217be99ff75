import CordonBase
import Foundation

/// A clock that only tests move.
final class TestClock: Sendable {
    private let moment = Locked(Date(timeIntervalSince1970: 1_800_000_000))

    var now: Date { moment.withLock { $0 } }

    func advance(_ seconds: TimeInterval) { moment.withLock { $0 += seconds } }
}
