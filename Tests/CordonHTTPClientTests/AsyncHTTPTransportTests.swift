import CordonBase
import CordonHTTPClient
import CordonSignIn
import CordonTestSupport
import Foundation
import HTTPTypes
import Testing

@Suite(.tags(.machineAlone), .timeLimit(.minutes(10))) struct AsyncHTTPTransportTests {
    /// Runs the body with a transport that is shut down afterwards.
    private func withTransport<Result>(_ body: (AsyncHTTPTransport) async throws -> Result) async throws -> Result {
        let transport = AsyncHTTPTransport()
        do {
            let result = try await body(transport)
            await transport.shutdown()
            return result
        } catch {
            await transport.shutdown()
            throw error
        }
    }

    private func request(_ server: RawServer, _ method: HTTPRequest.Method = .get, path: String = "/") -> HTTPRequest {
        HTTPRequest(method: method, scheme: "http", authority: "127.0.0.1:\(server.port)", path: path)
    }

    private func code(_ body: () async throws -> Void) async -> TransportError.Code? {
        do {
            try await body()
            return nil
        } catch {
            return (error as? TransportError)?.code
        }
    }

    @Test func `a request arrives as it was made and the answer comes back whole`() async throws {
        let server = try RawServer { connection in
            let head = connection.readHead() ?? ""
            let body = connection.read(5)
            let isRight =
                head.hasPrefix("POST /token?x=%20y HTTP/1.1\r\n") && head.lowercased().contains("x-mine: 1\r\n")
                && head.lowercased().contains("content-length: 5\r\n") && body == Data("a=b&c".utf8)
            connection.write(
                "HTTP/1.1 201 Created\r\nX-Yours: 1\r\nX-Yours: 2\r\nContent-Length: 4\r\n\r\n\(isRight ? "good" : "evil")"
            )
        }
        defer { server.stop() }
        try await withTransport { transport in
            var request = request(server, .post, path: "/token?x=%20y")
            request.headerFields[try #require(HTTPField.Name("X-Mine"))] = "1"
            let answer = try await transport.send(
                request, body: Data("a=b&c".utf8), limit: 4, timeout: .seconds(60))
            #expect(answer.head.status.code == 201)
            #expect(answer.body == Data("good".utf8))
            #expect(answer.head.headerFields[values: try #require(HTTPField.Name("X-Yours"))] == ["1", "2"])
        }
    }

    @Test(arguments: [(HTTPRequest.Method.get, 1), (.post, 3), (.put, 3), (.delete, 3)])
    func `only connections that were read from serve again, so that no answer with tokens waits in one`(
        method: HTTPRequest.Method, connections: Int
    ) async throws {
        let opened = Locked(0)
        let server = try RawServer { connection in
            opened.withLock { $0 += 1 }
            while connection.readHead() != nil { connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok") }
        }
        defer { server.stop() }
        try await withTransport { transport in
            for _ in 0..<3 {
                let answer = try await transport.send(
                    request(server, method), body: nil, limit: 10, timeout: .seconds(60))
                #expect(answer.body == Data("ok".utf8))
            }
        }
        #expect(opened.withLock { $0 } == connections)
    }

    @Test(arguments: [
        "HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n12345678901",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n6\r\n123456\r\n5\r\n78901\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 999999999999\r\n\r\n1",
        "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n12345678901",
    ])
    func `an answer larger than the limit is refused`(answer: String) async throws {
        let server = try RawServer { connection in
            _ = connection.readHead()
            connection.write(answer)
        }
        defer { server.stop() }
        try await withTransport { transport in
            let code = await code {
                _ = try await transport.send(request(server), body: nil, limit: 10, timeout: .seconds(60))
            }
            #expect(code == .answerTooLarge)
        }
    }

    @Test func `a redirect is an answer and is not followed`() async throws {
        let server = try RawServer { connection in
            let head = connection.readHead() ?? ""
            connection.write(
                head.hasPrefix("GET /away")
                    ? "HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nfollowed"
                    : "HTTP/1.1 302 Found\r\nLocation: /away\r\nContent-Length: 0\r\n\r\n")
        }
        defer { server.stop() }
        try await withTransport { transport in
            let answer = try await transport.send(request(server), body: nil, limit: 100, timeout: .seconds(60))
            #expect(answer.head.status.code == 302)
            #expect(answer.head.headerFields[.location] == "/away")
            #expect(answer.body.isEmpty)
        }
    }

    @Test func `no cookie is kept`() async throws {
        let server = try RawServer { connection in
            while let head = connection.readHead() {
                let hasCookie = head.lowercased().contains("\r\ncookie:")
                connection.write(
                    "HTTP/1.1 200 OK\r\nSet-Cookie: a=b\r\nContent-Length: 1\r\n\r\n\(hasCookie ? "y" : "n")")
            }
        }
        defer { server.stop() }
        try await withTransport { transport in
            for _ in 0..<2 {
                let answer = try await transport.send(request(server), body: nil, limit: 100, timeout: .seconds(60))
                #expect(answer.body == Data("n".utf8))
            }
        }
    }

    @Test func `a server that never answers times out`() async throws {
        let server = try RawServer { $0.waitForEnd() }
        defer { server.stop() }
        try await withTransport { transport in
            let code = await code {
                _ = try await transport.send(request(server), body: nil, limit: 10, timeout: .milliseconds(100))
            }
            #expect(code == .timedOut)
        }
    }

    @Test func `a body that never ends times out too`() async throws {
        let server = try RawServer { connection in
            _ = connection.readHead()
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n1")
            connection.waitForEnd()
        }
        defer { server.stop() }
        try await withTransport { transport in
            let code = await code {
                _ = try await transport.send(request(server), body: nil, limit: 10, timeout: .milliseconds(200))
            }
            #expect(code == .timedOut)
        }
    }

    @Test(arguments: [
        "", "nonsense\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n123",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    ])
    func `a broken answer is no answer`(answer: String) async throws {
        let server = try RawServer { connection in
            _ = connection.readHead()
            connection.write(answer)
        }
        defer { server.stop() }
        try await withTransport { transport in
            let code = await code {
                _ = try await transport.send(request(server), body: nil, limit: 100, timeout: .seconds(60))
            }
            #expect(code == .unreachable)
        }
    }

    @Test(arguments: [
        "299 X\r\nContent-Length: 2", "600 X\r\nContent-Length: 2", "999 X\r\nContent-Length: 2",
        "1000 X\r\nContent-Length: 2",
        "2 X\r\nContent-Length: 2", "-200 X\r\nContent-Length: 2", "200", "200 OK", "200 OK\r\nContent-Length: -2",
        "200 OK\r\nContent-Length: 2\r\nContent-Length: 2", "200 OK\r\nContent-Length: 2\r\nContent-Length: 3",
        "200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked", "200 OK\r\nContent-Length: 99999999999999999999",
        "200 OK\r\nContent-Length: 2\r\nContent-Encoding: gzip",
        "200 OK\r\nContent-Length: 2\r\nContent-Type: \u{1B}[2J",
        "200 OK\r\nContent-Length: 2\r\n: x", "200 OK\r\nContent-Length: 2\r\nb\u{E9}: x",
    ])
    func `an answer with an odd head has its two bytes of body, as they came, or is none`(head: String) async throws {
        let server = try RawServer { connection in
            _ = connection.readHead()
            connection.write("HTTP/1.1 \(head)\r\n\r\nok")
        }
        defer { server.stop() }
        try await withTransport { transport in
            let body = Locked(Data())
            let code = await code {
                let answer = try await transport.send(request(server), body: nil, limit: 100, timeout: .seconds(60))
                body.withLock { $0 = answer.body }
            }
            #expect(
                code.map { [.unreachable, .answerTooLarge].contains($0) } ?? (body.withLock { $0 } == Data("ok".utf8)))
        }
    }

    @Test(arguments: ["000", "001", "099", "101"], [false, true])
    func `an answer whose status no answer has is none, and the process lives on`(
        status: String, isStreamed: Bool
    ) async throws {
        let server = try RawServer { connection in
            _ = connection.readHead()
            connection.write("HTTP/1.1 \(status) X\r\nContent-Length: 0\r\n\r\n")
            connection.waitForEnd()
        }
        defer { server.stop() }
        try await withTransport { transport in
            let code = await code {
                if isStreamed {
                    _ = try await transport.stream(request(server), timeout: .seconds(60))
                } else {
                    _ = try await transport.send(request(server), body: nil, limit: 100, timeout: .seconds(60))
                }
            }
            #expect(code == .unreachable)
        }
    }

    @Test func `announcements before an answer are passed over`() async throws {
        let server = try RawServer { connection in
            while connection.readHead() != nil {
                connection.write("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n")
                connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            }
        }
        defer { server.stop() }
        try await withTransport { transport in
            // More answers than one connection may have announcements before a single one.
            for _ in 0..<20 {
                let answer = try await transport.send(
                    request(server), body: nil, limit: 100, timeout: .seconds(60))
                #expect(answer.head.status.code == 200 && answer.body == Data("ok".utf8))
            }
        }
    }

    @Test(arguments: ["100 Continue", "199 X"])
    func `announcements without end are no answer, and are not waited behind`(status: String) async throws {
        let server = try RawServer { connection in
            _ = connection.readHead()
            for _ in 0..<1_000 { connection.write("HTTP/1.1 \(status)\r\n\r\n") }
            connection.waitForEnd()
        }
        defer { server.stop() }
        try await withTransport { transport in
            let code = await code {
                _ = try await transport.send(request(server), body: nil, limit: 100, timeout: .seconds(60))
            }
            #expect(code == .unreachable)
        }
    }

    @Test func `spaces without end before a header's value are no answer`() async throws {
        let server = try RawServer { connection in
            _ = connection.readHead()
            let blank = String(repeating: " ", count: 1 << 20)
            connection.write("HTTP/1.1 200 OK\r\nX:\(blank)y\r\nContent-Length: 0\r\n\r\n")
            connection.waitForEnd()
        }
        defer { server.stop() }
        try await withTransport { transport in
            let code = await code {
                _ = try await transport.send(request(server), body: nil, limit: 100, timeout: .seconds(60))
            }
            #expect(code == .unreachable)
        }
    }

    @Test func `a port without a listener is no connection, and is told so`() async throws {
        let gone = try RawServer { _ in }
        let port = gone.port
        gone.stop()
        try await withTransport { transport in
            for host in ["127.0.0.1", "localhost"] {
                let request = HTTPRequest(method: .get, scheme: "http", authority: "\(host):\(port)", path: "/")
                await #expect {
                    _ = try await transport.send(request, body: nil, limit: 10, timeout: .seconds(60))
                } throws: { error in
                    let error = error as? TransportError
                    return error?.code == .unreachable && error?.reason == "the connection was refused"
                }
            }
        }
    }

    @Test(arguments: [
        ("", "the server closed the connection before its answer was whole"),
        (
            "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n1",
            "the server closed the connection before its answer was whole"
        ),
        ("nonsense\r\n\r\n", "what the server answers is not HTTP"),
        ("HTTP/1.1 000 X\r\nContent-Length: 0\r\n\r\n", "what the server answers is not HTTP"),
    ])
    func `a broken answer is told in words that are no library's`(answer: String, words: String) async throws {
        let server = try RawServer { connection in
            _ = connection.readHead()
            connection.write(answer)
        }
        defer { server.stop() }
        try await withTransport { transport in
            let request = request(server)
            await #expect {
                _ = try await transport.send(request, body: nil, limit: 10, timeout: .seconds(60))
            } throws: { error in
                (error as? TransportError)?.reason == words
            }
        }
    }

    @Test(arguments: [nil, "ftp"] as [String?])
    func `an address that is not absolute http is refused`(scheme: String?) async throws {
        try await withTransport { transport in
            let code = await code {
                _ = try await transport.send(
                    HTTPRequest(method: .get, scheme: scheme, authority: "127.0.0.1", path: "/"), body: nil, limit: 1,
                    timeout: .seconds(1))
            }
            #expect(code == .badRequest)
        }
    }

    @Test(arguments: ["0", "65536", "99999", "4294967296"])
    func `a port that no connection can have is refused before a socket sees it`(port: String) async throws {
        try await withTransport { transport in
            let code = await code {
                _ = try await transport.send(
                    HTTPRequest(method: .get, scheme: "http", authority: "127.0.0.1:\(port)", path: "/"), body: nil,
                    limit: 1, timeout: .seconds(1))
            }
            #expect(code == .badRequest)
        }
    }

    @Test func `cancelling the task ends the request`() async throws {
        let arrived = AsyncStream<Void>.makeStream()
        let server = try RawServer { connection in
            _ = connection.readHead()
            arrived.continuation.yield()
            connection.waitForEnd()
            arrived.continuation.finish()
        }
        defer { server.stop() }
        try await withTransport { transport in
            let request = request(server)
            let task = Task { try await transport.send(request, body: nil, limit: 1, timeout: .seconds(60)) }
            var signals = arrived.stream.makeAsyncIterator()
            _ = await signals.next()
            task.cancel()
            #expect(await code { _ = try await task.value } == .cancelled)
            #expect(await signals.next() == nil, "the connection stayed open")
        }
    }

    @Test func `a shut down transport refuses, and shutting down twice is harmless`() async throws {
        let server = try RawServer { _ in }
        defer { server.stop() }
        let transport = AsyncHTTPTransport()
        await transport.shutdown()
        await transport.shutdown()
        let code = await code {
            _ = try await transport.send(request(server), body: nil, limit: 1, timeout: .seconds(1))
        }
        #expect(code == .badRequest)
    }
}
