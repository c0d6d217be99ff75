/// Work that many may ask for at once and that is done once, whose callers need not wait for its end: a caller that is cancelled
/// continues at once with a fallback value. When every caller has left, the work is cancelled and given up.
///
/// ``JoinedTask`` is for work that has to reach its end; this is for work that is done for its callers alone.
///
/// - Cancellation: work that is given up is no longer under way, even if it takes its time to end; asking then starts it again.
/// - Re-entrancy: work that asks for its own key from inside waits for itself. It must not, but a task that it starts may.
package final class AbandonableTask<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Running {
        let number: Int
        let task: Task<Void, Never>
        var callers: [Int: CheckedContinuation<Value, Never>] = [:]
    }

    private struct State {
        var running: [Key: Running] = [:]
        var callers = 0
        /// Callers cancelled before they joined.
        var left: Set<Int> = []
    }

    private let state = Locked(State())

    /// Makes a value in which nothing is under way.
    package init() {}

    /// The result of the work of a key, of what is under way or of this work, started now; for a caller that is cancelled, the other
    /// value.
    ///
    /// A caller on an actor has joined before any other work runs on that actor.
    package func value(
        _ key: Key, whenCancelled: Value, isolation: isolated (any Actor)? = #isolation,
        _ work: @escaping @Sendable () async -> Value
    ) async -> Value {
        let caller = state.withLock { state in
            state.callers += 1
            return state.callers
        }
        let value = await withTaskCancellationHandler(
            operation: {
                await withCheckedContinuation(isolation: isolation) { continuation in
                    if !join(key, caller, continuation, work) { continuation.resume(returning: whenCancelled) }
                }
            }, onCancel: { leave(key, caller, with: whenCancelled) }, isolation: isolation)
        state.withLock { _ = $0.left.remove(caller) }
        return value
    }

    /// Waits until no work of a key is under way; what was given up is not waited for.
    package func end(of key: Key, isolation: isolated (any Actor)? = #isolation) async {
        while let task = state.withLock({ $0.running[key]?.task }) { await task.value }
    }

    /// Waits until no work of a key is under way that ``cancel(_:)`` has ended early, for a caller who wants more than what that comes to.
    package func endOfCancelled(_ key: Key, isolation: isolated (any Actor)? = #isolation) async {
        while let task = state.withLock({ $0.running[key]?.task }), task.isCancelled { await task.value }
    }

    /// Cancels the work of a key. Its callers, and who joins before it has ended, get what it then comes to.
    package func cancel(_ key: Key) { state.withLock { $0.running[key]?.task }?.cancel() }

    /// Whether the caller waits for the work now; false for one that was cancelled before.
    private func join(
        _ key: Key, _ caller: Int, _ continuation: CheckedContinuation<Value, Never>,
        _ work: @escaping @Sendable () async -> Value
    ) -> Bool {
        state.withLock { state in
            guard state.left.remove(caller) == nil else { return false }
            var running =
                state.running[key]
                ?? Running(number: caller, task: Task { self.finish(key, number: caller, with: await work()) })
            running.callers[caller] = continuation
            state.running[key] = running
            return true
        }
    }

    private func leave(_ key: Key, _ caller: Int, with value: Value) {
        let (continuation, abandoned) = state.withLock {
            state -> (CheckedContinuation<Value, Never>?, Task<Void, Never>?) in
            guard let continuation = state.running[key]?.callers.removeValue(forKey: caller) else {
                state.left.insert(caller)
                return (nil, nil)
            }
            guard state.running[key]?.callers.isEmpty == true else { return (continuation, nil) }
            return (continuation, state.running.removeValue(forKey: key)?.task)
        }
        continuation?.resume(returning: value)
        abandoned?.cancel()
    }

    private func finish(_ key: Key, number: Int, with value: Value) {
        let callers = state.withLock { state -> [CheckedContinuation<Value, Never>] in
            guard state.running[key]?.number == number else { return [] }
            return Array(state.running.removeValue(forKey: key)?.callers.values ?? [:].values)
        }
        for caller in callers { caller.resume(returning: value) }
    }
}
