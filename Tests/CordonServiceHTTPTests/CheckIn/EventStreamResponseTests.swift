import CordonBase
import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonService
import CordonTesting
import Foundation
import HTTPTypes
import HummingbirdCore
import HummingbirdTesting
import NIOConcurrencyHelpers
import NIOCore
import Testing

@testable import CordonServiceHTTP

@Suite struct EventStreamResponseTests {
    /// Keeps what a response body writes.
    private struct Recorder: ResponseBodyWriter {
        let written = NIOLockedValueBox(ByteBuffer())
        let finished = NIOLockedValueBox(false)

        func write(_ buffer: ByteBuffer) async throws {
            written.withLockedValue { _ = $0.writeImmutableBuffer(buffer) }
        }

        func finish(_ trailingHeaders: HTTPFields?) async throws { finished.withLockedValue { $0 = true } }
    }

    @Test func `events are written in order, each with its id, kind and data`() async throws {
        let (stream, source) = AsyncStream.makeStream(of: ServiceEvent.self)
        let events = [ServiceEvent(id: 7, kind: .policyChanged), ServiceEvent(id: 8, kind: .commandWaiting)]
        for event in events { source.yield(event) }
        source.finish()
        let response = EventStreamResponse(heartbeat: .seconds(3_600)).response(to: stream, endingAfter: 3_600)
        #expect(response.headers[.contentType] == "text/event-stream")
        let recorder = Recorder()
        try await response.body.write(recorder)
        var parser = EventStreamParser()
        let messages = try parser.messages(after: recorder.written.withLockedValue { Array($0.readableBytesView) })
        #expect(messages.map(\.event) == ["policyChanged", "commandWaiting"])
        #expect(messages.map(\.lastEventID) == ["7", "8"])
        #expect(try messages.map { try MessageCoding.decode(ServiceEvent.self, from: Data($0.data.utf8)) } == events)
        #expect(recorder.finished.withLockedValue { $0 })
    }

    @Test func `a stream ends with its token`() async throws {
        let (stream, source) = AsyncStream.makeStream(of: ServiceEvent.self)
        let recorder = Recorder()
        let response = EventStreamResponse(heartbeat: .seconds(3_600)).response(to: stream, endingAfter: -1)
        try await response.body.write(recorder)
        #expect(recorder.finished.withLockedValue { $0 })
        source.finish()
    }

    @Test func `an idle stream is kept alive by comments that no parser reports`() async throws {
        let (stream, source) = AsyncStream.makeStream(of: ServiceEvent.self)
        let response = EventStreamResponse(heartbeat: .milliseconds(1)).response(to: stream, endingAfter: 3_600)
        let recorder = Recorder()
        async let writing: Void = response.body.write(recorder)
        try await until { recorder.written.withLockedValue { String(buffer: $0).contains(": still here") } }
        source.finish()
        try await writing
        var parser = EventStreamParser()
        #expect(try parser.messages(after: recorder.written.withLockedValue { Array($0.readableBytesView) }).isEmpty)
    }
}
