import Foundation
import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHTTPTypes
import Testing

@testable import CordonServiceHTTP

/// What one connection may cost, by a clock that the test moves.
@Suite struct ConnectionBoundsTests {
    private let metrics = ServiceMetrics(started: .now)

    private func channel(_ open: OpenConnections? = nil, from address: String = "127.0.0.1") throws -> EmbeddedChannel {
        let channel = EmbeddedChannel(
            handler: ConnectionBounds(open ?? OpenConnections(atMost: 8, metrics: metrics), bodyTime: .seconds(60)))
        try channel.connect(to: SocketAddress(ipAddress: address, port: 1)).wait()
        return channel
    }

    /// Ends a request whose sender was let in, as the routes say it.
    private func know(_ channel: EmbeddedChannel) throws {
        try channel.writeInbound(HTTPRequestPart.end(nil))
        try channel.writeOutbound(HTTPResponsePart.head(HTTPResponse(status: .ok, headerFields: [.knownSender: "1"])))
        try channel.writeOutbound(HTTPResponsePart.end(nil))
    }

    private static let head = HTTPRequestPart.head(HTTPRequest(method: .post, scheme: nil, authority: nil, path: "/"))

    private func body(_ count: Int) -> HTTPRequestPart { .body(ByteBuffer(repeating: 0x20, count: count)) }

    private func refuse(_ channel: EmbeddedChannel) throws {
        try channel.writeOutbound(HTTPResponsePart.head(HTTPResponse(status: .unauthorized)))
        try channel.writeOutbound(HTTPResponsePart.end(nil))
    }

    @Test func `a body that no route reads any more ends the connection after a mebibyte`() throws {
        let channel = try channel()
        try channel.writeInbound(Self.head)
        try refuse(channel)
        for _ in 0..<16 { try channel.writeInbound(body(1 << 16)) }
        #expect(channel.isActive)
        _ = try? channel.writeInbound(body(1))
        #expect(!channel.isActive)
    }

    @Test func `a body that no route reads any more ends the connection after five seconds`() throws {
        let channel = try channel()
        try channel.writeInbound(Self.head)
        try channel.writeInbound(body(1))
        try refuse(channel)
        channel.embeddedEventLoop.advanceTime(by: .seconds(4))
        #expect(channel.isActive)
        channel.embeddedEventLoop.advanceTime(by: .seconds(2))
        #expect(!channel.isActive)
    }

    @Test func `a body that trickles ends the connection, however often a byte comes`() throws {
        let channel = try channel()
        try channel.writeInbound(Self.head)
        try know(channel)
        try channel.writeInbound(Self.head)
        for _ in 0..<11 {
            try channel.writeInbound(body(1))
            channel.embeddedEventLoop.advanceTime(by: .seconds(5))
        }
        #expect(channel.isActive)
        channel.embeddedEventLoop.advanceTime(by: .seconds(6))
        #expect(!channel.isActive)
    }

    @Test func `a body that is read may be large, and requests may follow each other and wait for their answers`()
        throws
    {
        let channel = try channel()
        for _ in 0..<3 {
            try channel.writeInbound(Self.head)
            for _ in 0..<64 { try channel.writeInbound(body(1 << 16)) }
            try channel.writeInbound(HTTPRequestPart.end(nil))
            // The next is sent before the answer to this one: that answer does not end it.
            try channel.writeInbound(Self.head)
            try refuse(channel)
            for _ in 0..<32 { try channel.writeInbound(body(1 << 16)) }
            try channel.writeInbound(HTTPRequestPart.end(nil))
            try refuse(channel)
            channel.embeddedEventLoop.advanceTime(by: .seconds(120))
        }
        #expect(channel.isActive)
        _ = try channel.finish()
    }

    @Test func `a connection above the most is closed and counted, and a place that is given back is taken again`()
        throws
    {
        let open = OpenConnections(atMost: 2, metrics: metrics)
        let first = try channel(open)
        let second = try channel(open)
        let third = try channel(open)
        #expect(first.isActive && second.isActive && !third.isActive)
        #expect(metrics.snapshot.connections == 2 && metrics.snapshot.connectionsRefused == 1)
        try first.close().wait()
        #expect(try channel(open).isActive)
        #expect(PrometheusText(metrics).text.contains("cordon_connections_refused_total 1\n"))
    }

    @Test
    func `one address has a share of the connections on which no request was let in, and as many others as it likes`()
        throws
    {
        let open = OpenConnections(atMost: 100, unknownOfAddress: 2, metrics: metrics)
        let office = try (0..<2).map { _ in try channel(open, from: "192.0.2.7") }
        #expect(try !channel(open, from: "192.0.2.7").isActive)
        #expect(try channel(open, from: "192.0.2.8").isActive)
        try office[0].writeInbound(Self.head)
        try know(office[0])
        var told = false
        while let part = try office[0].readOutbound(as: HTTPResponsePart.self) {
            if case .head(let head) = part { told = head.headerFields.contains(.knownSender) }
        }
        #expect(!told, "the mark is no client's business")
        let third = try channel(open, from: "192.0.2.7")
        #expect(third.isActive)
        #expect(try !channel(open, from: "192.0.2.7").isActive)
        // A place that counted for no address any more gives nothing back twice.
        try office[0].close().wait()
        #expect(try !channel(open, from: "192.0.2.7").isActive)
        try third.close().wait()
        #expect(try channel(open, from: "192.0.2.7").isActive)
        // A machine has a network of IPv6 to itself; this machine's proxies have no share.
        for last in ["1", "2"] { #expect(try channel(open, from: "2001:db8:1:2::\(last)").isActive) }
        #expect(try !channel(open, from: "2001:db8:1:2:ffff::9").isActive)
        #expect(try channel(open, from: "2001:db8:1:3::1").isActive)
        for _ in 0..<5 { #expect(try channel(open).isActive) }
        // A socket of IPv6 sees clients of IPv4 under such addresses, and a proxy on this machine.
        for last in ["1", "1", "2", "2"] { #expect(try channel(open, from: "::ffff:198.51.100.\(last)").isActive) }
        #expect(try !channel(open, from: "::ffff:198.51.100.1").isActive)
        for _ in 0..<3 { #expect(try channel(open, from: "::ffff:127.0.0.1").isActive) }
    }

    @Test func `a stranger has little time for a first head and for a body`() throws {
        let silent = try channel()
        silent.embeddedEventLoop.advanceTime(by: .seconds(16))
        #expect(!silent.isActive)
        let slow = try channel()
        try slow.writeInbound(Self.head)
        for _ in 0..<5 {
            try slow.writeInbound(body(1))
            slow.embeddedEventLoop.advanceTime(by: .seconds(5))
        }
        #expect(slow.isActive)
        slow.embeddedEventLoop.advanceTime(by: .seconds(6))
        #expect(!slow.isActive)
    }
}
