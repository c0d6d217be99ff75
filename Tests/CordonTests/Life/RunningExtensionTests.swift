import Cordon
import CordonBase
import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonTesting
import Foundation
import Testing

/// An extension that runs while its app goes on: it asks no service, and goes by what its app has stored.
@Suite(.timeLimit(.minutes(10))) struct RunningExtensionTests {
    @Test func `an extension goes by the contact of its app, and ends no key for want of one of its own`() async throws
    {
        let house = try await Gatehouse()
        let app = try await house.enrolled([
            "periodOfflineBeforeAccessCheck": .string("PT12H"), "periodOfflineBeforeWipeIsEnforced": .string("P1D"),
        ])
        let inExtension = try await house.start { $0.isExtension = true }
        house.clock.advance(.seconds(2 * 86_400))
        #expect(await app.checkIn(house.account).didSucceed)
        #expect(await inExtension.launch(house.account).isOpen)
        #expect(inExtension.enrolledAccounts.map(\.id) == [house.account] && !house.device.keys.isEmpty)

        // Where the app has had none either, the time counts.
        house.clock.advance(.seconds(2 * 86_400))
        #expect(await inExtension.resume(house.account).result == .wiped)
        #expect(house.device.keys.isEmpty)
    }

    @Test func `an extension follows newer rules of its app, and lets go of an account that has left`() async throws {
        let device = try Device()
        let app = try await device.enrolled(["printBlocked": .bool(false)])
        let inExtension = try await device.start { $0.isExtension = true }
        func takeUp() async {
            let asked = await device.service.asked.count
            await inExtension.performDueWork()
            #expect(await device.service.asked.count == asked, "an extension asks no service")
        }
        #expect(device.mayPrint(inExtension))
        try await device.publish(["printBlocked": .bool(true)])
        #expect(await app.checkIn(device.account.id) == .newPolicies)
        await takeUp()
        #expect(!device.mayPrint(inExtension))
        #expect(await app.unenroll(device.account.id, wiping: false) == .unenrolled)
        await takeUp()
        #expect(inExtension.enrolledAccounts.isEmpty)
    }

    @Test func `at an extension's gate newer rules of its app count, and whoever the app has removed is gone`()
        async throws
    {
        let house = try await Gatehouse()
        house.facts.withLock { $0.rooted = true }
        let app = try await house.enrolled(["pinRequired": .bool(false), "deviceComplianceRequired": .bool(false)])
        let inExtension = try await house.start { $0.isExtension = true }
        #expect(await inExtension.launch().isOpen)
        try await house.device.publish(["pinRequired": .bool(false), "deviceComplianceRequired": .bool(true)])
        #expect(await app.checkIn(house.account) == .newPolicies)
        #expect(await inExtension.launch().result == .blocked)
        try await app.wipe(house.account)
        #expect(await inExtension.launch(house.account).result == .wiped)
        #expect(inExtension.enrolledAccounts.isEmpty)
    }

    @Test func `an extension keeps no line to the service`() async throws {
        let device = try Device()
        _ = try await device.enrolled()
        let inExtension = try await device.start { $0.isExtension = true }
        let (asked, isOver) = (await device.service.asked.count, Locked(false))
        let staying = Task {
            await inExtension.stayInTouch(for: device.account.id)
            isOver.withLock { $0 = true }
        }
        try await until {
            if isOver.withLock({ $0 }) { return true }
            return await device.service.asked.count > asked
        }
        #expect(await device.service.asked.count == asked)
        staying.cancel()
        await staying.value
    }
}
