import CordonProtocol
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import ServiceLifecycle

/// Writes a registration's events as server-sent events (WHATWG HTML §9.2) until the stream, the token or the service
/// ends; a client that reads too slowly keeps the newest events only, since each merely says "check in".
struct EventStreamResponse: Sendable {
    /// How often a comment keeps the connection alive.
    let heartbeat: Duration
    var metrics: ServiceMetrics?
    /// How long a client is asked to wait before it connects again, in milliseconds.
    static let retry = 1_000
    private static let backlog = 64

    private enum Piece: Sendable {
        case event(ServiceEvent)
        case heartbeat
    }

    func response(to events: AsyncStream<ServiceEvent>, endingAfter left: TimeInterval) -> Response {
        let body = ResponseBody { [heartbeat, metrics] writer in
            metrics?.streamOpened()
            defer { metrics?.streamClosed() }
            try await writer.write(ByteBuffer(string: "retry: \(Self.retry)\n\n"))
            let (pieces, output) = AsyncStream.makeStream(
                of: Piece.self, bufferingPolicy: .bufferingNewest(Self.backlog))
            try await withTaskCancellationOrGracefulShutdownHandler {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    defer { group.cancelAll() }
                    Self.produce(events, heartbeat: heartbeat, for: .seconds(max(0, left)), into: output, in: &group)
                    for await piece in pieces { try await writer.write(Self.bytes(of: piece)) }
                }
            } onCancelOrGracefulShutdown: {
                output.finish()
            }
            try await writer.finish(nil)
        }
        return Response(
            status: .ok,
            headers: [.contentType: "text/event-stream", .cacheControl: "no-store", .accelBuffering: "no"],
            body: body)
    }

    private static func produce(
        _ events: AsyncStream<ServiceEvent>, heartbeat: Duration, for left: Duration,
        into output: AsyncStream<Piece>.Continuation, in group: inout ThrowingTaskGroup<Void, any Error>
    ) {
        group.addTask {
            for await event in events { output.yield(.event(event)) }
            output.finish()
        }
        group.addTask {
            while (try? await Task.sleep(for: heartbeat)) != nil { output.yield(.heartbeat) }
        }
        group.addTask {
            // An ended token ends what it opened; the client comes back with a new one and its last event id.
            if (try? await Task.sleep(for: left)) != nil { output.finish() }
        }
    }

    private static func bytes(of piece: Piece) -> ByteBuffer {
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
