internal import CordonBase
internal import CordonIdentity
internal import CordonProtocol
internal import Foundation

/// Hands events to the open streams of this process; what a stream missed is in the store.
struct EventBroadcaster: Sendable {
    /// One registration of one organisation.
    struct Address: Hashable, Sendable {
        var tenant: TenantID
        var registrationID: String
    }

    /// The most streams of one registration; an app needs one, and its processes one each.
    static let most = 4

    private struct Subscriber {
        var lastID: Int64
        let opened = ContinuousClock.now
        let continuation: AsyncStream<ServiceEvent>.Continuation
    }

    private let subscribers = Locked<[Address: [UUID: Subscriber]]>([:])

    /// A stream of the events from now on, and the token by which it is named here. One too many ends the oldest.
    func subscribe(_ address: Address) -> (stream: AsyncStream<ServiceEvent>, token: UUID) {
        let (stream, continuation) = AsyncStream.makeStream(
            of: ServiceEvent.self, bufferingPolicy: .bufferingNewest(16))
        let token = UUID()
        continuation.onTermination = { [self] _ in remove(token, at: address) }
        let forgotten = subscribers.withLock { subscribers in
            var open = subscribers[address] ?? [:]
            let oldest = open.count < Self.most ? nil : open.min { $0.value.opened < $1.value.opened }
            if let oldest { open[oldest.key] = nil }
            open[token] = Subscriber(lastID: 0, continuation: continuation)
            subscribers[address] = open
            return oldest?.value.continuation
        }
        forgotten?.finish()
        return (stream, token)
    }

    /// Takes a stream back that nobody has got.
    func cancel(_ token: UUID, at address: Address) {
        subscribers.withLock { $0[address]?[token]?.continuation }?.finish()
    }

    /// Tells one stream, unless it was told a newer event already.
    func deliver(_ event: ServiceEvent, to token: UUID, at address: Address) {
        // Nothing is put back for a stream that has ended meanwhile.
        subscribers.withLock { subscribers in
            guard subscribers[address]?[token] != nil else { return }
            Self.deliver(event, to: &subscribers[address, default: [:]][token])
        }
    }

    /// Tells the streams of a registration; an event that is not newer than the last one told is left out.
    func publish(_ event: ServiceEvent, to address: Address) {
        subscribers.withLock { subscribers in
            guard let tokens = subscribers[address]?.keys else { return }
            for token in tokens { Self.deliver(event, to: &subscribers[address, default: [:]][token]) }
        }
    }

    /// Ends the streams of a registration.
    func finish(_ address: Address) {
        let ended = subscribers.withLock { subscribers in
            (subscribers.removeValue(forKey: address) ?? [:]).values.map(\.continuation)
        }
        for continuation in ended { continuation.finish() }
    }

    private static func deliver(_ event: ServiceEvent, to subscriber: inout Subscriber?) {
        guard let last = subscriber?.lastID, event.id > last else { return }
        subscriber?.lastID = event.id
        subscriber?.continuation.yield(event)
    }

    private func remove(_ token: UUID, at address: Address) {
        subscribers.withLock { subscribers in
            subscribers[address]?[token] = nil
            if subscribers[address]?.isEmpty == true { subscribers[address] = nil }
        }
    }
}
