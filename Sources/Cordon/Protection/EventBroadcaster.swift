internal import CordonBase

/// Hands every event to every observer, in order; an observer that does not read loses the oldest.
///
/// What happens until the app is launched is kept for every observer who begins by then.
final class EventBroadcaster: Sendable {
    private struct State {
        /// A few, so that a list does.
        var observers: [(id: Int, events: AsyncStream<ProtectionEvent>.Continuation)] = []
        var next = 0
        /// What happened since the start; nil when that is over.
        var start: [ProtectionEvent]? = []
    }

    private static let backlog = 256
    private let state = Locked(State())

    /// A new observer, told of everything from now on until its stream is dropped.
    func observe() -> AsyncStream<ProtectionEvent> {
        let (events, continuation) = AsyncStream.makeStream(
            of: ProtectionEvent.self, bufferingPolicy: .bufferingNewest(Self.backlog))
        let id = state.withLock { state in
            state.next += 1
            state.observers.append((state.next, continuation))
            for event in state.start ?? [] { continuation.yield(event) }
            return state.next
        }
        continuation.onTermination = { [state] _ in state.withLock { $0.observers.removeAll { $0.id == id } } }
        return events
    }

    /// Whether there is an observer now.
    var hasObservers: Bool { state.withLock { !$0.observers.isEmpty } }

    /// Whether there has been an observer so far.
    var wasEverObserved: Bool { state.withLock { $0.next > 0 } }

    /// The start is over: observers that begin from here on hear of what comes.
    func endStart() { state.withLock { $0.start = nil } }

    /// Tells every observer.
    func post(_ event: ProtectionEvent) {
        state.withLock { state in
            for observer in state.observers { observer.events.yield(event) }
            state.start = state.start.map { ($0 + [event]).suffix(Self.backlog) }
        }
    }
}
