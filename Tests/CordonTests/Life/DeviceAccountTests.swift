import Cordon
import CordonBase
import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonTesting
import Foundation
import Testing

/// SDK-EN-29: the account that the device itself is enrolled for is asked for, remembered, and told of when it changes.
@Suite(.timeLimit(.minutes(10))) struct DeviceAccountTests {
    private let device: Device
    /// What the device's management says.
    private let said = Locked<AccountID?>(nil)
    /// How often it was asked.
    private let asks = Locked(0)

    init() throws { device = try Device() }

    private func start() async throws -> AppProtection {
        try await device.publish([:])
        return try await device.start { [said, asks] configuration in
            configuration.askDeviceAccount = {
                let answer = said.withLock { $0 }
                asks.withLock { $0 += 1 }
                return answer
            }
        }
    }

    @Test func `what the device's management says is asked for, told when it changes, and remembered`() async throws {
        let app = try await start()
        let events = EventCatch(app)
        #expect(await app.enrollments.deviceAccount() == nil)
        said.withLock { $0 = "oid-a" }
        #expect(await app.enrollments.deviceAccount() == "oid-a")
        #expect(await app.enrollments.deviceAccount() == "oid-a")
        #expect(await events.count { $0 == .deviceAccountChanged("oid-a") } == 1)

        // A management that does not answer has the last answer stand, also after a restart.
        let mute = try await device.start {
            $0.clock = ProtectionClock(now: $0.clock.now, sleep: { _ in })
            $0.askDeviceAccount = {
                try? await Task.sleep(for: .seconds(3600))
                return nil
            }
        }
        #expect(await mute.enrollments.lastDeviceAccount() == "oid-a")
        #expect(await mute.enrollments.deviceAccount() == "oid-a")

        said.withLock { $0 = nil }
        #expect(await app.enrollments.deviceAccount() == nil)
        #expect(await events.has(.deviceAccountChanged(nil)))
    }

    @Test(arguments: [0, 1, 2])
    func `it is asked again at the start, when the app comes back, and by a reader of the last answer`(
        way: Int
    ) async throws {
        let before = try await start()
        // The start asks as well, and must have its answer first.
        try await until { asks.withLock { $0 } == 1 }
        said.withLock { $0 = "oid-x" }
        let app = way == 0 ? try await start() : before
        let events = EventCatch(app)
        if way == 1 { await app.resume() }
        if way == 2 { #expect(await app.enrollments.lastDeviceAccount() == nil) }
        #expect(await events.has(.deviceAccountChanged("oid-x")))
        #expect(await app.enrollments.lastDeviceAccount() == "oid-x")
    }

    @Test func `an answer that a later one has overtaken is not noted`() async throws {
        let (first, asked) = (Latch(), Locked(0))
        let app = try await device.start {
            $0.askDeviceAccount = {
                let number = asked.withLock { number in
                    number += 1
                    return number
                }
                if number == 1 { await first.pass() }
                return number == 1 ? "oid-old" : "oid-new"
            }
        }
        try await until { asked.withLock { $0 } == 1 }
        #expect(await app.enrollments.deviceAccount() == "oid-new")
        let events = EventCatch(app)
        await first.open()
        // Its late answer has every chance to be noted.
        for _ in 0..<100 { await Task.yield() }
        #expect(await app.enrollments.deviceAccount() == "oid-new")
        #expect(await events.count { $0 == .deviceAccountChanged("oid-old") } == 0)
    }

    @Test func `another account is refused, and one that is enrolled already has to be removed`() async throws {
        let app = try await start()
        #expect(await app.enroll(device.account) == .newPolicies)
        let events = EventCatch(app)
        said.withLock { $0 = "oid-x" }
        #expect(await app.enroll(TwoAccounts(device).second.account) == .deviceManagedForAnotherAccount)
        let report = await events.first {
            guard case .status(let report) = $0 else { return false }
            return report.account == "oid-a" && report.status == .deviceManagedForAnotherAccount
        }
        let told = try #require(report.flatMap { if case .status(let report) = $0 { report } else { nil } })
        #expect(told.nextStep == .removeAccount)
    }

    @Test func `management may name the account by the name it signs in with`() async throws {
        let anna = ManagedAccount(
            id: device.account.id, tenant: device.account.tenant, userPrincipalName: "anna@management.example")
        said.withLock { $0 = "Anna@management.example" }
        #expect(await (try start()).enroll(anna) == .newPolicies)
        let expecting = try await device.start {
            $0.dataDirectory.append(path: "second")
            $0.expectedAccounts = ExpectedAccounts(management: "nadia@management.example")
        }
        let nadia = ManagedAccount(
            id: anna.id, tenant: anna.tenant, userPrincipalName: "nadia@management.example")
        #expect(await expecting.enroll(nadia) == .newPolicies)
    }

    @Test func `the app's configuration from the device's management may name the account`() async throws {
        let app = try await device.start { $0.managedConfiguration = ["IntuneMAMOID": "oid-x", "site": "north"] }
        #expect(await app.enrollments.deviceAccount() == "oid-x")
        #expect(await app.enroll(device.account) == .deviceManagedForAnotherAccount)
        let stated = try await device.start {
            $0.managedConfiguration = ["IntuneMAMOID": "oid-x"]
            $0.expectedAccounts.deviceEnrollment = "oid-a"
        }
        #expect(await stated.enrollments.lastDeviceAccount() == "oid-a")
    }

    @Test func `a wipe of the account forgets that the device is its own`() async throws {
        said.withLock { $0 = device.account.id }
        let app = try await start()
        #expect(await app.enroll(device.account) == .newPolicies)
        let life = device.folder.appending(path: "data/life/life.json")
        #expect(try String(decoding: device.contents(ofState: life), as: UTF8.self).contains("oid-a"))
        try await app.wipe(device.account.id)
        #expect(try !String(decoding: device.contents(ofState: life), as: UTF8.self).contains("oid-a"))
    }
}
