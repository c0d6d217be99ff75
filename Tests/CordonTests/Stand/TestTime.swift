import Cordon
import CordonBase
import Foundation

/// A clock that a test sets; a task that sleeps on it waits until the task is cancelled.
final class TestTime: Sendable {
    private let moment: Locked<Date>

    init(_ start: Date = Date(timeIntervalSince1970: 1_800_000_000)) { moment = Locked(start) }

    var now: Date { moment.withLock { $0 } }

    func advance(by seconds: TimeInterval) { moment.withLock { $0 += seconds } }

    func set(_ date: Date) { moment.withLock { $0 = date } }

    var clock: ProtectionClock {
        ProtectionClock(now: { self.now }, sleep: { _ in try await Task.sleep(for: .seconds(86_400)) })
    }
}
