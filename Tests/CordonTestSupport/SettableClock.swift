internal import CordonBase
package import Foundation

/// A clock that stands still until a test moves it, and on which a task can sleep until then.
package final class SettableClock: Sendable {
    private struct Sleeper {
        let due: Date
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var now: Date
        var sleepers: [Int: Sleeper] = [:]
        /// Those whose task was cancelled before they slept.
        var cancelled: Set<Int> = []
        var last = 0
    }

    private let state: Locked<State>

    /// Makes a clock; without a start it shows a moment in 2027.
    package init(_ start: Date = Date(timeIntervalSince1970: 1_800_000_000)) { state = Locked(State(now: start)) }

    /// What it shows.
    package var now: Date { state.withLock { $0.now } }

    /// How long each sleeper still has to sleep.
    package var sleeping: [Duration] {
        state.withLock { state in
            state.sleepers.values.map { .microseconds(Int64(($0.due.timeIntervalSince(state.now) * 1e6).rounded())) }
        }
    }

    /// Moves it by seconds, back too.
    package func advance(by seconds: TimeInterval) { move { $0 + seconds } }

    /// Moves it.
    package func advance(_ duration: Duration) { advance(by: Self.seconds(duration)) }

    /// Sets it.
    package func set(_ date: Date) { move { _ in date } }

    /// Waits until the clock was moved so far.
    ///
    /// - Throws: `CancellationError` when the task is cancelled.
    package func sleep(_ duration: Duration) async throws {
        let id = state.withLock { state in
            state.last += 1
            return state.last
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isCancelled = state.withLock { state in
                    if state.cancelled.remove(id) != nil { return true }
                    let due = state.now + Self.seconds(duration)
                    state.sleepers[id] = Sleeper(due: due, continuation: continuation)
                    return false
                }
                if isCancelled { continuation.resume(throwing: CancellationError()) }
            }
        } onCancel: {
            let sleeper = state.withLock { state -> Sleeper? in
                if let sleeper = state.sleepers.removeValue(forKey: id) { return sleeper }
                state.cancelled.insert(id)
                return nil
            }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }

    private func move(_ change: @Sendable (Date) -> Date) {
        let woken = state.withLock { state in
            state.now = change(state.now)
            let due = state.sleepers.filter { $0.value.due <= state.now }
            for id in due.keys { state.sleepers[id] = nil }
            return due.values.map(\.continuation)
        }
        for continuation in woken { continuation.resume() }
    }

    private static func seconds(_ duration: Duration) -> TimeInterval {
        TimeInterval(duration.components.seconds) + TimeInterval(duration.components.attoseconds) / 1e18
    }
}
