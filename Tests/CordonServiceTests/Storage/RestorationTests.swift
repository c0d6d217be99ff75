import CordonBase
import CordonIdentity
import CordonProtocol
import CordonService
import CordonTestSupport
import Foundation
import Testing

/// A store that was put back from a backup tells apps nothing until an administrator has looked at it.
struct RestorationTests {
    @Test func `apps of a restored store keep their rules until an administrator confirms it`() async throws {
        var (test, app) = try await TestApp.enrolled()
        _ = try await test.service.administration.requestWipe(ofUser: "oid-ada", deviceTag: "tag-1", as: test.owner)
        let restoration = StoreRestoration(made: test.clock.now, manifest: "ab", lost: ["user.block": 2])
        try await test.service.noteRestoration(restoration, of: TestOrganisation.tenant)
        try await test.service.noteRestoration(restoration, of: TestOrganisation.tenant)
        #expect(try await test.records().count { $0.action == "store.restored" } == 1)
        let waiting = app
        // Not even the wipe: it may have been cancelled since.
        #expect(
            await failure {
                var app = waiting
                try await app.checkIn()
            }?.status == .tenantMigration)
        let ben = TestApp(test, user: "ben", tag: "tag-2")
        #expect(
            await failure {
                var app = ben
                try await app.register()
            }?.status == .tenantMigration)
        #expect(try await test.service.administration.restoration(as: test.owner)?.lost == ["user.block": 2])
        let reader = test.administrator(.policyAdministrator)
        #expect(
            await failure { try await test.service.administration.confirmRestoration(as: reader) }?.code == .forbidden)
        try await test.service.administration.confirmRestoration(as: test.owner)
        #expect(
            await failure { try await test.service.administration.confirmRestoration(as: test.owner) }?.code
                == .conflict)
        #expect(try await app.checkIn().response.statusCode == .wipeReceived)
        #expect(try await test.records().contains { $0.action == "store.confirm" })
    }

    private func restore(_ test: TestOrganisation) async throws {
        try await test.service.noteRestoration(
            StoreRestoration(made: test.clock.now, manifest: "ab"), of: TestOrganisation.tenant)
    }

    @Test func `a restored store that waits tells apps and devices nothing, and takes what they report of wipes`()
        async throws
    {
        var (test, enrolled) = try await TestApp.enrolled()
        let (devices, administration) = (test.service.devices, test.service.administration)
        let wipe = try await administration.requestWipe(ofUser: "oid-ada", deviceTag: "tag-1", as: test.owner)[0].id
        try await enrolled.checkIn()
        enrolled.authenticated = test.clock.now
        let share = RecoveryShare(sealed: Base64URL.encode(Data(repeating: 7, count: 60)))
        try await devices.keepRecoveryShare(share, registration: enrolled.registrationID, by: enrolled.caller)
        let device = SoftwareSigningKey()
        let facts = DeviceRegistrationStatement(
            deviceID: "device-1", tenant: TestOrganisation.tenant, issuer: "https://login.example.test",
            keyThumbprint: device.publicKey.thumbprint, since: test.clock.now)
        let joining = try CompactJWS.sign(
            MessageCoding.encode(facts), type: .deviceRegistration, with: device, embedsKey: true)
        _ = try await administration.registerDevice(joining, name: nil, as: test.owner)
        let session = try DeviceSessionStatement(
            deviceID: "device-1", session: 1, account: AccountID("oid-ada"), since: 1
        ).signed(by: device)
        try await restore(test)

        let app = enrolled
        // One that enrolled after the backup is not told that its registration is gone.
        var newer = enrolled
        newer.registrationID = "since-the-backup"
        let unknown = newer
        let calls: [@Sendable () async throws -> Void] = [
            { _ = try await devices.keySet(of: TestOrganisation.tenant) },
            { try await devices.keepRecoveryShare(share, registration: app.registrationID, by: app.caller) },
            { _ = try await devices.releaseRecoveryShare(ofRegistration: app.registrationID, by: app.caller) },
            { try await devices.forgetRecoveryShare(ofRegistration: app.registrationID, by: app.caller) },
            {
                _ = try await devices.compliance(
                    RemediationRequest(silent: true, health: []), registration: app.registrationID, by: app.caller)
            },
            { try await devices.unregister(app.registrationID, by: app.caller) },
            {
                var app = unknown
                try await app.checkIn()
            },
            { _ = try await devices.verdict(on: session, ofDevice: "device-1", tenant: TestOrganisation.tenant) },
            { _ = try await devices.verdict(on: session, ofDevice: "device-2", tenant: TestOrganisation.tenant) },
        ]
        for (number, call) in calls.enumerated() {
            #expect(await failure(call)?.status == .tenantMigration, "call \(number)")
        }
        try await app.acknowledge(.succeeded, wipe, receipt: app.receipt(wipe).signed(by: app.key))
        #expect(try await administration.operation(wipe, as: test.owner).state == .succeeded)
    }

    @Test func `no key from before a backup is vouched for once its restoration is confirmed`() async throws {
        var (test, app) = try await TestApp.enrolled()
        let old = try await test.service.devices.keySet(of: TestOrganisation.tenant).keys
        // The key leaked after the backup, and its emergency is not in the store.
        try await restore(test)
        try await test.service.administration.confirmRestoration(as: test.owner)
        let new = try await test.service.devices.keySet(of: TestOrganisation.tenant).keys
        #expect(new.count == 1 && !old.contains(new[0]))
        let text = try #require(try await app.checkIn().response.envelope)
        #expect(throws: Never.self) {
            try CompactJWS.payload(of: text, type: .policyEnvelope, signedBy: JSONWebKeySet(new))
        }
        #expect(try await app.checkIn().response.unchanged)
    }
}
