internal import CordonIdentity

extension SharedDeviceMode {
    /// What happens to the device's account, as it happens; a hint to ask anew, never proof of anything (SI-063).
    ///
    /// Keeps a connection to the broker open from now on. After a loss of the broker the first event is
    /// ``AccountEvent/Kind/resumed``. A slow reader misses old events, not the newest ones.
    public nonisolated func events() -> AsyncStream<AccountEvent> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: AccountEvent.self, bufferingPolicy: .bufferingNewest(64))
        broadcast.add(continuation)
        Task { await link.subscribe() }
        return stream
    }

    /// Who is here, anew after every change, with bursts of events put together: one question per quarter of a second.
    ///
    /// Before a value is handed over the clean-up it calls for has run. While the broker is away there are no values.
    public nonisolated func accountChanges() -> AsyncStream<CurrentAccount> {
        let hints = hints()
        return AsyncStream { continuation in
            let work = Task {
                // Subscribed before the first question, so that nothing happens unheard between the two.
                await self.link.subscribe()
                var last: CurrentAccount?
                func look() async {
                    guard let now = try? await self.refresh() else { return }
                    if last?.session != now.session || last?.current != now.current { continuation.yield(now) }
                    last = now
                }
                await look()
                for await _ in hints {
                    await look()
                    try? await Task.sleep(for: .milliseconds(250))
                }
                continuation.finish()
            }
            continuation.onTermination = { _ in work.cancel() }
        }
    }

    /// Follows the device's account until the task is cancelled, running the clean-up whenever it is due.
    public func follow() async {
        for await _ in accountChanges() {}
    }

    /// Events of which only the newest is kept, so that a burst is one question.
    private nonisolated func hints() -> AsyncStream<AccountEvent> {
        let (stream, continuation) = AsyncStream.makeStream(of: AccountEvent.self, bufferingPolicy: .bufferingNewest(1))
        broadcast.add(continuation)
        return stream
    }
}

/// Hands events to everybody who listens.
final class EventFan: Sendable {
    private let listeners = Locked<[Int: AsyncStream<AccountEvent>.Continuation]>([:])

    func add(_ listener: AsyncStream<AccountEvent>.Continuation) {
        let id = listeners.withLock { listeners in
            let id = (listeners.keys.max() ?? 0) + 1
            listeners[id] = listener
            return id
        }
        listener.onTermination = { [weak self] _ in self?.remove(id) }
    }

    func post(_ event: AccountEvent) {
        for listener in listeners.withLock({ $0.values.map { $0 } }) { listener.yield(event) }
    }

    private func remove(_ id: Int) {
        listeners.withLock { $0[id] = nil }
    }
}
