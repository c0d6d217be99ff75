internal import NIOCore
internal import NIOHTTP1

/// Keeps from AsyncHTTPClient the heads of answers over which it ends the process, or behind which it waits in vain.
///
/// It takes every status below 200 but 101 for an announcement that has no end of its own, and traps at the end of an answer whose
/// status is below 100. Nothing here asks to change the protocol, so 101 is no answer either.
final class AnswerGuard: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias InboundOut = HTTPClientResponsePart

    /// How many announcements (100 to 199) one answer may have before it.
    static let mostAnnouncements = 32
    /// How many bytes the head of an answer may have, or what stands between pieces of its body.
    private static let largestHead = 256 << 10

    private var announcements = 0
    private var hasRefused = false

    /// Puts a guard between a connection's parser and the client's own handler; the connection is that of a client of HTTP/1.1.
    static func add(to channel: any Channel) -> EventLoopFuture<Void> {
        channel.eventLoop.makeCompletedFuture {
            let pipeline = channel.pipeline.syncOperations
            let parser = try pipeline.handler(type: ByteToMessageHandler<HTTPResponseDecoder>.self)
            try pipeline.addHandler(AnswerGuard(), position: .after(parser))
            try UnparsedBytes.bound(
                ByteToMessageHandler<HTTPResponseDecoder>.self, of: channel, to: largestHead)
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // The parser still has the rest of what was refused.
        guard !hasRefused else { return }
        if case .head(let head) = unwrapInboundIn(data), !isAnswer(head) {
            hasRefused = true
            context.fireErrorCaught(HTTPParserError.invalidStatus)
            context.close(promise: nil)
            return
        }
        context.fireChannelRead(data)
    }

    private func isAnswer(_ head: HTTPResponseHead) -> Bool {
        guard head.status.code < 200 else {
            announcements = 0
            return true
        }
        announcements += 1
        return head.status.code >= 100 && head.status.code != 101 && announcements <= Self.mostAnnouncements
    }
}
