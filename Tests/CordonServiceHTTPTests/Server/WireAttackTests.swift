import CordonProtocol
import CordonService
import CordonTesting
import Foundation
import Testing

@testable import CordonServiceHTTP

/// Requests that no honest client sends: smuggled, endless, slow and twisted. None is answered as another than it is, none
/// keeps a connection, and none brings the service down.
@Suite struct WireAttackTests {
    /// Runs a service on a socket while the test attacks it, and sees that it lives afterwards.
    private func attack(
        idleTimeout: Duration = .seconds(60), connections: Int = 1_000,
        _ body: @escaping @Sendable (Int) async throws -> Void
    ) async throws {
        let live = try await LiveService(idleTimeout: idleTimeout, connections: connections)
        let (ready, source) = AsyncStream.makeStream(of: ServiceServer.Address.self)
        let running = Task { try await live.server.run { source.yield($0) } }
        let address = try #require(await ready.first { _ in true })
        let port = try #require(address.bound.port)
        try await body(port)
        var after = ""
        // The service may not have seen yet that the last connection is gone.
        try await until {
            after = try await RawConnection.exchange(
                port: port, "GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            return !after.isEmpty
        }
        #expect(after.hasPrefix("HTTP/1.1 200"))
        await live.server.shutDown()
        _ = try? await running.value
    }

    /// How many answers came, and the first one's status.
    private func answers(_ text: String) -> (count: Int, first: Int) {
        let statuses = text.matches(of: /HTTP\/1\.1 (\d{3})/).compactMap { Int($0.1) }
        return (statuses.count, statuses.first ?? 0)
    }

    @Test(arguments: [
        "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
        "Content-Length: 5\r\nContent-Length: 6\r\n", "Content-Length: +5\r\n", "Content-Length: 5, 6\r\n",
        "Content-Length: -1\r\n", "Transfer-Encoding: xchunked\r\n", "Transfer-Encoding: chunked, identity\r\n",
        "Transfer-Encoding : chunked\r\n", "X: a\r\n b\r\nContent-Length : 5\r\n", "X: a\u{0}b\r\n", "X y: a\r\n",
        "Host: b\r\nX\rY: a\r\n",
    ])
    func `a request whose end can be read two ways smuggles nothing in`(header: String) async throws {
        try await attack { port in
            let smuggled = "GET /readyz HTTP/1.1\r\nHost: smuggled\r\n\r\n"
            let text =
                "POST /mam/v1/registrations HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
                + header + "\r\n0\r\n\r\n" + smuggled
            let answer = try await RawConnection.exchange(port: port, text)
            // Whatever is taken for a second request is refused, and the connection closed.
            let statuses = answer.matches(of: /HTTP\/1\.1 (\d{3})/).compactMap { Int($0.1) }
            #expect(statuses.count <= 2 && statuses.allSatisfy([400, 401, 501].contains), "\(answer)")
            #expect(statuses.count < 2 || statuses.last == 400 && answer.contains("Connection: close"), "\(answer)")
            #expect(!answer.contains("ready"))
        }
    }

    @Test(arguments: ["", "Host: a\r\nHost: b\r\n", "Host: a b\r\n", "Host: \r\n", "Host: a/b\r\n"])
    func `a request names one host`(hosts: String) async throws {
        try await attack { port in
            let answer = try await RawConnection.exchange(
                port: port, "GET /healthz HTTP/1.1\r\n\(hosts)Connection: close\r\n\r\n")
            #expect(answers(answer).first == 400, "\(answer)")
        }
    }

    @Test func `headers beyond the limit end the connection`() async throws {
        try await attack { port in
            let large = "X: " + String(repeating: "a", count: 64 << 10) + "\r\n"
            let many = (0..<2_000).map { "X\($0): a\r\n" }.joined()
            // Spaces before a value are no part of it.
            let blank = "X:" + String(repeating: " ", count: 512 << 10) + "a\r\n"
            for headers in [large, many, blank] {
                let answer = try await RawConnection.exchange(
                    port: port, "GET /healthz HTTP/1.1\r\nHost: a\r\n\(headers)\r\n")
                let (count, first) = answers(answer)
                #expect(count <= 1 && (first == 0 || first == 400 || first == 431), "\(answer.prefix(100))")
                #expect(!answer.contains("still open"))
            }
        }
    }

    @Test func `a body that is announced or grows too large is refused`() async throws {
        try await attack { port in
            let path = "/mam/v1/registrations/none/acknowledgements"
            let start = "POST \(path) HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nConnection: close\r\n"
            // A stranger is refused before a byte of the body is read.
            let announced = try await RawConnection.exchange(
                port: port, start + "Content-Length: 99999999999\r\n\r\n", untilClosed: false)
            #expect(answers(announced).first == 401 && !announced.contains("still open"))
            let chunk = "10000\r\n" + String(repeating: " ", count: 0x10000) + "\r\n"
            let grown = try await RawConnection.exchange(
                port: port, start + "Transfer-Encoding: chunked\r\n\r\n" + String(repeating: chunk, count: 8),
                untilClosed: false)
            #expect(answers(grown).first == 401 && !grown.contains("still open"))
        }
    }

    @Test func `a refused request that goes on with its body for ever loses its connection`() async throws {
        try await attack { port in
            // More than any buffer on the way holds: all of it can be sent only as long as the server takes it.
            let chunk = "10000\r\n" + String(repeating: " ", count: 0x10000) + "\r\n"
            let answer = try await RawConnection.exchange(
                port: port,
                "POST /mam/v1/registrations HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                    + String(repeating: chunk, count: 1_024))
            #expect(!answer.contains("still open"))
            #expect([0, 401].contains(answers(answer).first))
        }
    }

    @Test func `a connection too many is closed, and the next finds a place when one is free`() async throws {
        try await attack(connections: 1) { port in
            let text = "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n"
            let refused = try await RawConnection.beside(port: port, text) {
                try await RawConnection.exchange(port: port, text)
            }
            #expect(answers(refused).count == 0 && !refused.contains("still open"))
        }
    }

    @Test(arguments: [
        "GET /healthz HTTP/1.1\r\nHo",
        "POST /mam/v1/registrations/x/acknowledgements HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n{",
    ])
    func `a request that stops in the middle loses its connection`(beginning: String) async throws {
        try await attack(idleTimeout: .seconds(1)) { port in
            let answer = try await RawConnection.exchange(port: port, beginning)
            #expect(!answer.contains("still open"))
        }
    }

    @Test(arguments: [
        "//mam/v1/keys", "/mam/v1/../../admin/v1/audit", "/mam/v1/%2e%2e/%2e%2e/admin/v1/audit", "/mam/v1/keys%00",
        "/%", "/admin/v1/audit/", "/beta/%ff%fe", "/mam/v1/registrations/%2F/checkins", "*", "http://b/admin/v1/audit",
        "/" + String(repeating: "a/", count: 2_000),
    ])
    func `a twisted path opens nothing`(path: String) async throws {
        try await attack { port in
            let answer = try await RawConnection.exchange(
                port: port, "GET \(path) HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            let status = answers(answer).first
            #expect(status == 0 || (400..<500).contains(status) || (status == 200 && answer.contains("\"keys\"")))
        }
    }

    @Test func `garbage and other protocols are answered once and let go`() async throws {
        try await attack { port in
            for text in [
                "\u{16}\u{3}\u{1}\u{2}", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/9.9\r\n\r\n",
                String(repeating: "\r\n", count: 10) + "BREW /coffee HTCPCP/1.0\r\n\r\n",
            ] {
                let answer = try await RawConnection.exchange(port: port, text)
                #expect(answers(answer).count <= 1 && !answer.contains("still open"), "\(text)")
            }
        }
    }
}
