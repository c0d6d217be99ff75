import CordonBase
import CordonIdentity
import CordonProtocol
import CordonTesting
import Foundation
import Testing

@testable import Cordon

/// An app that is killed after the person has asked to leave has left.
@Suite(.timeLimit(.minutes(10))) struct SignOutKillTests {
    /// An app that waits for the service to end the registration, and what a kill leaves of it then.
    private func whileTelling(
        wiping: Bool, _ body: (GuardStand, GuardStand.Copy) async throws -> Void
    ) async throws {
        let (stand, latch) = (try await GuardStand(), Latch())
        let protection = try await stand.opened([:]) {
            $0.transport = HeldAnswers(stand.service, to: "/registration-1", latch: latch)
        }
        let leaving = Task { await protection.unenroll(stand.account, wiping: wiping) }
        await latch.waitForArrival()
        #expect(protection.enrolledAccounts.isEmpty)
        stand.keepCopy(at: "telling")
        try await body(stand, try #require(stand.kept.first))
        await latch.open()
        #expect(await leaving.value == .unenrolled)
    }

    @Test func `a sign-out has removed the data before the service is told, and the next start finishes it`()
        async throws
    {
        try await whileTelling(wiping: true) { stand, copy in
            let next = try await stand.start(on: copy)
            #expect(next.enrolledAccounts.isEmpty)
            #expect(try next.context.vaults.allSatisfy { try !$0.keepsKey(of: stand.account) })
            #expect(try next.context.wipes.unfinishedAccounts().isEmpty)
            #expect(await next.wipes.handInReceipts() == 0)
            #expect(await next.enroll(stand.house.device.account).didSucceed)
        }
    }

    @Test func `who leaves the data behind has left before the service is told, and may sign in again at once`()
        async throws
    {
        try await whileTelling(wiping: false) { stand, copy in
            let next = try await stand.start(on: copy)
            #expect(next.enrolledAccounts.isEmpty)
            #expect(next.diagnostics.report().waitingUnenrollments == 1)
            #expect(await next.enroll(stand.house.device.account).didSucceed)
            stand.house.clock.advance(.seconds(7200))
            await next.performDueWork()
            #expect(next.enrolledAccounts.map(\.id) == [stand.account])
            #expect(next.diagnostics.report().waitingUnenrollments == 0)
        }
    }

    @Test func `a sign-out does not wait for a check-in that the service does not answer`() async throws {
        let device = try Device()
        let latch = Latch()
        _ = try await device.enrolled()
        let protection = try await device.start {
            $0.transport = HeldAnswers(device.service, to: "/checkins", latch: latch)
        }
        let checkIn = Task { await protection.checkIn(device.account.id) }
        await latch.waitForArrival()
        #expect(await protection.unenroll(device.account.id) == .unenrolled)
        #expect(protection.enrolledAccounts.isEmpty && device.keys.isEmpty)
        await latch.open()
        _ = await checkIn.value
        #expect(protection.enrolledAccounts.isEmpty)
    }

    @Test(arguments: [false, true])
    func `a leave that was noted and cut off is finished by the next start, and no later enrolment is`(
        isEnrolledSince: Bool
    ) async throws {
        let time = TestTime()
        let device = try Device(time: time)
        let protection = try await device.enrolled()
        let record = try #require(protection.context.accounts[device.account.id])
        let ended = record.lastCheckIn + (isEnrolledSince ? -1 : 1)
        try protection.context.pending.change { work in
            work.unenrollments.append(
                PendingWork.Unenrollment(
                    registrationID: record.registrationID, account: record.account.id, discovery: record.discovery,
                    deviceTag: record.deviceTag, ended: ended, nextAttempt: ended + 300))
        }
        let next = try await device.start()
        #expect(next.enrolledAccounts.isEmpty != isEnrolledSince)
        #expect(device.files(in: "registrations").isEmpty != isEnrolledSince)
        #expect(device.keys.count == 1, "the data stays")
    }
}
