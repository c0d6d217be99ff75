internal import CordonBase

extension SharedDeviceMode {
    /// What happens to the device's account, as it happens; a hint to ask again, never proof of anything (SI-063).
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

    /// Who is here, anew after every change, with bursts of events put together: one question per quarter of a second, and one
    /// more at once when another session begins or ends meanwhile.
    ///
    /// Before a value is handed over the clean-up it calls for has run; where it failed the value says so by
    /// ``CurrentAccount/owed``: clear the screen all the same. It is tried again by itself, and a value follows once nothing
    /// is owed. While the broker is away there are no values.
    public nonisolated func accountChanges() -> AsyncStream<CurrentAccount> {
        let rest = EventRest(rest)
        let (hints, again) = hints(rest)
        return AsyncStream { continuation in
            let work = Task {
                // Subscribed before the first question, so that nothing happens unheard between the two.
                await self.link.subscribe()
                var last: CurrentAccount?
                var pause = Self.firstPause
                var retry: Task<Void, Never>?
                again.yield(AccountEvent(.resumed, session: 0))
                for await _ in hints {
                    retry?.cancel()
                    let (now, isFinal) = await self.look()
                    if let now, last.map({ $0.isOtherThan(now) }) ?? true { continuation.yield(now) }
                    last = now ?? last
                    if isFinal {
                        pause = Self.firstPause
                    } else {
                        retry = Self.soon(pause) { again.yield(AccountEvent(.resumed, session: 0)) }
                        pause = min(pause * 2, Self.longestPause)
                    }
                    await rest.rest(after: now?.session)
                }
                retry?.cancel()
                continuation.finish()
            }
            continuation.onTermination = { _ in work.cancel() }
        }
    }

    /// How long to wait before asking again by itself, doubled each time.
    private static let (firstPause, longestPause) = (Duration.milliseconds(500), Duration.seconds(30))

    private static func soon(_ pause: Duration, _ work: @escaping @Sendable () -> Void) -> Task<Void, Never> {
        Task {
            do { try await Task.sleep(for: pause) } catch { return }
            work()
        }
    }

    /// Who is here, and whether that settles it: not where a clean-up failed or no answer came.
    private func look() async -> (now: CurrentAccount?, isFinal: Bool) {
        do { return (try await refresh(), true) } catch {
            guard error.fault == .cleanUpOwed else { return (nil, false) }
            // Where no handler is set, trying again would change nothing.
            return (try? await currentAccount(), !hasHandler)
        }
    }

    /// Follows the device's account until the task is cancelled, running the clean-up whenever it is due.
    public func follow() async {
        for await _ in accountChanges() {}
    }

    /// Events of which only the newest is kept, so that a burst is one question.
    private nonisolated func hints(
        _ rest: EventRest
    ) -> (AsyncStream<AccountEvent>, AsyncStream<AccountEvent>.Continuation) {
        let (stream, continuation) = AsyncStream.makeStream(of: AccountEvent.self, bufferingPolicy: .bufferingNewest(1))
        broadcast.add(continuation, hearing: rest.hear)
        return (stream, continuation)
    }
}

extension CurrentAccount {
    /// Whether an app that follows has to be told.
    fileprivate func isOtherThan(_ other: Self) -> Bool {
        session != other.session || current != other.current || owed != other.owed
    }
}

/// Hands account events to every listener.
final class AccountEventBroadcaster: Sendable {
    private struct Listener: Sendable {
        let continuation: AsyncStream<AccountEvent>.Continuation
        let hear: @Sendable (AccountEvent) -> Void
    }

    private let listeners = Locked<[Int: Listener]>([:])

    /// Adds a listener until its stream ends.
    ///
    /// - Parameter hear: Told of each event once it is in the stream, also of those that newer ones push out of it.
    func add(
        _ continuation: AsyncStream<AccountEvent>.Continuation,
        hearing hear: @escaping @Sendable (AccountEvent) -> Void = { _ in }
    ) {
        let id = listeners.withLock { listeners in
            let id = (listeners.keys.max() ?? 0) + 1
            listeners[id] = Listener(continuation: continuation, hear: hear)
            return id
        }
        continuation.onTermination = { [weak self] _ in self?.remove(id) }
    }

    func post(_ event: AccountEvent) {
        for listener in listeners.withLock({ $0.values.map { $0 } }) {
            listener.continuation.yield(event)
            listener.hear(event)
        }
    }

    private func remove(_ id: Int) {
        listeners.withLock { $0[id] = nil }
    }
}
