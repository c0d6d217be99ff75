internal import CordonBase

/// Hands every event to every observer, in order; an observer that does not read loses the oldest.
///
/// What happens until the app is launched is kept for every observer who begins by then.
final class EventBroadcaster: Sendable {
    private struct State {
        /// A few, so that a list does.
        var observers: [(id: Int, isApp: Bool, events: AsyncStream<ProtectionEvent>.Continuation)] = []
        var next = 0
        var wasEverObserved = false
        /// What happened since the start; nil when that is over.
        var start: [ProtectionEvent]? = []
    }

    private static let backlog = 256
    private let state = Locked(State())

    /// A new observer, told of everything from now on until its stream is dropped.
    ///
    /// - Parameter isApp: Whether the app hears it, and not only a part of Cordon.
    func observe(isApp: Bool = true) -> AsyncStream<ProtectionEvent> {
        let (events, continuation) = AsyncStream.makeStream(
            of: ProtectionEvent.self, bufferingPolicy: .bufferingNewest(Self.backlog))
        let id = state.withLock { state in
            state.next += 1
            state.observers.append((state.next, isApp, continuation))
            if isApp { state.wasEverObserved = true }
            for event in state.start ?? [] { continuation.yield(event) }
            return state.next
        }
        continuation.onTermination = { [state] _ in state.withLock { $0.observers.removeAll { $0.id == id } } }
        return events
    }

    /// Whether the app observes now.
    var hasObservers: Bool { state.withLock { $0.observers.contains(where: \.isApp) } }

    /// Whether the app has observed so far.
    var wasEverObserved: Bool { state.withLock { $0.wasEverObserved } }

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

/// Follows the events for a part of Cordon, which does not count as the app's hearing them, until it is dropped.
package final class EventFollower: Sendable {
    private let following: Task<Void, Never>

    /// Begins at once.
    package init(_ protection: AppProtection, _ note: @escaping @Sendable (ProtectionEvent) async -> Void) {
        let events = protection.context.events.observe(isApp: false)
        following = Task {
            for await event in events { await note(event) }
        }
    }

    deinit { following.cancel() }
}
