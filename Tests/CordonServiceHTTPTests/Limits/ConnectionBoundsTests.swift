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

    private func channel(_ open: OpenConnections? = nil) throws -> EmbeddedChannel {
        let channel = EmbeddedChannel(
            handler: ConnectionBounds(open ?? OpenConnections(atMost: 8, metrics: metrics), bodyTime: .seconds(60)))
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        return channel
    }

    private static let head = HTTPRequestPart.head(HTTPRequest(method: .post, scheme: nil, authority: nil, path: "/"))

    private func body(_ count: Int) -> HTTPRequestPart { .body(ByteBuffer(repeating: 0x20, count: count)) }

    private func refuse(_ channel: EmbeddedChannel) throws {
        try channel.writeOutbound(HTTPResponsePart.head(HTTPResponse(status: .unauthorized)))
        try channel.writeOutbound(HTTPResponsePart.end(nil))
    }

    @Test func `a body that nobody reads any more ends the connection after a mebibyte`() throws {
        let channel = try channel()
        try channel.writeInbound(Self.head)
        try refuse(channel)
        for _ in 0..<16 { try channel.writeInbound(body(1 << 16)) }
        #expect(channel.isActive)
        _ = try? channel.writeInbound(body(1))
        #expect(!channel.isActive)
    }

    @Test func `a body that nobody reads any more ends the connection after five seconds`() throws {
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
}
