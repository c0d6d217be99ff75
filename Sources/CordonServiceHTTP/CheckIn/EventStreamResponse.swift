import CordonProtocol
import CordonService
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import ServiceLifecycle

/// Writes a registration's events as server-sent events (WHATWG HTML §9.2) until the stream, the token or the service
/// ends; a client that reads too slowly keeps the newest events only, since each merely says "check in".
struct EventStreamResponse: Sendable {
    /// Heartbeats and ends of all streams.
    let wheel: StreamWheel
    var metrics: ServiceMetrics?
    /// How long a client is asked to wait before it connects again, in milliseconds.
    static let retry = 1_000

    /// - Parameter left: When the token ends that opened the stream, in seconds; the client comes back with a new one and its last
    ///   event id.
    func response(to events: EventSubscription, endingAfter left: TimeInterval) -> Response {
        let body = ResponseBody { [wheel, metrics] writer in
            metrics?.streamOpened()
            defer { metrics?.streamClosed() }
            try await writer.write(ByteBuffer(string: "retry: \(Self.retry)\n\n"))
            let place = wheel.add(events, endingAfter: .seconds(min(max(0, left), 604_800)))
            defer { wheel.remove(place) }
            try await withTaskCancellationOrGracefulShutdownHandler {
                for await piece in events.pieces { try await writer.write(Self.bytes(of: piece)) }
            } onCancelOrGracefulShutdown: {
                events.finish()
            }
            try await writer.finish(nil)
        }
        return Response(
            status: .ok,
            headers: [.contentType: "text/event-stream", .cacheControl: "no-store", .accelBuffering: "no"],
            body: body)
    }

    private static func bytes(of piece: EventSubscription.Piece) -> ByteBuffer {
        switch piece {
        case .heartbeat: ByteBuffer(string: ": still here\n\n")
        case .event(let event):
            ByteBuffer(
                string: "id: \(event.id)\nevent: \(event.kind.rawValue)\ndata: \(data(of: event))\n\n")
        }
    }

    private static func data(of event: ServiceEvent) -> String {
        (try? MessageCoding.encode(event)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    }
}
