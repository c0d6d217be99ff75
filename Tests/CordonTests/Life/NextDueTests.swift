import Cordon
import CordonIdentity
import CordonProtocol
import CordonTesting
import Foundation
import Testing

/// When due work wants to be called again, as a background task is: everything that waits counts.
@Suite(.timeLimit(.minutes(10))) struct NextDueTests {
    private let time = TestTime()
    private var inEightHours: Date { time.now + 8 * 3600 }

    /// The minutes from each of the next rounds to the one after, where each comes when the one before has said.
    private func pauses(_ count: Int, of protection: AppProtection) async -> [TimeInterval] {
        var pauses: [TimeInterval] = []
        for _ in 0..<count {
            let next = await protection.performDueWork()
            pauses.append(next.timeIntervalSince(time.now) / 60)
            time.set(next)
        }
        return pauses
    }

    @Test func `a receipt that cannot be handed in is due after growing pauses, also across a restart`() async throws {
        let device = try Device(time: time)
        let protection = try await device.enrolled()
        await device.service.set { $0.isUnreachable = true }
        try await protection.wipe(device.account.id)
        #expect(await pauses(4, of: protection) == [1, 1, 2, 4])
        let restarted = try await device.start()
        #expect(await pauses(5, of: restarted) == [8, 16, 32, 60, 60])
        await device.service.set { $0.isUnreachable = false }
        #expect(await restarted.performDueWork() == inEightHours)
    }

    @Test func `a wipe that cannot be finished is due after growing pauses, until it is`() async throws {
        let device = try Device(time: time)
        let protection = try await device.enrolled()
        await device.sessions.set { $0.endFailure = HeldSessions.refusal }
        #expect(await protection.failureOfWiping(device.account.id) == .stateUnwritable)
        #expect(await pauses(3, of: protection) == [1, 1, 2])
        await device.sessions.set { $0.endFailure = nil }
        #expect(await protection.performDueWork() == inEightHours)
    }

    @Test func `logs that the person agreed to are due an hour later, until they are sent`() async throws {
        let device = try Device(time: time)
        await device.setServiceClock()
        let request = LogRequest(id: "request-1", notAfter: 9_000_000_000)
        await device.service.set {
            $0.interval = 8 * 3600
            $0.change = { $0.logRequests = [request] }
            $0.takenPieces = 0
        }
        try await device.publish([:])
        let protection = try await device.start { $0.confirmLogUpload = { _, _ in true } }
        let events = EventCatch(protection)
        func attempts() async -> Int { await events.count { if case .logs = $0 { true } else { false } } }
        await protection.enroll(device.account)
        try await until { await attempts() == 1 }
        #expect(await protection.performDueWork() == time.now + 3600)
        // The first round leaves it to a task of its own.
        try await until { await attempts() == 2 }
        await device.service.set { $0.takenPieces = nil }
        #expect(await protection.performDueWork() == inEightHours)
        #expect(await device.service.logs.count == 1)
    }

    @Test(arguments: [503, 403])
    func `telemetry that a busy service does not take is due an hour later, and what none takes is not`(
        status: Int
    ) async throws {
        let device = try Device(time: time)
        await device.service.set {
            $0.interval = 8 * 3600
            $0.telemetryProblem = ProblemDetails(title: "no", status: status)
        }
        let protection = try await device.enrolled()
        #expect(await protection.performDueWork() == (status == 503 ? time.now + 3600 : inEightHours))
        await device.service.set { $0.telemetryProblem = nil }
        #expect(await protection.performDueWork() == inEightHours)
    }

    @Test func `what an app without an account has to tell wakes nobody`() async throws {
        let device = try Device(time: time)
        let protection = try await device.start()
        #expect(await protection.performDueWork() == inEightHours)
        #expect(await device.service.asked.isEmpty)
    }
}
