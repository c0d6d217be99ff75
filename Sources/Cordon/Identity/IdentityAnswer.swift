internal import CordonBase

/// The answer that an app owes to a request; give it on any thread (SDK-ID-31).
///
/// The first answer counts. A second one, or one after Cordon has stopped waiting, changes nothing.
public final class IdentityAnswer: Sendable {
    private enum State {
        case open
        case awaited(CheckedContinuation<Bool?, Never>)
        case given(Bool?)
    }

    private let state = Locked(State.open)
    private let tooLate: @Sendable (Bool) -> Void

    init(tooLate: @escaping @Sendable (Bool) -> Void) {
        self.tooLate = tooLate
    }

    /// The app did what Cordon asked for.
    public func succeed() { give(true) }

    /// The app did not.
    public func fail() { give(false) }

    /// The answer; nil when there was none in time.
    func value(within limit: Duration, by clock: ProtectionClock) async -> Bool? {
        let timer = Task {
            do { try await clock.sleep(limit) } catch { return }
            resolve(nil)
        }
        defer { timer.cancel() }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let given: State = state.withLock { state in
                    if case .open = state { state = .awaited(continuation) }
                    return state
                }
                if case .given(let answer) = given { continuation.resume(returning: answer) }
            }
        } onCancel: {
            resolve(nil)
        }
    }

    private func give(_ answer: Bool) {
        if !resolve(answer) { tooLate(answer) }
    }

    /// Makes it the answer if there is none yet.
    @discardableResult
    private func resolve(_ answer: Bool?) -> Bool {
        let before = state.withLock { state in
            let before = state
            if case .given = before {} else { state = .given(answer) }
            return before
        }
        switch before {
        case .open: return true
        case .awaited(let continuation):
            continuation.resume(returning: answer)
            return true
        case .given: return false
        }
    }
}
