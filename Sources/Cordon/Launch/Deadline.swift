internal import CordonIdentity

/// An answer, or none in time: whoever asks goes on either way.
enum Deadline {
    /// Waits for the work for so long; nil when it took longer, or when the waiting task was cancelled.
    ///
    /// Work that is late is cancelled and left alone: it may belong to an app that never answers (CQ-23).
    static func answer<Value: Sendable>(
        within limit: Duration, by clock: ProtectionClock, _ work: @escaping @Sendable () async -> Value
    ) async -> Value? {
        let race = Race<Value>()
        let working = Task { race.end(with: await work()) }
        let waiting = Task {
            do { try await clock.sleep(limit) } catch { return }
            race.end(with: nil)
        }
        defer {
            working.cancel()
            waiting.cancel()
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { race.wait($0) }
        } onCancel: {
            race.end(with: nil)
        }
    }
}

/// The first of several ends, told to one who waits.
private final class Race<Value: Sendable>: Sendable {
    private enum State {
        case running
        case awaited(CheckedContinuation<Value?, Never>)
        case over(Value?)
    }

    private let state = Locked(State.running)

    func wait(_ continuation: CheckedContinuation<Value?, Never>) {
        let over: State? = state.withLock { state in
            guard case .over = state else {
                state = .awaited(continuation)
                return nil
            }
            return state
        }
        if case .over(let value)? = over { continuation.resume(returning: value) }
    }

    func end(with value: Value?) {
        let before = state.withLock { state in
            let before = state
            if case .over = before {} else { state = .over(value) }
            return before
        }
        if case .awaited(let continuation) = before { continuation.resume(returning: value) }
    }
}
