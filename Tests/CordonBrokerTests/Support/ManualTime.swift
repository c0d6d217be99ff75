import CordonBase
import CordonSignIn
import Foundation

/// A clock that stands still, and whose sleepers sleep until it was moved past their time.
final class ManualTime: Sendable {
    private struct State: Sendable {
        var now = Date(timeIntervalSince1970: 1_800_000_000)
        var sleepers: [Int: (until: Date, continuation: CheckedContinuation<Void, any Error>)] = [:]
        var cancelled: Set<Int> = []
        var last = 0
    }

    private let state = Locked(State())

    var now: Date { state.withLock { $0.now } }

    /// How many wait.
    var sleeping: Int { state.withLock { $0.sleepers.count } }

    func advance(_ duration: Duration) {
        let due = state.withLock { state in
            state.now += TimeInterval(duration.components.seconds)
            let now = state.now
            let due = state.sleepers.filter { $0.value.until <= now }
            for key in due.keys { state.sleepers[key] = nil }
            return due.values.map(\.continuation)
        }
        for sleeper in due { sleeper.resume() }
    }

    var environment: SignInEnvironment {
        SignInEnvironment(
            now: { self.now }, sleep: { try await self.sleep($0) },
            randomBytes: SignInEnvironment.system.randomBytes)
    }

    private func sleep(_ duration: Duration) async throws {
        let id = state.withLock { state in
            state.last += 1
            return state.last
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isCancelled = state.withLock { state in
                    if state.cancelled.remove(id) != nil { return true }
                    let until = state.now + TimeInterval(duration.components.seconds)
                    state.sleepers[id] = (until, continuation)
                    return false
                }
                if isCancelled { continuation.resume(throwing: CancellationError()) }
            }
        } onCancel: {
            let sleeper = state.withLock { state in
                guard let sleeper = state.sleepers.removeValue(forKey: id) else {
                    // Cancelled before it sleeps, or after it woke.
                    state.cancelled.insert(id)
                    return nil as CheckedContinuation<Void, any Error>?
                }
                return sleeper.continuation
            }
            sleeper?.resume(throwing: CancellationError())
        }
    }
}
