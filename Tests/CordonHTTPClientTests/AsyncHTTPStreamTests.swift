import CordonHTTPClient
import CordonSignIn
import CordonTestSupport
import Foundation
import HTTPTypes
import Testing

@Suite(.tags(.machineAlone), .timeLimit(.minutes(10))) struct AsyncHTTPStreamTests {
    private func request(_ server: RawServer) -> HTTPRequest {
        HTTPRequest(method: .get, scheme: "http", authority: "127.0.0.1:\(server.port)", path: "/events")
    }

    @Test func `pieces arrive while the server still holds the connection`() async throws {
        let gate = DispatchSemaphore(value: 0)
        let server = try RawServer { connection in
            _ = connection.readHead()
            connection.write("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: 1\n\n")
            gate.wait()
            connection.write("data: 2\n\n")
        }
        defer { server.stop() }
        let transport = AsyncHTTPTransport()
        let stream = try await transport.stream(request(server), timeout: .seconds(60))
        #expect(stream.head.status.code == 200)
        var pieces = stream.body.makeAsyncIterator()
        #expect(try await pieces.next() == Data("data: 1\n\n".utf8))
        gate.signal()
        #expect(try await pieces.next() == Data("data: 2\n\n".utf8))
        #expect(try await pieces.next() == nil)
        await transport.shutdown()
    }

    @Test func `a stream outlives the time-out of its head`() async throws {
        let gate = DispatchSemaphore(value: 0)
        let server = try RawServer { connection in
            _ = connection.readHead()
            connection.write("HTTP/1.1 200 OK\r\n\r\n")
            gate.wait()
            connection.write("late")
        }
        defer { server.stop() }
        let transport = AsyncHTTPTransport()
        // Long enough for a head on a machine that is busy with other things.
        let timeout = Duration.seconds(3)
        let stream = try await transport.stream(request(server), timeout: timeout)
        // A later exchange that ran into the same time-out shows that the time is over.
        let silent = try RawServer { $0.waitForEnd() }
        defer { silent.stop() }
        await #expect(throws: TransportError(.timedOut, reason: "")) {
            _ = try await transport.send(request(silent), body: nil, limit: 1, timeout: timeout)
        }
        gate.signal()
        var received = Data()
        for try await piece in stream.body { received += piece }
        #expect(received == Data("late".utf8))
        await transport.shutdown()
    }

    @Test func `a head that never comes times out`() async throws {
        let server = try RawServer { $0.waitForEnd() }
        defer { server.stop() }
        let transport = AsyncHTTPTransport()
        await #expect(throws: TransportError(.timedOut, reason: "")) {
            _ = try await transport.stream(request(server), timeout: .milliseconds(100))
        }
        await transport.shutdown()
    }

    /// A server that sends one piece and no end, and a stream that ends once the connection is closed.
    private func serverOfOnePiece() throws -> (RawServer, closed: AsyncStream<Void>) {
        let closed = AsyncStream<Void>.makeStream()
        let server = try RawServer { connection in
            _ = connection.readHead()
            connection.write("HTTP/1.1 200 OK\r\n\r\none")
            connection.waitForEnd()
            closed.continuation.finish()
        }
        return (server, closed.stream)
    }

    @Test func `letting go of the stream closes the connection`() async throws {
        let (server, closed) = try serverOfOnePiece()
        defer { server.stop() }
        let transport = AsyncHTTPTransport()
        let request = request(server)
        let reader = Task {
            let stream = try await transport.stream(request, timeout: .seconds(60))
            for try await piece in stream.body {
                #expect(piece == Data("one".utf8))
                break
            }
        }
        try await reader.value
        for await _ in closed {}
        await transport.shutdown()
    }

    @Test func `cancelling the reader closes the connection`() async throws {
        let (server, closed) = try serverOfOnePiece()
        let got = AsyncStream<Void>.makeStream()
        defer { server.stop() }
        let transport = AsyncHTTPTransport()
        let request = request(server)
        let reader = Task {
            let stream = try await transport.stream(request, timeout: .seconds(60))
            for try await _ in stream.body { got.continuation.yield() }
        }
        for await _ in got.stream { break }
        reader.cancel()
        for await _ in closed {}
        await transport.shutdown()
    }

    @Test func `a connection that breaks in the middle is an error, not an end`() async throws {
        let server = try RawServer { connection in
            _ = connection.readHead()
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n123")
        }
        defer { server.stop() }
        let transport = AsyncHTTPTransport()
        let stream = try await transport.stream(request(server), timeout: .seconds(60))
        await #expect(throws: TransportError(.unreachable, reason: "")) {
            for try await _ in stream.body {}
        }
        await transport.shutdown()
    }

    @Test func `a consumer that never reads costs a bounded number of pieces`() async throws {
        let ended = AsyncStream<Void>.makeStream()
        let piece = String(repeating: "x", count: 60_000)
        let server = try RawServer { connection in
            _ = connection.readHead()
            connection.write("HTTP/1.1 200 OK\r\n\r\n")
            while connection.write(piece) {}
            ended.continuation.finish()
        }
        defer { server.stop() }
        let transport = AsyncHTTPTransport()
        let stream = try await transport.stream(request(server), timeout: .seconds(60))
        for await _ in ended.stream {}
        await #expect(throws: TransportError(.unreachable, reason: "")) {
            for try await _ in stream.body {}
        }
        await transport.shutdown()
    }
}
