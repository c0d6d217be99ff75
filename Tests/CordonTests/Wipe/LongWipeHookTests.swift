import Cordon
import CordonBase
import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonTesting
import Foundation
import Testing

/// An app whose own part of a wipe does not come to its end: the wipe waits for it, and nothing else does.
@Suite(.timeLimit(.minutes(10))) struct LongWipeHookTests {
    /// How long a wipe is waited for.
    private let deadline = Duration.seconds(90)

    /// Lets the time pass that a wipe is waited for, until something has ended.
    private func letTimePass(_ clock: ManualClock, until isOver: Locked<Bool>) async throws {
        try await until {
            clock.advancePastSleepers(of: deadline)
            return isOver.withLock { $0 }
        }
    }

    @Test func `a wipe that waits for the app's own part keeps no other account from its check-ins`() async throws {
        let device = try Device()
        let (accounts, hook, clock) = (TwoAccounts(device), Latch(), ManualClock())
        let now = clock.clock.now
        for service in [accounts.first, accounts.second] { await service.set { $0.time = now } }
        let protection = try await accounts.enrolled(on: device, [:], [:]) { configuration in
            configuration.clock = clock.clock
            configuration.interfaceDeadline = deadline
            configuration.wipeHook = { _ in
                await hook.pass()
                return .removed
            }
        }
        // The service's keys are had anew by then, of the one who registered last.
        await accounts.second.set { $0.commands = [.wipe("oid-b")] }
        clock.advance(.seconds(9 * 3600))
        let isOver = Locked(false)
        let round = Task {
            await protection.performDueWork()
            isOver.withLock { $0 = true }
        }
        await hook.waitForArrival()
        try await letTimePass(clock, until: isOver)
        await round.value

        let asked = await accounts.first.asked.count
        clock.advance(.seconds(9 * 3600))
        await protection.performDueWork()
        #expect(await accounts.first.asked.count > asked)
        #expect(protection.enrolledAccounts == [accounts.first.account])
        #expect(device.files(in: "registrations").count == 2, "the wipe waits")
        await hook.open()
        try await until { device.files(in: "registrations").count == 1 }
    }

    @Test func `an app starts although its own part of an earlier wipe does not come to an end`() async throws {
        let house = try await Gatehouse()
        _ = try await house.enrolled { $0.wipeHook = { _ in .removed } }
        let inExtension = try await house.start { $0.isExtension = true }
        #expect(await inExtension.failureOfWiping(house.account) == .wipeUnderWay)
        let (hook, isOver) = (Latch(), Locked(false))
        let start = Task {
            defer { isOver.withLock { $0 = true } }
            return try await house.start { configuration in
                configuration.interfaceDeadline = deadline
                configuration.wipeHook = { _ in
                    await hook.pass()
                    return .removed
                }
            }
        }
        await hook.waitForArrival()
        try await letTimePass(house.clock, until: isOver)
        let app = try await start.value
        #expect(app.enrolledAccounts.isEmpty)
        #expect(await app.enroll(house.device.account) == .removingExistingAccount)
        await hook.open()
        try await until { house.device.files(in: "registrations").isEmpty }
    }
}
