internal import CordonBase
internal import CordonSignIn
internal import Foundation
internal import Logging
internal import NIOCore

/// One client of the broker: frames in, answers out, with bounds on bytes, time, number and rate.
///
/// Lives on its event loop. It reads only while there is room for another request, so that a client that floods fills its own
/// socket buffer and nothing here.
final class BrokerConnectionHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let session: BrokerSession
    private let limits: BrokerLimits
    private let logger: Logger
    /// Whether the bytes that were just read were written by the process that connected; consumes the answer: ask once per read.
    private let isFromCaller: @Sendable () -> Bool
    private var reader = BrokerFrameReader(limit: BrokerFrame.largestGreeting)
    private var budget: TokenBucket
    private let shared: ProgramBudget
    private let executor: LoopTaskExecutor
    private var peer: Int?
    private var underWay = 0
    private var hasGreeted = false
    private var isPaused = false
    private var greetingTimer: Scheduled<Void>?
    private var greetingSince = NIODeadline.distantPast
    private var greetingLeft: TimeAmount
    private var frameTimer: Scheduled<Void>?
    private var unreadTimer: Scheduled<Void>?

    init(
        session: BrokerSession, limits: BrokerLimits, shared: ProgramBudget, loop: any EventLoop, logger: Logger,
        isFromCaller: @escaping @Sendable () -> Bool
    ) {
        self.session = session
        self.isFromCaller = isFromCaller
        self.limits = limits
        self.logger = logger
        self.shared = shared
        greetingLeft = TimeAmount(limits.greetingTime)
        executor = LoopTaskExecutor(loop)
        budget = TokenBucket(burst: limits.burst, perSecond: limits.perSecond, now: loop.now.uptimeNanoseconds)
    }

    func channelActive(context: ChannelHandlerContext) {
        let loop = context.eventLoop
        let bound = NIOLoopBound(BoundContext(handler: self, context: context), eventLoop: loop)
        let send: @Sendable (Data) -> Void = { bytes in
            loop.execute { bound.value.handler.write(bytes, bound.value.context) }
        }
        let session = self.session
        Task {
            let number = await session.open(send)
            loop.execute { bound.value.handler.begin(as: number, bound.value.context) }
        }
    }

    /// The handler and its place in the pipeline, for work that comes back to the event loop.
    private struct BoundContext {
        let handler: BrokerConnectionHandler
        let context: ChannelHandlerContext
    }

    private func begin(as number: Int, _ context: ChannelHandlerContext) {
        guard context.channel.isActive else {
            let session = self.session
            Task { await session.close(number) }
            return
        }
        peer = number
        awaitGreeting(context)
        read(context)
    }

    /// Gives the client what is left of its time to greet.
    private func awaitGreeting(_ context: ChannelHandlerContext) {
        guard peer != nil else { return }
        let channel = context.channel
        greetingSince = context.eventLoop.now
        greetingTimer = context.eventLoop.scheduleTask(in: greetingLeft) { channel.close(promise: nil) }
    }

    /// Stops that time while the broker is at work on what the client sent.
    private func holdGreeting(_ context: ChannelHandlerContext) {
        greetingTimer?.cancel()
        greetingLeft = max(.zero, greetingLeft - (context.eventLoop.now - greetingSince))
    }

    func channelInactive(context: ChannelHandlerContext) {
        for timer in [greetingTimer, frameTimer, unreadTimer] { timer?.cancel() }
        if let peer {
            let session = self.session
            Task { await session.close(peer) }
        }
        peer = nil
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    // MARK: Reading

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard isFromCaller() else {
            // A connection belongs to the process that made it; a child, or a process that was handed it, makes its own.
            context.close(promise: nil)
            return
        }
        reader.append(unwrapInboundIn(data).readableBytesView)
        takeFrames(context)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        read(context)
    }

    private func read(_ context: ChannelHandlerContext) {
        guard peer != nil, !isPaused, underWay < room else { return }
        context.read()
    }

    /// One request at a time until the client is known.
    private var room: Int { hasGreeted ? limits.requestsAtOnce : 1 }

    private func takeFrames(_ context: ChannelHandlerContext) {
        do {
            while underWay < room, !isPaused, let payload = try reader.next() {
                let now = context.eventLoop.now.uptimeNanoseconds
                let wait = max(budget.spend(now: now), shared.spend(now: now))
                if wait > 0 { pause(wait, context) }
                begin(payload, context)
            }
        } catch {
            // After a false length, nothing that follows can be made sense of. No other client is concerned.
            logger.debug("a frame's length is out of bounds")
            context.close(promise: nil)
            return
        }
        watchFrame(context)
    }

    private func pause(_ nanoseconds: Int64, _ context: ChannelHandlerContext) {
        isPaused = true
        let bound = NIOLoopBound(BoundContext(handler: self, context: context), eventLoop: context.eventLoop)
        context.eventLoop.scheduleTask(in: .nanoseconds(nanoseconds)) {
            bound.value.handler.isPaused = false
            bound.value.handler.goOn(bound.value.context)
        }
    }

    private func goOn(_ context: ChannelHandlerContext) {
        guard peer != nil else { return }
        takeFrames(context)
        read(context)
    }

    /// A frame that has begun must end in time; one that waits for room here is not the client's fault.
    private func watchFrame(_ context: ChannelHandlerContext) {
        guard reader.isInsideFrame, underWay < room, !isPaused else {
            frameTimer?.cancel()
            frameTimer = nil
            return
        }
        guard frameTimer == nil else { return }
        let channel = context.channel
        frameTimer = context.eventLoop.scheduleTask(in: TimeAmount(limits.frameTime)) { channel.close(promise: nil) }
    }

    private func begin(_ payload: Data, _ context: ChannelHandlerContext) {
        guard let peer else { return }
        frameTimer?.cancel()
        frameTimer = nil
        if let frame = session.repeatedAnswer(to: payload, from: peer) { return write(frame, context) }
        if !hasGreeted { holdGreeting(context) }
        underWay += 1
        let session = self.session
        let loop = context.eventLoop
        let bound = NIOLoopBound(BoundContext(handler: self, context: context), eventLoop: loop)
        Self.run(session, payload, peer, on: executor) { answered in
            if loop.inEventLoop {
                bound.value.handler.finish(answered, bound.value.context)
            } else {
                loop.execute { bound.value.handler.finish(answered, bound.value.context) }
            }
        }
    }

    /// Answers a short question that needs neither disk nor network on the event loop itself: two changes of thread would cost
    /// more than the answer. Everything else runs beside the loop.
    private static func run(
        _ session: BrokerSession, _ payload: Data, _ peer: Int, on executor: LoopTaskExecutor,
        then finish: @escaping @Sendable (BrokerSession.Answered) -> Void
    ) {
        #if os(Linux)
            if payload.count <= BrokerFrame.largestGreeting {
                Task(executorPreference: executor) {
                    defer { withExtendedLifetime(executor) {} }
                    let request = session.request(in: payload)
                    if let answered = await session.quickAnswer(request, in: payload, from: peer) {
                        return finish(answered)
                    }
                    Task { finish(await session.answer(request, from: peer)) }
                }
                return
            }
        #endif
        Task { finish(await session.answer(session.request(in: payload), from: peer)) }
    }

    private func finish(_ answered: BrokerSession.Answered, _ context: ChannelHandlerContext) {
        underWay -= 1
        if answered.greets {
            hasGreeted = true
            reader.limit = BrokerFrame.largestRequest
        } else if !hasGreeted {
            awaitGreeting(context)
        }
        if let frame = answered.frame { write(frame, context) }
        if answered.refuses {
            context.close(promise: nil)
        } else {
            goOn(context)
        }
    }

    // MARK: Writing

    private var unread = 0

    private func write(_ bytes: Data, _ context: ChannelHandlerContext) {
        guard peer != nil else { return }
        unread += bytes.count
        guard unread <= limits.unreadBytes else {
            context.close(promise: nil)
            return
        }
        if unreadTimer == nil, !context.channel.isWritable || unread > 65_536 {
            let channel = context.channel
            unreadTimer = context.eventLoop.scheduleTask(in: TimeAmount(limits.unreadTime)) {
                channel.close(promise: nil)
            }
        }
        let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
        context.writeAndFlush(wrapOutboundOut(context.channel.allocator.buffer(bytes: bytes)))
            .whenComplete { _ in bound.value.wrote(bytes.count) }
    }

    private func wrote(_ count: Int) {
        unread -= count
        if unread < 65_536 {
            unreadTimer?.cancel()
            unreadTimer = nil
        }
    }
}
