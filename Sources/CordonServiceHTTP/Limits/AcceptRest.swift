import NIOCore

/// Stops taking connections for a moment where the process has no descriptor left for one.
///
/// The kernel goes on saying that a connection waits, and hands none over: without a rest the loop asks for it without end, beside the
/// requests that it serves. What SwiftNIO has for this holds back the next read, but after such an error the channel still waits for the one
/// before.
final class AcceptRest: ChannelInboundHandler {
    typealias InboundIn = any Channel

    /// How long a rest is.
    static let time = TimeAmount.milliseconds(100)

    private var isResting = false

    /// Has the channel that takes connections rest from now on.
    static func add(to channel: any Channel) async {
        // A channel that has closed meanwhile takes none.
        try? await channel.eventLoop.submit {
            try channel.pipeline.syncOperations.addHandler(AcceptRest(), position: .first)
        }.get()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard error is IOError else { return context.fireErrorCaught(error) }
        guard !isResting else { return }
        isResting = true
        let channel = context.channel
        try? channel.syncOptions?.setOption(.autoRead, value: false)
        channel.eventLoop.assumeIsolated().scheduleTask(in: Self.time) { [self] in
            isResting = false
            try? channel.syncOptions?.setOption(.autoRead, value: true)
        }
    }
}
