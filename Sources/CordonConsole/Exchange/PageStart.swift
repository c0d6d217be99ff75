import CordonBase
import HTTPTypes
import Hummingbird
import NIOCore

/// A page that is being made: once it is certain that it will be one, its first bytes go out, while what stands on it is still read.
///
/// Until then nothing is sent, so that a page that may not be shown or does not exist has the status that says so.
final class PageStart: Sendable {
    private enum Event: Sendable {
        case begun
        case made(Response)
    }

    private let events: AsyncStream<Event>
    private let told: AsyncStream<Event>.Continuation
    private let begun = Locked(false)

    /// Whether the answer's first bytes may be on their way.
    var hasBegun: Bool { begun.withLock { $0 } }

    init() { (events, told) = AsyncStream.makeStream() }

    /// Says that the answer will be a page with status 200.
    func begin() {
        let isFirst = begun.withLock { begun in
            defer { begun = true }
            return !begun
        }
        if isFirst { told.yield(.begun) }
    }

    /// The answer that is made; where it was begun before, one whose body has `opening` at once and the rest when it is there.
    ///
    /// - Parameters:
    ///   - opening: How every page in this language begins.
    ///   - headers: The headers of every page.
    ///   - made: Makes the whole answer.
    func answer(
        _ opening: String, _ headers: HTTPFields, _ made: @escaping @Sendable () async -> Response
    ) async -> Response {
        // Not a child of this request's task: that one ends with the answer's head, before the body is written.
        let work = Task { [told] in
            told.yield(.made(await made()))
            told.finish()
        }
        let first = await withTaskCancellationHandler {
            await next()
        } onCancel: {
            work.cancel()
        }
        switch first {
        // The client is gone.
        case nil: return Response(status: .serviceUnavailable)
        case .made(let response): return response
        case .begun:
            return Response(
                status: .ok, headers: headers,
                body: ResponseBody { [self] writer in
                    defer { work.cancel() }
                    try await writer.write(ByteBuffer(string: opening))
                    guard case .made(let response)? = await next() else { return try await writer.finish(nil) }
                    try await response.body.write(Rest(writer: writer, left: opening.utf8.count))
                })
        }
    }

    private func next() async -> Event? {
        var events = events.makeAsyncIterator()
        return await events.next()
    }

    /// Writes a body without its first bytes, which were written before.
    private struct Rest: ResponseBodyWriter {
        var writer: any ResponseBodyWriter
        var left: Int

        mutating func write(_ buffer: ByteBuffer) async throws {
            var buffer = buffer
            let known = min(left, buffer.readableBytes)
            buffer.moveReaderIndex(forwardBy: known)
            left -= known
            if buffer.readableBytes > 0 { try await writer.write(buffer) }
        }

        consuming func finish(_ trailingHeaders: HTTPFields?) async throws { try await writer.finish(trailingHeaders) }
    }
}
