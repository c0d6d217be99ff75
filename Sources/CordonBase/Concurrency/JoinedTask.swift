/// Work that many may ask for at once and that is done once: a caller that asks while it is running waits for the same result.
///
/// The work runs in a task of its own, so that no caller's cancellation ends it for the others. Asking after it has
/// ended starts it again.
///
/// - Cancellation: a cancelled caller waits for the result all the same.
/// - Re-entrancy: work that asks for its own key from inside runs what it asks for at once, instead of waiting for itself.
package final class JoinedTask<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Running {
        var turn: Turn
        var task: Task<Value, Never>
    }

    private let running = Locked<[Key: Running]>([:])

    /// Makes a value in which nothing is under way.
    package init() {}

    /// The result of the work of a key: of what is under way, or of this work, started now.
    ///
    /// A caller on an actor has joined before any other work runs on that actor.
    package func value(
        _ key: Key, isolation: isolated (any Actor)? = #isolation, _ work: @escaping @Sendable () async -> Value
    ) async -> Value {
        let held = Turn.held
        let task = running.withLock { running -> Task<Value, Never>? in
            if let known = running[key] { return held.contains { $0 === known.turn } ? nil : known.task }
            let turn = Turn()
            let task = Task { [self] in
                let value = await Turn.$held.withValue(held + [turn], operation: work)
                self.running.withLock { $0[key] = nil }
                return value
            }
            running[key] = Running(turn: turn, task: task)
            return task
        }
        guard let task else { return await work() }
        return await task.value
    }

    /// Whether the work of a key is under way.
    package func isRunning(_ key: Key) -> Bool { running.withLock { $0[key] != nil } }
}
