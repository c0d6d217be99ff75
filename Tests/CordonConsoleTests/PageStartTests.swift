import CordonBase
import CordonTestSupport
import HTTPTypes
import Hummingbird
import NIOCore
import Testing

@testable import CordonConsole

@Suite struct PageStartTests {
    /// Takes a body down piece by piece.
    private final class Pieces: ResponseBodyWriter {
        let written: AsyncStream<String>.Continuation

        init(_ written: AsyncStream<String>.Continuation) { self.written = written }

        func write(_ buffer: ByteBuffer) async throws { written.yield(String(buffer: buffer)) }

        func finish(_ trailingHeaders: HTTPFields?) async throws { written.finish() }
    }

    private func page(_ text: String, _ status: HTTPResponse.Status = .ok) -> Response {
        Response(status: status, body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }

    @Test func `the first bytes of a page that was begun go out before the rest is there`() async throws {
        let start = PageStart()
        let (rest, arrives) = AsyncStream<Void>.makeStream()
        let response = await start.answer("<head>", [.contentType: "text/html"]) {
            start.begin()
            start.begin()
            for await _ in rest {}
            return page("<head><p>rows</p>")
        }
        #expect(response.status == .ok)
        #expect(response.headers[.contentType] == "text/html")
        let (pieces, written) = AsyncStream<String>.makeStream()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await response.body.write(Pieces(written)) }
            var read = pieces.makeAsyncIterator()
            #expect(await read.next() == "<head>")
            // Only now is the rest made, which shows that the first piece did not wait for it.
            arrives.finish()
            #expect(await read.next() == "<p>rows</p>")
            #expect(await read.next() == nil)
            try await group.waitForAll()
        }
    }

    @Test func `an answer that was not begun keeps its status and its whole body`() async throws {
        let start = PageStart()
        let response = await start.answer("<head>", [:]) { page("<head>none", .notFound) }
        #expect(response.status == .notFound)
        let (pieces, written) = AsyncStream<String>.makeStream()
        try await response.body.write(Pieces(written))
        var text = ""
        for await piece in pieces { text += piece }
        #expect(text == "<head>none")
    }
}
