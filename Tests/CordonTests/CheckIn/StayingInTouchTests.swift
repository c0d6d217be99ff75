import CordonBase
import CordonProtocol
import CordonSignIn
import CordonTesting
import Foundation
import HTTPTypes
import Testing

@testable import Cordon

/// An event stream that says what a test has it say, and else nothing, as one does whose other end is gone.
@Suite(.timeLimit(.minutes(10))) struct StayingInTouchTests {
    private struct QuietStream: HTTPTransport {
        let service: ScriptedService
        let silence = AsyncThrowingStream<Data, any Error>.makeStream()

        func send(
            _ request: HTTPRequest, body: Data?, limit: Int, timeout: Duration
        ) async throws(TransportError) -> HTTPAnswer {
            try await service.send(request, body: body, limit: limit, timeout: timeout)
        }

        func stream(_ request: HTTPRequest, timeout: Duration) async throws(TransportError) -> HTTPAnswerStream {
            HTTPAnswerStream(head: HTTPResponse(status: .ok), body: silence.stream)
        }
    }

    /// Opens every event stream, which then ends by itself, as behind a proxy that lets none through for long.
    private struct BriefStreams: HTTPTransport {
        let house: Gatehouse
        let isLasting: Bool
        /// The event that the stream brings, by how many there were.
        var event: @Sendable (Int) -> String? = { _ in nil }
        /// Whether a stream that is to go on after an event is refused, as by a service that does not know the event.
        var refusesIDs = false
        let opened = Locked<[Duration]>([])
        /// The ids after which the streams were to go on.
        let ids = Locked<[String?]>([])

        func send(
            _ request: HTTPRequest, body: Data?, limit: Int, timeout: Duration
        ) async throws(TransportError) -> HTTPAnswer {
            try await house.device.service.send(request, body: body, limit: limit, timeout: timeout)
        }

        func stream(_ request: HTTPRequest, timeout: Duration) async throws(TransportError) -> HTTPAnswerStream {
            let number = opened.withLock { opened in
                opened.append(house.clock.clock.boot().uptime)
                return opened.count
            }
            let id = HTTPField.Name("Last-Event-ID").flatMap { request.headerFields[$0] }
            ids.withLock { $0.append(id) }
            if refusesIDs, id != nil {
                return HTTPAnswerStream(head: HTTPResponse(status: .badRequest), body: AsyncThrowingStream { nil })
            }
            let (clock, isLasting) = (house.clock.clock, isLasting)
            let told = Locked(event(number))
            return HTTPAnswerStream(
                head: HTTPResponse(status: .ok),
                body: AsyncThrowingStream {
                    if let text = told.withLock({ $0.take() }) { return Data(text.utf8) }
                    if isLasting { try await clock.sleep(.seconds(31)) }
                    return nil
                })
        }
    }

    @Test(arguments: [false, true], [false, true])
    func `a stream that ends at once, or is opened while check-ins fail, is opened again after growing pauses`(
        isLasting: Bool, checkInsFail: Bool
    ) async throws {
        let house = try await Gatehouse()
        let service = house.device.service
        let transport = BriefStreams(house: house, isLasting: isLasting)
        let protection = try await house.enrolled { $0.transport = transport }
        if checkInsFail { await service.set { $0.problem = ProblemDetails(title: "later", status: 500) } }
        let before = await service.asked.count
        let longest = try await longestPause(of: protection, over: transport)
        let opened = transport.opened.withLock { $0 }
        let checkIns = await service.asked.dropFirst(before).count { $0.hasSuffix("/checkins") }
        let isOfUse = isLasting && !checkInsFail
        #expect(isOfUse ? longest < .seconds(200) : longest >= .seconds(300), "opened at \(opened)")
        #expect((1...opened.count + 8).contains(checkIns))
    }

    @Test(arguments: [-1.0, 1.0])
    func `the pauses before a stream is opened again are spread by a tenth`(jitter: Double) async throws {
        let house = try await Gatehouse()
        let transport = BriefStreams(house: house, isLasting: false)
        let protection = try await house.enrolled { configuration in
            configuration.transport = transport
            configuration.jitter = { jitter }
        }
        // The pause of a quarter of an hour, looked at every five seconds.
        let longest = try await longestPause(of: protection, over: transport)
        #expect(jitter < 0 ? longest < .seconds(880) : longest > .seconds(950))
    }

    /// The longest time between two openings of a stream while an app stays in touch.
    private func longestPause(of protection: AppProtection, over transport: BriefStreams) async throws -> Duration {
        let house = transport.house
        let staying = Task { await protection.stayInTouch(for: house.account) }
        for _ in 0..<400 {
            // One waits for the stream, the other for the next check-in.
            await house.clock.waitForSleepers(2) { protection.context.exchanges.isRunning(house.account) }
            house.clock.advance(.seconds(5))
        }
        staying.cancel()
        await staying.value
        let opened = transport.opened.withLock { $0 }
        return try #require(zip(opened.dropFirst(), opened).map { $0 - $1 }.max())
    }

    @Test(arguments: [false, true])
    func `a stream that ends at once is opened again soon where it brought an event, and not where that is an old one`(
        isNew: Bool
    ) async throws {
        let house = try await Gatehouse()
        await house.device.service.set { $0.sparesEnvelopes = true }
        let transport = BriefStreams(house: house, isLasting: false) { number in
            "id: \(isNew ? number : 1)\nevent: policyChanged\ndata: {}\n\n"
        }
        let protection = try await house.enrolled { $0.transport = transport }
        let longest = try await longestPause(of: protection, over: transport)
        #expect(isNew ? longest < .seconds(200) : longest >= .seconds(300))
    }

    @Test(arguments: ["zzz", "-1", "9223372036854775808", String(repeating: "1", count: 60_000)])
    func `an event id that is no number is not sent back`(id: String) async throws {
        let sent = try await idsSent(told: id, isRefused: false)
        #expect(sent.allSatisfy { $0 == nil })
    }

    @Test func `an event id with which the stream is refused is given up`() async throws {
        #expect(try await idsSent(told: "7", isRefused: false).prefix(3) == [nil, "7", "7"])
        #expect(try await idsSent(told: "7", isRefused: true).prefix(3) == [nil, "7", nil])
    }

    /// After which events an app has its first streams go on that all tell of this one.
    private func idsSent(told id: String, isRefused: Bool) async throws -> [String?] {
        let house = try await Gatehouse()
        let transport = BriefStreams(
            house: house, isLasting: false, event: { _ in "id: \(id)\nevent: policyChanged\ndata: {}\n\n" },
            refusesIDs: isRefused)
        let protection = try await house.enrolled { $0.transport = transport }
        let staying = Task { await protection.stayInTouch(for: house.account) }
        while transport.ids.withLock({ $0.count }) < 3 {
            await house.clock.waitForSleepers(2) { protection.context.exchanges.isRunning(house.account) }
            house.clock.advance(.seconds(5))
        }
        staying.cancel()
        await staying.value
        return transport.ids.withLock { $0 }
    }

    @Test func `events without end are a few check-ins, and then one a second`() async throws {
        let house = try await Gatehouse()
        let service = house.device.service
        await service.set { $0.sparesEnvelopes = true }
        let transport = QuietStream(service: service)
        let protection = try await house.enrolled { $0.transport = transport }
        let before = await service.checkIns.count
        for piece in 0..<20 {
            let events = (0..<10).map { "id: \(10 * piece + $0)\nevent: policyChanged\ndata: {}\n\n" }
            transport.silence.continuation.yield(Data(events.joined().utf8))
        }
        let staying = Task { await protection.stayInTouch(for: house.account) }
        // One waits for the next event's turn, the other for the next check-in.
        for second in 0..<3 {
            await house.clock.waitForSleepers(2) { protection.context.exchanges.isRunning(house.account) }
            #expect(await service.checkIns.count - before == 5 + second)
            house.clock.advance(.seconds(1))
        }
        staying.cancel()
        transport.silence.continuation.finish()
        await staying.value
    }

    @Test func `rules that an event announces are reported as in force at once`() async throws {
        let house = try await Gatehouse()
        let service = house.device.service
        await service.set { $0.sparesEnvelopes = true }
        let transport = QuietStream(service: service)
        let protection = try await house.enrolled { $0.transport = transport }
        let account = house.account
        let staying = Task { await protection.stayInTouch(for: account) }
        try await until { await !service.checkIns.isEmpty }
        try await house.device.publish(["printBlocked": false])
        transport.silence.continuation.yield(Data("id: 7\nevent: policyChanged\ndata: {}\n\n".utf8))
        try await until { await service.checkIns.last?.appliedSequence == 2 }
        // The one before fetched them, and none comes after.
        let sequences = await service.checkIns.suffix(2).map(\.appliedSequence)
        #expect(sequences == [1, 2])
        #expect(await protection.unenroll(account) == .unenrolled)
        transport.silence.continuation.finish()
        await staying.value
    }

    @Test func `check-ins go on while the event stream says nothing, and end with the enrolment`() async throws {
        let house = try await Gatehouse()
        await house.device.service.set { $0.interval = 60 }
        let transport = QuietStream(service: house.device.service)
        let protection = try await house.enrolled { $0.transport = transport }
        let account = house.account
        let staying = Task { await protection.stayInTouch(for: account) }
        try await until { await !house.device.service.checkIns.isEmpty }
        try await until {
            await house.clock.waitForSleeper(of: .seconds(50))
            house.clock.advance(.seconds(61))
            return await house.device.service.checkIns.count >= 3
        }
        #expect(await protection.unenroll(account) == .unenrolled)
        let isOver = Locked(false)
        let waiting = Task {
            await staying.value
            isOver.withLock { $0 = true }
        }
        try await until {
            house.clock.advance(.seconds(60))
            return isOver.withLock { $0 }
        }
        await waiting.value
    }
}
