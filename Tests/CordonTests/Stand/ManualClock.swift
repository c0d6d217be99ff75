import Cordon
import CordonBase
import CordonTesting
import Foundation

/// A clock that a test moves: wall clock and uptime together or apart; sleepers wake when their time has come.
final class ManualClock: Sendable {
    private struct Sleeper {
        let due: Duration
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var wall = Date()
        var uptime = Duration.seconds(1000)
        var boot = 1
        var sleepers: [Int: Sleeper] = [:]
        var cancelled: Set<Int> = []
        var next = 0
    }

    private let state = Locked(State())

    var clock: ProtectionClock {
        ProtectionClock(
            now: { self.state.withLock { $0.wall } }, sleep: { try await self.sleep($0) },
            boot: { self.state.withLock { BootReading(boot: "boot-\($0.boot)", uptime: $0.uptime) } })
    }

    /// Lets time pass; `wall` is how far the wall clock moves meanwhile, by default as far.
    func advance(_ duration: Duration, wall: Duration? = nil) {
        let woken = state.withLock { state in
            state.uptime += duration
            state.wall += Double((wall ?? duration).components.seconds)
            let due = state.sleepers.filter { $0.value.due <= state.uptime }
            for id in due.keys { state.sleepers[id] = nil }
            return due.values.map(\.continuation)
        }
        for continuation in woken { continuation.resume() }
    }

    /// Starts the machine again, so long after.
    func reboot(after duration: Duration, wall: Duration? = nil) {
        state.withLock { state in
            state.boot += 1
            state.uptime = .seconds(5)
            state.wall += Double((wall ?? duration).components.seconds)
        }
    }

    /// Waits until somebody sleeps at least so long; when nobody ever does, the test's own expectations say so.
    func waitForSleeper(of duration: Duration) async {
        try? await until {
            state.withLock { state in state.sleepers.values.contains { $0.due >= state.uptime + duration } }
        }
    }

    /// Waits until somebody sleeps for a time in a range, and nobody for less.
    func waitForSleeper(within range: ClosedRange<Duration>) async {
        try? await until {
            state.withLock { state in
                state.sleepers.values.map { $0.due - state.uptime }.min().map(range.contains) ?? false
            }
        }
    }

    private func sleep(_ duration: Duration) async throws {
        let id = state.withLock { state in
            state.next += 1
            return state.next
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isCancelled = state.withLock { state in
                    guard !state.cancelled.contains(id) else { return true }
                    state.sleepers[id] = Sleeper(due: state.uptime + duration, continuation: continuation)
                    return false
                }
                if isCancelled { continuation.resume(throwing: CancellationError()) }
            }
        } onCancel: {
            let sleeper = state.withLock { state in
                state.cancelled.insert(id)
                return state.sleepers.removeValue(forKey: id)
            }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }
}
