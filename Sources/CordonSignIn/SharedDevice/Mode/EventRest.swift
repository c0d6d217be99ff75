internal import CordonBase

/// The rest after each question of an app that follows: a burst of events is one question then, and events without end are
/// a few questions a second.
///
/// The first news of a later session ends a rest early, so that a sign-out soon after another event does not wait for what is left
/// of it. The rest after that one is always whole: a broker that invents ever later sessions gets two questions for each rest.
final class EventRest: Sendable {
    private struct State {
        /// The latest session that an event named.
        var heard: UInt64 = 0
        /// The latest session that needs no further question.
        var answered: UInt64 = 0
        var mustBeWhole = false
        var sleep: Task<Void, Never>?

        /// Whether the rest ends early; says so once for each session.
        mutating func endsEarly() -> Bool {
            guard heard > answered, !mustBeWhole else { return false }
            answered = heard
            mustBeWhole = true
            return true
        }
    }

    private let length: Duration
    private let state = Locked(State())

    init(_ length: Duration) {
        self.length = length
    }

    /// Takes note of an event, which may end the rest.
    func hear(_ event: AccountEvent) {
        let sleep = state.withLock { state -> Task<Void, Never>? in
            state.heard = max(state.heard, event.session)
            guard let sleep = state.sleep, state.endsEarly() else { return nil }
            return sleep
        }
        sleep?.cancel()
    }

    /// Rests; a cancelled task does not.
    ///
    /// - Parameter session: The session of the newest answer; nil where none came.
    func rest(after session: UInt64?) async {
        let length = self.length
        let sleep = Task { () -> Void in try? await Task.sleep(for: length) }
        let isOver = state.withLock { state in
            state.answered = max(state.answered, session ?? 0)
            guard !state.endsEarly() else { return true }
            state.sleep = sleep
            return false
        }
        if isOver { sleep.cancel() }
        await withTaskCancellationHandler {
            await sleep.value
        } onCancel: {
            sleep.cancel()
        }
        state.withLock { state in
            // Cut short just now or by the time that was over: only a rest that was slept to its end makes the next one divisible.
            if !sleep.isCancelled { state.mustBeWhole = false }
            state.sleep = nil
        }
    }
}
