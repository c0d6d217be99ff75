internal import CordonIdentity

/// Hands every event to every observer, in order; an observer that does not read loses the oldest.
final class EventBroadcast: Sendable {
    private struct State {
        var observers: [Int: AsyncStream<ProtectionEvent>.Continuation] = [:]
        var next = 0
    }

    private static let backlog = 256
    private let state = Locked(State())

    /// A new observer, told of everything from now on until its stream is dropped.
    func observe() -> AsyncStream<ProtectionEvent> {
        let (events, continuation) = AsyncStream.makeStream(
            of: ProtectionEvent.self, bufferingPolicy: .bufferingNewest(Self.backlog))
        let id = state.withLock { state in
            state.next += 1
            state.observers[state.next] = continuation
            return state.next
        }
        continuation.onTermination = { [state] _ in state.withLock { $0.observers[id] = nil } }
        return events
    }

    /// Tells every observer.
    func post(_ event: ProtectionEvent) {
        for observer in state.withLock({ Array($0.observers.values) }) { observer.yield(event) }
    }
}
