package import NIOCore
internal import NIOHTTP1

/// Ends a connection whose other end sends more and more of which the parser makes nothing.
///
/// NIO's parser bounds the names and values of header fields and counts no spaces before a value, yet it keeps all of a field that has begun. Spaces without
/// end would fill the memory.
package final class UnparsedBytes: ChannelInboundHandler {
    package typealias InboundIn = ByteBuffer
    package typealias InboundOut = ByteBuffer

    private let most: Int
    private var count = 0
    private var hasRefused = false

    private init(most: Int) {
        self.most = most
    }

    /// Puts the bound around a parser that is in a connection's pipeline.
    ///
    /// - Parameter most: How many bytes may come, beside those of one read, before the parser has made something of them: more than a
    ///   head may have.
    package static func bound<Parser: ChannelHandler>(
        _ parser: Parser.Type, of channel: any Channel, to most: Int
    ) throws {
        let pipeline = channel.pipeline.syncOperations
        let place = try pipeline.handler(type: parser)
        let bytes = UnparsedBytes(most: most)
        try pipeline.addHandler(bytes, position: .before(place))
        try pipeline.addHandler(ParsedParts(bytes), position: .after(place))
    }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !hasRefused else { return }
        count += unwrapInboundIn(data).readableBytes
        context.fireChannelRead(data)
        guard count > most else { return }
        hasRefused = true
        context.fireErrorCaught(HTTPParserError.headerOverflow)
        context.close(promise: nil)
    }

    /// Behind the parser: whatever comes here was made of all that came before.
    private final class ParsedParts: ChannelInboundHandler {
        typealias InboundIn = NIOAny

        private let bytes: UnparsedBytes

        init(_ bytes: UnparsedBytes) {
            self.bytes = bytes
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            bytes.count = 0
            context.fireChannelRead(data)
        }
    }
}
