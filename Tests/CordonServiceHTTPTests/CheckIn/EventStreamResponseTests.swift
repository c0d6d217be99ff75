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
    struct Recorder: ResponseBodyWriter {
        let written = NIOLockedValueBox(ByteBuffer())
        let finished = NIOLockedValueBox(false)

        func write(_ buffer: ByteBuffer) async throws {
            written.withLockedValue { _ = $0.writeImmutableBuffer(buffer) }
        }

        func finish(_ trailingHeaders: HTTPFields?) async throws { finished.withLockedValue { $0 = true } }
    }

    @Test func `events are written in order, each with its id, kind and data`() async throws {
        let stream = EventSubscription()
        let events = [ServiceEvent(id: 7, kind: .policyChanged), ServiceEvent(id: 8, kind: .commandWaiting)]
        for event in events { stream.tell(event) }
        stream.finish()
        let response = EventStreamResponse(wheel: StreamWheel(heartbeat: .seconds(3_600))).response(
            to: stream, endingAfter: 3_600)
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
        let stream = EventSubscription()
        let recorder = Recorder()
        let response = EventStreamResponse(wheel: StreamWheel(heartbeat: .seconds(3_600))).response(
            to: stream, endingAfter: -1)
        try await response.body.write(recorder)
        #expect(recorder.finished.withLockedValue { $0 })
        stream.finish()
    }

    @Test func `an idle stream is kept alive by comments that no parser reports`() async throws {
        let stream = EventSubscription()
        let response = EventStreamResponse(wheel: StreamWheel(heartbeat: .milliseconds(1))).response(
            to: stream, endingAfter: 3_600)
        let recorder = Recorder()
        async let writing: Void = response.body.write(recorder)
        try await until { recorder.written.withLockedValue { String(buffer: $0).contains(": still here") } }
        stream.finish()
        try await writing
        var parser = EventStreamParser()
        #expect(try parser.messages(after: recorder.written.withLockedValue { Array($0.readableBytesView) }).isEmpty)
    }

    @Test func `one wheel keeps many streams alive, ends each with its token and forgets those that are gone`()
        async throws
    {
        let wheel = StreamWheel(heartbeat: .milliseconds(1))
        let answer = EventStreamResponse(wheel: wheel)
        let recorders = (0..<20).map { _ in Recorder() }
        let streams = recorders.map { _ in EventSubscription() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, recorder) in recorders.enumerated() {
                let response = answer.response(to: streams[index], endingAfter: index < 10 ? 0.05 : 3_600)
                group.addTask { try await response.body.write(recorder) }
            }
            try await until { recorders.prefix(10).allSatisfy { $0.finished.withLockedValue { $0 } } }
            try await until {
                recorders.suffix(10).allSatisfy {
                    $0.written.withLockedValue { String(buffer: $0).contains(": still here") }
                }
            }
            #expect(recorders.suffix(10).allSatisfy { !$0.finished.withLockedValue { $0 } })
            for stream in streams.suffix(10) { stream.finish() }
            try await group.waitForAll()
        }
        try await until { wheel.count == 0 }
    }
}
