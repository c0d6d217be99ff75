import CordonBase
import Foundation
import NIOCore
import NIOEmbedded
import Testing

@testable import CordonBroker

/// How fast the broker takes new connections, by clocks that the test moves (R17, R6).
@Suite struct AcceptPaceTests {
    /// Takes each connection in 400 microseconds.
    private final class Taker: ChannelInboundHandler, Sendable {
        typealias InboundIn = Int
        let now: Locked<NIODeadline>

        init(_ now: Locked<NIODeadline>) { self.now = now }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            now.withLock { $0 = $0 + .microseconds(400) }
        }
    }

    private let channel: EmbeddedChannel

    init() {
        let now = Locked(NIODeadline.uptimeNanoseconds(0))
        channel = EmbeddedChannel(handlers: [AcceptPace { now.withLock { $0 } }, Taker(now)])
    }

    /// Whether connections are being taken.
    private var takes: Bool {
        channel.options.last { $0.option is ChannelOptions.Types.AutoReadOption }?.value as? Bool ?? true
    }

    @Test func `after a millisecond that went into new connections none is taken for three times as long`() throws {
        for _ in 0..<2 { try channel.writeInbound(1) }
        #expect(takes)
        try channel.writeInbound(1)
        #expect(!takes)
        channel.embeddedEventLoop.advanceTime(by: .microseconds(3_500))
        #expect(!takes)
        channel.embeddedEventLoop.advanceTime(by: .microseconds(200))
        #expect(takes)
        for _ in 0..<2 { try channel.writeInbound(1) }
        #expect(takes, "what was rested for is paid")
    }

    @Test func `without a descriptor left nothing is taken for a moment, and then again`() throws {
        for _ in 0..<2 {
            channel.pipeline.fireErrorCaught(IOError(errnoCode: EMFILE, reason: "accept"))
            try channel.throwIfErrorCaught()
            #expect(!takes)
            channel.embeddedEventLoop.advanceTime(by: .milliseconds(99))
            #expect(!takes)
            channel.embeddedEventLoop.advanceTime(by: .milliseconds(1))
            #expect(takes)
        }
        channel.pipeline.fireErrorCaught(ChannelError.operationUnsupported)
        #expect(takes)
        #expect(throws: ChannelError.self) { try channel.throwIfErrorCaught() }
    }
}
