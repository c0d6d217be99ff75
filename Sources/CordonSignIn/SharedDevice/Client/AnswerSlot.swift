internal import CordonBase

/// Where one request's answer arrives, before or after its caller waits for it.
final class AnswerSlot<Answer: Sendable>: Sendable {
    typealias Outcome = Result<Answer, SignInError>

    private enum State {
        case open
        case awaited(CheckedContinuation<Outcome, Never>)
        case done(Outcome)
    }

    private let state = Locked(State.open)

    /// What arrived; nil for nothing yet.
    var outcome: Outcome? {
        state.withLock { if case .done(let outcome) = $0 { outcome } else { nil } }
    }

    /// Takes the answer; one that comes after another is dropped.
    func finish(_ outcome: Outcome) {
        let waiter = state.withLock { state -> CheckedContinuation<Outcome, Never>? in
            switch state {
            case .open:
                state = .done(outcome)
                return nil
            case .awaited(let continuation):
                state = .done(outcome)
                return continuation
            case .done: return nil
            }
        }
        waiter?.resume(returning: outcome)
    }

    /// Waits for the answer; for one caller.
    func value() async -> Outcome {
        await withCheckedContinuation { continuation in
            let known = state.withLock { state -> Outcome? in
                if case .done(let outcome) = state { return outcome }
                state = .awaited(continuation)
                return nil
            }
            if let known { continuation.resume(returning: known) }
        }
    }
}
