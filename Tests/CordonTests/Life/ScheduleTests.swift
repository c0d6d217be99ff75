import Cordon
import CordonIdentity
import CordonPolicy
import CordonProtocol
import Foundation
import Testing

/// SRV-CI-061…071: when an app asks again.
@Suite(.timeLimit(.minutes(10))) struct ScheduleTests {
    private let time = TestTime()

    private func enrolled() async throws -> (Device, AppProtection) {
        let device = try Device(time: time)
        let protection = try await device.enrolled()
        await protection.performDueWork()
        return (device, protection)
    }

    @Test func `the service's interval counts, up to eight hours`() async throws {
        let (device, protection) = try await enrolled()
        #expect(await protection.performDueWork() == time.now + 1800)
        await device.service.set { $0.interval = 7 * 86_400 }
        await protection.checkIn(device.account.id)
        #expect(await protection.performDueWork() == time.now + 8 * 3600)
    }

    @Test func `failed check-ins come back after 1, 2, 5, 15, 30 and then every 60 minutes`() async throws {
        let (device, protection) = try await enrolled()
        await device.service.set { $0.isUnreachable = true }
        time.advance(by: 1800)
        var pauses: [TimeInterval] = []
        for _ in 0..<8 {
            let next = await protection.performDueWork()
            pauses.append(next.timeIntervalSince(time.now) / 60)
            time.set(next)
        }
        #expect(pauses == [1, 2, 5, 15, 30, 60, 60, 60])
        await device.service.set { $0.isUnreachable = false }
        await protection.performDueWork()
        #expect(await protection.performDueWork() == time.now + 1800)
        #expect(protection.diagnostics.report().accounts.first?.failures == 0)
    }

    @Test func `an app that starts asks when its last check-in is older than a quarter of an hour`() async throws {
        let (device, _) = try await enrolled()
        time.advance(by: 14 * 60)
        let early = try await device.start()
        await early.performDueWork()
        #expect(await device.service.checkIns.isEmpty)
        time.advance(by: 2 * 60)
        let late = try await device.start()
        await late.performDueWork()
        #expect(await device.service.checkIns.count == 1)
    }

    @Test(arguments: [-1.0, 1.0])
    func `the spread of the pauses stays within a tenth`(jitter: Double) async throws {
        let device = try Device(time: time)
        await device.setServiceClock()
        try await device.publish(["printBlocked": .bool(true)])
        let protection = try await device.start { $0.jitter = { jitter } }
        await protection.enroll(device.account)
        #expect(protection.diagnostics.report().accounts.first?.next == time.now + 1800 * 0.9, "never later")
        await device.service.set { $0.isUnreachable = true }
        await protection.checkIn(device.account.id)
        #expect(protection.diagnostics.report().accounts.first?.next == time.now + 60 * (1 + jitter / 10))
        await device.service.set {
            $0.isUnreachable = false
            $0.problem = ProblemDetails(title: "busy", status: 503, code: .timedOut, retryAfter: 7200)
        }
        await protection.checkIn(device.account.id)
        #expect(protection.diagnostics.report().accounts.first?.next == time.now + 7200 * 1.1, "never sooner")

        let other = try Device(time: time)
        await other.setServiceClock()
        await other.service.set { $0.problem = ProblemDetails(title: "no", status: 500, code: .internalError) }
        let waiting = try await other.start { $0.jitter = { jitter } }
        #expect(await waiting.enroll(other.account) == .internalError)
        #expect(waiting.diagnostics.report().accounts.first?.next == time.now + 86_400 * (1 + jitter / 10))
    }

    @Test func `a person who is licensed and not targeted any more is asked for after half a day`() async throws {
        let (device, protection) = try await enrolled()
        await device.service.set { $0.problem = ProblemDetails(title: "no", status: 403, code: .notTargeted) }
        #expect(await protection.checkIn(device.account.id) == .notTargeted)
        #expect(protection.diagnostics.report().accounts.first?.next == time.now + 43_200)
    }

    @Test func `a clock that was far ahead when the next check-in was planned does not stop check-ins`() async throws {
        let (device, protection) = try await enrolled()
        time.advance(by: 400 * 86_400)
        await protection.performDueWork()
        time.advance(by: -400 * 86_400)
        await protection.performDueWork()
        #expect(await device.service.checkIns.count == 2)
    }

    @Test func `a registration that the service forgot is made anew without asking, and the files stay`() async throws {
        let (device, protection) = try await enrolled()
        try await protection.files.write(Data("plan".utf8), as: "plan", of: device.account.id)
        await device.service.set { $0.registration = "registration-2" }
        time.advance(by: 91 * 86_400)
        await protection.performDueWork()
        #expect(await device.service.registered.count == 2)
        #expect(!device.mayPrint(protection))
        #expect(try await protection.files.read("plan", of: device.account.id) == Data("plan".utf8))
        #expect(await protection.checkIn(device.account.id) == .newPolicies)
        let restarted = try await device.start()
        #expect(await restarted.checkIn(device.account.id) == .newPolicies)
    }

    @Test func `a registration whose key was replaced by a new sign-in is made anew, and the files stay`() async throws
    {
        let (device, protection) = try await enrolled()
        try await protection.files.write(Data("plan".utf8), as: "plan", of: device.account.id)
        await device.sessions.set { $0.key = SoftwareSigningKey() }
        try await device.publish(["printBlocked": .bool(false)])
        #expect(await protection.checkIn(device.account.id) == .newPolicies)
        #expect(await device.service.registered.count == 2)
        #expect(device.mayPrint(protection))
        #expect(try await protection.files.read("plan", of: device.account.id) == Data("plan".utf8))
        #expect(await protection.checkIn(device.account.id) == .newPolicies)
        #expect(await device.service.registered.count == 2)
    }

    @Test func `an account whose key was replaced by a new sign-in can still be unregistered`() async throws {
        let (device, protection) = try await enrolled()
        await device.sessions.set { $0.key = SoftwareSigningKey() }
        #expect(await protection.unenroll(device.account.id, wiping: false) == .unenrolled)
        #expect(await device.service.unregistered == 1)
        #expect(device.mayPrint(protection) == false)
    }

    @Test func `the rules stay while a forgotten registration cannot be made anew`() async throws {
        let (device, protection) = try await enrolled()
        await device.service.set {
            $0.problem = ProblemDetails(title: "gone", status: 410, code: .registrationGone)
        }
        #expect(await protection.checkIn(device.account.id) == .registrationGone)
        #expect(!device.mayPrint(protection))
        #expect(protection.enrolledAccounts.count == 1)
    }

    @Test func `work that is due is done once, however often it is asked for`() async throws {
        let (device, protection) = try await enrolled()
        time.advance(by: 1801)
        await withTaskGroup { group in
            for _ in 0..<8 { group.addTask { _ = await protection.performDueWork() } }
        }
        #expect(await device.service.checkIns.count == 1)
    }
}
