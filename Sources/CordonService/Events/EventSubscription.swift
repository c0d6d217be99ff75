public import CordonProtocol

/// The events of one registration as they happen, for one reader; ends when the registration closes, when a caller finishes it,
/// or with the reader's task.
///
/// A reader that is too slow keeps the newest, since each event merely says to check in.
public struct EventSubscription: AsyncSequence, Sendable {
    /// What comes to the reader.
    public enum Piece: Sendable, Equatable {
        /// Something has changed.
        case event(ServiceEvent)
        /// Nothing has; a caller asked for a sign of life.
        case heartbeat
    }

    /// Events one after the other, heartbeats left out.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate var pieces: AsyncStream<Piece>.Iterator

        /// The next event, nil at the end.
        public mutating func next() async -> ServiceEvent? {
            while let piece = await pieces.next() {
                if case .event(let event) = piece { return event }
            }
            return nil
        }
    }

    private static let backlog = 64

    /// Events and heartbeats in the order in which they came; for one reader.
    public let pieces: AsyncStream<Piece>
    private let continuation: AsyncStream<Piece>.Continuation

    /// Makes a subscription that nothing comes from yet.
    public init() {
        (pieces, continuation) = AsyncStream.makeStream(of: Piece.self, bufferingPolicy: .bufferingNewest(Self.backlog))
    }

    /// Reads the events.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(pieces: pieces.makeAsyncIterator()) }

    /// Brings the reader an event.
    public func tell(_ event: ServiceEvent) { continuation.yield(.event(event)) }

    /// Brings the reader a sign of life.
    public func beat() { continuation.yield(.heartbeat) }

    /// Ends the reader's loop, after what came before.
    public func finish() { continuation.finish() }

    /// Another end of the same, which does not keep the reader's alive.
    var source: AsyncStream<Piece>.Continuation { continuation }
}
