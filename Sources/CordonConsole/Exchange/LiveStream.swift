import CordonBase
import CordonServiceHTTP
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import ServiceLifecycle

/// A page as server-sent events (WHATWG HTML §9.2): its inner part, sent again whenever it looks otherwise.
struct LiveStream: Sendable {
    /// How often is looked, and how many times; the browser comes back by itself.
    static let pause = Duration.seconds(3)
    static let looks = 300

    let gate: ConsoleGate
    let held: SessionKeeper.Held
    let handler: ConsoleRoutes.Handler
    let keys: [String]
    let query: ConsoleForm
    let language: ConsoleLanguage
    let pages: LivePages

    func response(_ context: ServiceRequestContext) -> Response {
        Response(
            status: .ok,
            headers: [.contentType: "text/event-stream", .cacheControl: "no-store", .accelBuffering: "no"],
            body: ResponseBody { writer in
                guard pages.begin(held.session) else { return try await writer.finish(nil) }
                defer { pages.end(held.session) }
                try await writer.write(ByteBuffer(string: "retry: 5000\n\n"))
                var last: String?
                var isOver = false
                for _ in 0..<Self.looks {
                    // Who signs out, or signs in anew, ends what goes on by the session of before; the browser comes back by the new one.
                    guard !Task.isShuttingDownGracefully, await gate.routes.keeper.isKept(held),
                        gate.routes.keeper.isActive(held.session)
                    else { break }
                    let look: String?
                    do {
                        look = try await gate.part(handler, held, keys: keys, query: query, in: language, context)
                    } catch {
                        // It may pass: the browser comes back.
                        break
                    }
                    guard let part = look else {
                        isOver = true
                        break
                    }
                    // What the page shows already is sent once, so that nothing between is missed.
                    if part != last {
                        try await writer.write(Self.event(part))
                    } else {
                        try await writer.write(ByteBuffer(string: ": still here\n\n"))
                    }
                    last = part
                    guard (try? await cancelWhenGracefulShutdown { try await Task.sleep(for: Self.pause) }) != nil
                    else { break }
                }
                if isOver || !gate.routes.keeper.isActive(held.session) {
                    try await writer.write(ByteBuffer(string: "event: end\ndata: {}\n\n"))
                }
                try await writer.finish(nil)
            })
    }

    private static func event(_ part: String) -> ByteBuffer {
        let json = (try? JSONEncoder().encode(part)).map { String(decoding: $0, as: UTF8.self) } ?? "\"\""
        return ByteBuffer(string: "event: page\ndata: \(json)\n\n")
    }
}
