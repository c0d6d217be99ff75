internal import CordonBase
package import Foundation

/// A wall clock that stands still until a test moves it.
package final class SettableClock: Sendable {
    private let moment: Locked<Date>

    /// Makes a clock; without a start it shows a moment in 2027.
    package init(_ start: Date = Date(timeIntervalSince1970: 1_800_000_000)) { moment = Locked(start) }

    /// What it shows.
    package var now: Date { moment.withLock { $0 } }

    /// Moves it by seconds, back too.
    package func advance(by seconds: TimeInterval) { moment.withLock { $0 += seconds } }

    /// Sets it.
    package func set(_ date: Date) { moment.withLock { $0 = date } }
}
