import Foundation
import NIOCore
import NIOEmbedded
import Testing

@testable import CordonServiceHTTP

/// What the service does where it has no descriptor left for a connection, by a clock that the test moves (R6).
@Suite struct AcceptRestTests {
    private let channel = EmbeddedChannel(handler: AcceptRest())

    /// Whether connections are being taken.
    private var takes: Bool {
        channel.options.last { $0.option is ChannelOptions.Types.AutoReadOption }?.value as? Bool ?? true
    }

    @Test func `without a descriptor left no connection is asked for for a moment, and then again`() throws {
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
