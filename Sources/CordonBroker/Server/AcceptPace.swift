internal import CordonBase
internal import NIOCore

/// Takes new connections in a share of the loop's time, and none for a moment where the process has no descriptor left for one.
///
/// The loop that serves every client also takes new connections, and looks at each program that connects. If one connects without pause, the
/// loop is never done: it has used up its turn on the processor when another client asks something, which then waits for the next one. So
/// the loop rests after what it has taken. New connections wait meanwhile in the kernel's queue, and so does the program that fills it.
///
/// Without a descriptor left, the kernel says at once and for ever that a connection waits, and never hands one over.
final class AcceptPace: ChannelInboundHandler, Sendable {
    typealias InboundIn = any Channel

    /// How much time goes into new connections, also those that are turned away, before the loop rests from them.
    static let busy = TimeAmount.milliseconds(1)
    /// How many times as long it then rests.
    static let rests: Int64 = 3
    /// The longest rest, and the one without a descriptor left.
    static let longest = TimeAmount.milliseconds(100)

    private struct State {
        var isResting = false
        var spent = TimeAmount.zero
    }

    private let state = Locked(State())
    private let now: @Sendable () -> NIODeadline

    /// - Parameter now: The clock that says how long a connection took.
    init(now: @escaping @Sendable () -> NIODeadline = { .now() }) {
        self.now = now
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let began = now()
        context.fireChannelRead(data)
        let took = now() - began
        let due = state.withLock { state -> TimeAmount? in
            state.spent = state.spent + took
            guard state.spent >= Self.busy else { return nil }
            defer { state.spent = .zero }
            // No longer, also where a busy machine let the loop wait in between.
            return min(state.spent * Self.rests, Self.longest)
        }
        if let due { rest(due, context.channel) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard error is IOError else { return context.fireErrorCaught(error) }
        rest(Self.longest, context.channel)
    }

    private func rest(_ time: TimeAmount, _ channel: any Channel) {
        guard
            state.withLock({ state in
                defer { state.isResting = true }
                return !state.isResting
            })
        else { return }
        // Not by holding back `read`: after an error the channel still waits for the one before.
        try? channel.syncOptions?.setOption(.autoRead, value: false)
        channel.eventLoop.scheduleTask(in: time) { [self] in
            state.withLock { $0.isResting = false }
            try? channel.syncOptions?.setOption(.autoRead, value: true)
        }
    }
}
