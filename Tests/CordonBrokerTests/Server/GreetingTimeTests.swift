import CordonBase
import CordonTesting
import Dispatch
import Foundation
import Logging
import NIOCore
import NIOEmbedded
import Testing

@testable import CordonBroker
@testable import CordonSignIn

/// SI-195: a client has five seconds of its own for the greeting.
@Suite struct GreetingTimeTests {
    private static let hello = BrokerFrame.encode(
        Data(#"{"id":1,"verb":"hello","versions":[1],"clientID":"x"}"#.utf8))
    private static let nonsense = BrokerFrame.encode(Data("{}".utf8))

    /// A connection whose clock stands still, and whose requests wait at the gate.
    private func connection(gate: DispatchSemaphore) async throws -> NIOAsyncTestingChannel {
        let stand = try BrokerStand {
            $0.isDevelopment = true
            $0.apps = []
        }
        let session = BrokerSession(
            broker: try await stand.broker(),
            identify: { BrokerCaller(user: 900, process: 1, path: "/apps/x", digest: "") }
        ) {
            gate.wait()
            return true
        }
        let budget = TokenBucket(burst: 10, perSecond: 10, now: 0)
        let isReading = Locked(false)
        let channel = try await NIOAsyncTestingChannel { channel in
            try channel.pipeline.syncOperations.addHandler(ReadWatch(isReading: isReading))
            try channel.pipeline.syncOperations.addHandler(
                BrokerConnectionHandler(
                    session: session, limits: BrokerLimits(), shared: ProgramBudget(budget), loop: channel.eventLoop,
                    logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, isFromCaller: { true }))
        }
        try await channel.connect(to: SocketAddress(unixDomainSocketPath: "/client")).get()
        try await until { isReading.withLock { $0 } }
        return channel
    }

    private func frame(of bytes: Data) -> ByteBuffer { ByteBuffer(bytes: bytes) }

    @Test func `a broker that is slow does not cut off who greeted in time`() async throws {
        let gate = DispatchSemaphore(value: 0)
        let channel = try await connection(gate: gate)
        try await channel.writeInbound(frame(of: Self.hello))
        await channel.testingEventLoop.advanceTime(by: .seconds(60))
        #expect(channel.isActive)
        gate.signal()
        let answer = try await channel.waitForOutboundWrite(as: ByteBuffer.self)
        #expect(String(buffer: answer).contains(#""hello""#))
        await channel.testingEventLoop.advanceTime(by: .seconds(60))
        #expect(channel.isActive, "known by now")
        try await channel.close()
    }

    @Test func `who says nothing, or anything but a greeting, is cut off after five seconds of its own`() async throws {
        let gate = DispatchSemaphore(value: 0)
        let channel = try await connection(gate: gate)
        await channel.testingEventLoop.advanceTime(by: .seconds(3))
        try await channel.writeInbound(frame(of: Self.nonsense))
        _ = try await channel.waitForOutboundWrite(as: ByteBuffer.self)
        await channel.testingEventLoop.advanceTime(by: .seconds(1))
        #expect(channel.isActive)
        await channel.testingEventLoop.advanceTime(by: .seconds(1))
        #expect(!channel.isActive)
    }
}

/// Tells when a connection is read for the first time.
private final class ReadWatch: ChannelOutboundHandler {
    typealias OutboundIn = Never

    private let isReading: Locked<Bool>

    init(isReading: Locked<Bool>) { self.isReading = isReading }

    func read(context: ChannelHandlerContext) {
        isReading.withLock { $0 = true }
        context.read()
    }
}
