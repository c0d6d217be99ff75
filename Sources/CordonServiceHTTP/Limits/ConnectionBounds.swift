import CordonHTTPGuard
import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOHTTPTypes

/// What one connection may cost: a place among the open ones, and a body only as long as a route reads it.
///
/// Stands between the HTTP codec and the routes. The server itself reads a body to its end before it takes the next request,
/// so without this a client that was refused could go on sending for ever.
final class ConnectionBounds: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// The most bytes of a head, with what a parser counts as neither name nor value of a header field.
    static let largestHead = 64 << 10
    /// The most bytes of a body that are taken and thrown away after its request was answered.
    static let unwantedBytes = 1 << 20
    /// How long they may take.
    static let unwantedTime = TimeAmount.seconds(5)
    /// How long a connection of which nothing is known may take for the head of its first request.
    static let firstHead = TimeAmount.seconds(15)
    /// The most time for a body on such a connection.
    static let unknownBody = TimeAmount.seconds(30)

    private let open: OpenConnections
    private let bodyTime: TimeAmount
    private let looksAtAddresses: Bool
    private var isCounted = false
    private var isKnown = false
    /// What the connection counts for while nothing is known of it.
    private var address: String?
    private var requests = 0
    private var answers = 0
    private var isReading = false
    private var unwanted = 0
    private var deadline: NIODeadline?
    private var timer: (scheduled: Scheduled<Void>, at: NIODeadline)?

    /// - Parameters:
    ///   - bodyTime: How long a body may take from its first byte to its end.
    ///   - looksAtAddresses: Whether a connection's address says something of who is at its other end.
    init(_ open: OpenConnections, bodyTime: TimeAmount, looksAtAddresses: Bool = true) {
        self.open = open
        self.bodyTime = bodyTime
        self.looksAtAddresses = looksAtAddresses
    }

    func handlerAdded(context: ChannelHandlerContext) {
        // A test may have this handler alone.
        try? UnparsedBytes.bound(
            ByteToMessageHandler<HTTPRequestDecoder>.self, of: context.channel, to: Self.largestHead)
    }

    func channelActive(context: ChannelHandlerContext) {
        address = looksAtAddresses ? OpenConnections.key(of: context.remoteAddress) : nil
        isCounted = open.enter(from: address)
        guard isCounted else { return context.close(promise: nil) }
        arm(context, after: Self.firstHead)
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        if isCounted { open.leave(from: address) }
        isCounted = false
        timer?.scheduled.cancel()
        timer = nil
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head:
            requests += 1
            if requests == 1 { deadline = nil }
            isReading = true
            unwanted = 0
        case .body(let bytes):
            if deadline == nil { arm(context, after: isKnown ? bodyTime : min(bodyTime, Self.unknownBody)) }
            if isAnswered {
                unwanted += bytes.readableBytes
                guard unwanted <= Self.unwantedBytes else { return context.close(promise: nil) }
            }
        case .end:
            isReading = false
            deadline = nil
        }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(var head) where head.headerFields.contains(.knownSender):
            // Said from route to connection, and nothing for clients.
            head.headerFields[.knownSender] = nil
            know()
            return context.write(wrapOutboundOut(.head(head)), promise: promise)
        case .end:
            answers += 1
            if isAnswered { arm(context, after: Self.unwantedTime) }
        default: break
        }
        context.write(data, promise: promise)
    }

    private func know() {
        isKnown = true
        if let address { open.know(address) }
        address = nil
    }

    /// Whether the request that is still being read has its answer already; an answer to the one before is none.
    private var isAnswered: Bool { isReading && answers >= requests }

    private func arm(_ context: ChannelHandlerContext, after time: TimeAmount) {
        let deadline = context.eventLoop.now + time
        self.deadline = deadline
        if let timer, timer.at <= deadline { return }
        timer?.scheduled.cancel()
        schedule(context, at: deadline)
    }

    private func schedule(_ context: ChannelHandlerContext, at moment: NIODeadline) {
        let scheduled = context.eventLoop.assumeIsolated().scheduleTask(deadline: moment) { [self] in
            timer = nil
            guard let deadline else { return }
            guard deadline > moment else { return context.close(promise: nil) }
            schedule(context, at: deadline)
        }
        timer = (scheduled, moment)
    }
}
