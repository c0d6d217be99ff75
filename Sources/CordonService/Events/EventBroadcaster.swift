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

    /// What one registration is told.
    struct Told: Sendable {
        var registrationID: String
        var event: ServiceEvent
        /// The organisation's epoch at the event.
        var epoch: Int64
    }

    /// The most streams of one registration; an app needs one, and its processes one each.
    static let most = 4

    private struct Subscriber {
        var lastID: Int64
        /// How many events the registration has had besides those of all apps, nil before the store was read.
        var ownEvents: Int64?
        /// The newest epoch that was told of before the store was read, nil for none.
        var pendingEpoch: Int64?
        let opened = ContinuousClock.now
        /// Whether its reader was found to be the registration's own.
        var hasBegun = false
        let continuation: AsyncStream<EventSubscription.Piece>.Continuation
    }

    private let subscribers = Locked<[Address: [UUID: Subscriber]]>([:])

    /// A stream of the events from now on, and the token by which it is named here. It takes no other's place before it begins: until then nothing
    /// says that its reader may have it.
    func subscribe(_ address: Address) -> (stream: EventSubscription, token: UUID) {
        let stream = EventSubscription()
        let continuation = stream.source
        let token = UUID()
        continuation.onTermination = { [self] _ in remove(token, at: address) }
        subscribers.withLock { $0[address, default: [:]][token] = Subscriber(lastID: 0, continuation: continuation) }
        return (stream, token)
    }

    /// Takes a stream back that was not handed out.
    func cancel(_ token: UUID, at address: Address) {
        subscribers.withLock { $0[address]?[token]?.continuation }?.finish()
    }

    /// Says what a stream begins with: what it missed, and how its ids go on. One too many ends the oldest.
    ///
    /// - Parameters:
    ///   - lastID: The id of the registration's newest event in the epoch.
    ///   - epoch: The epoch in which the store was read.
    func begin(
        _ token: UUID, at address: Address, with missed: [ServiceEvent], lastID: Int64, epoch: Int64
    ) {
        let forgotten = subscribers.withLock { subscribers -> AsyncStream<EventSubscription.Piece>.Continuation? in
            guard var subscriber = subscribers[address]?[token] else { return nil }
            for event in missed { Self.deliver(event, to: &subscriber) }
            subscriber.ownEvents = max(subscriber.ownEvents ?? 0, lastID - epoch)
            if let pending = subscriber.pendingEpoch, pending > epoch { Self.deliver(epoch: pending, to: &subscriber) }
            subscriber.pendingEpoch = nil
            subscriber.hasBegun = true
            subscribers[address]?[token] = subscriber
            let begun = (subscribers[address] ?? [:]).filter { $0.value.hasBegun }
            guard begun.count > Self.most, let oldest = begun.min(by: { $0.value.opened < $1.value.opened }) else {
                return nil
            }
            subscribers[address]?[oldest.key] = nil
            return oldest.value.continuation
        }
        forgotten?.finish()
    }

    /// Tells the streams of a registration; an event that is not newer than the last one told is left out.
    func publish(_ told: Told, of tenant: TenantID) {
        let address = Address(tenant: tenant, registrationID: told.registrationID)
        subscribers.withLock { subscribers in
            guard let tokens = subscribers[address]?.keys else { return }
            for token in tokens {
                guard var subscriber = subscribers[address]?[token] else { continue }
                subscriber.ownEvents = max(subscriber.ownEvents ?? 0, told.event.id - told.epoch)
                Self.deliver(told.event, to: &subscriber)
                subscribers[address]?[token] = subscriber
            }
        }
    }

    /// The registrations of an organisation that have streams.
    func addresses(of tenant: TenantID) -> [Address] {
        subscribers.withLock { subscribers in subscribers.keys.filter { $0.tenant == tenant } }
    }

    /// Tells the streams of some registrations that an epoch has begun.
    func publish(epoch: Int64, to addresses: ArraySlice<Address>) {
        subscribers.withLock { subscribers in
            for address in addresses {
                for token in subscribers[address].map({ Array($0.keys) }) ?? [] {
                    guard var subscriber = subscribers[address]?[token] else { continue }
                    Self.deliver(epoch: epoch, to: &subscriber)
                    subscribers[address]?[token] = subscriber
                }
            }
        }
    }

    /// Ends the streams of a registration.
    func finish(_ address: Address) {
        let ended = subscribers.withLock { subscribers in
            (subscribers.removeValue(forKey: address) ?? [:]).values.map(\.continuation)
        }
        for continuation in ended { continuation.finish() }
    }

    private static func deliver(_ event: ServiceEvent, to subscriber: inout Subscriber) {
        guard event.id > subscriber.lastID else { return }
        subscriber.lastID = event.id
        subscriber.continuation.yield(.event(event))
    }

    private static func deliver(epoch: Int64, to subscriber: inout Subscriber) {
        guard let ownEvents = subscriber.ownEvents else {
            subscriber.pendingEpoch = max(epoch, subscriber.pendingEpoch ?? 0)
            return
        }
        deliver(ServiceEvent(id: ownEvents + epoch, kind: .policyChanged), to: &subscriber)
    }

    private func remove(_ token: UUID, at address: Address) {
        subscribers.withLock { subscribers in
            subscribers[address]?[token] = nil
            if subscribers[address]?.isEmpty == true { subscribers[address] = nil }
        }
    }
}
