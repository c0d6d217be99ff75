/// Runs pieces of work with the same key one after another, in the order in which they were asked for; work with different
/// keys runs at once.
///
/// For work on an actor: an actor's methods interleave at every `await`, and what must not interleave goes through here.
///
/// - Cancellation: a task that is cancelled while it waits for its turn still gets it, and its work sees
///   `Task.isCancelled`. No turn is lost, and none is given twice.
/// - Re-entrancy: work that asks for its own key from inside its turn runs at once, as part of that turn. So does a task that
///   was started inside the turn, until the turn ends; from then on it waits like any other.
package final class SerialTasks<Key: Hashable & Sendable>: Sendable {
    private struct Line {
        /// Whose turn it is.
        var turn: Turn
        var waiting: [(turn: Turn, continuation: CheckedContinuation<Void, Never>)] = []
    }

    /// A key is in here for as long as a body has its turn.
    private let lines = Locked<[Key: Line]>([:])

    /// Makes a value in which no body has a turn.
    package init() {}

    /// Runs the work when every earlier work of the key has ended.
    ///
    /// A caller on an actor has its place in the line before any other work runs on that actor.
    package func run<Value, Failure: Error>(
        _ key: Key, isolation: isolated (any Actor)? = #isolation, _ work: () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let held = Turn.held
        if let current = lines.withLock({ $0[key]?.turn }), held.contains(where: { $0 === current }) {
            return try await work()
        }
        let turn = Turn()
        await begin(key, turn, isolation: isolation)
        defer { end(key) }
        return try await Turn.$held.withValue(held + [turn]) { () async -> Result<Value, Failure> in
            do throws(Failure) { return .success(try await work()) } catch { return .failure(error) }
        }.get()
    }

    /// Whether work of a key is under way.
    package func isRunning(_ key: Key) -> Bool { lines.withLock { $0[key] != nil } }

    private func begin(_ key: Key, _ turn: Turn, isolation: isolated (any Actor)?) async {
        await withCheckedContinuation(isolation: isolation) { continuation in
            let isFree = lines.withLock { lines in
                guard lines[key] == nil else {
                    lines[key]?.waiting.append((turn, continuation))
                    return false
                }
                lines[key] = Line(turn: turn)
                return true
            }
            if isFree { continuation.resume() }
        }
    }

    private func end(_ key: Key) {
        let next = lines.withLock { lines -> CheckedContinuation<Void, Never>? in
            guard var line = lines[key], !line.waiting.isEmpty else {
                lines[key] = nil
                return nil
            }
            let next = line.waiting.removeFirst()
            line.turn = next.turn
            lines[key] = line
            return next.continuation
        }
        next?.resume()
    }
}

/// One turn, told from every other by its identity; work and the tasks that it starts carry the turns that they are part of.
package final class Turn: Sendable {
    @TaskLocal static var held: [Turn] = []

    /// Runs a body that starts tasks which no turn waits for: they are part of no turn, and wait for theirs.
    package static func outside<Value>(_ body: () throws -> Value) rethrows -> Value {
        try $held.withValue([], operation: body)
    }
}
