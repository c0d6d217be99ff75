import CordonTesting
import Foundation
import NIOCore
import NIOPosix
import NIOSSL

/// Open event streams over TLS 1.3, as devices have them where no proxy stands in front.
struct SecureStreams {
    private let group: MultiThreadedEventLoopGroup
    private let channels: [any Channel]
    private let answers: [EventLoopFuture<Bool>]

    /// Opens as many streams of each device as it may have; each request has a proof of its own.
    static func open(on devices: [SimulatedDevice], at base: URL) async throws -> SecureStreams {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        var configuration = TLSConfiguration.makeClientConfiguration()
        // Only what the service's side takes is measured.
        configuration.certificateVerification = .none
        let context = try NIOSSLContext(configuration: configuration)
        var channels: [any Channel] = []
        var answers: [EventLoopFuture<Bool>] = []
        for device in devices {
            for _ in 0..<Streams.perDevice {
                let request = try await Streams.request(of: device, to: base)
                let (channel, answer) = try await ClientBootstrap(group: group).channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandlers(
                            NIOSSLClientHandler(context: context, serverHostname: nil),
                            FirstAnswer(request, channel.eventLoop.makePromise(of: Bool.self)))
                    }
                }.connect(host: "127.0.0.1", port: base.port ?? 443).flatMapThrowing { channel in
                    (channel, try channel.pipeline.syncOperations.handler(type: FirstAnswer.self).answer.futureResult)
                }.get()
                channels.append(channel)
                answers.append(answer)
            }
        }
        return SecureStreams(group: group, channels: channels, answers: answers)
    }

    /// Waits until every stream has begun; how many answered 200.
    func begun() async throws -> Int {
        var count = 0
        for answer in answers where try await answer.get() { count += 1 }
        return count
    }

    func close() async throws {
        // All at once: TLS waits some seconds for the other side's goodbye, which a server that is sending a stream does not read.
        for channel in channels { channel.close(promise: nil) }
        try await group.shutdownGracefully()
    }
}

/// Sends a request once the connection is there, and says whether its answer begins as it should.
private final class FirstAnswer: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    let answer: EventLoopPromise<Bool>
    private let request: String
    private var received = ""
    private var isAnswered = false

    init(_ request: String, _ answer: EventLoopPromise<Bool>) {
        self.request = request
        self.answer = answer
    }

    func handlerAdded(context: ChannelHandlerContext) {
        // A stream that never begins is counted as one that was refused, and ends no benchmark.
        context.eventLoop.assumeIsolated().scheduleTask(in: .seconds(60)) { self.resolve(false) }
    }

    func channelActive(context: ChannelHandlerContext) {
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: request)), promise: nil)
        context.fireChannelActive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isAnswered else { return }
        received += String(buffer: unwrapInboundIn(data))
        let wanted = "HTTP/1.1 200"
        if received.utf8.count >= wanted.utf8.count { resolve(received.hasPrefix(wanted)) }
    }

    func channelInactive(context: ChannelHandlerContext) {
        resolve(false)
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    private func resolve(_ isGood: Bool) {
        guard !isAnswered else { return }
        isAnswered = true
        received = ""
        answer.succeed(isGood)
    }
}
