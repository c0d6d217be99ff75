import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonService
import CordonTestSupport
import Foundation
import Testing

/// SRV-CI-091: what an identity provider says of accounts.
@Suite struct AccountSignalTests {
    private func signal(
        _ kind: AccountSignal.Kind, _ test: TestOrganisation, of subject: String = "oid-ada", after: Double = 0
    )
        -> AccountSignal
    {
        AccountSignal(kind, of: subject, at: test.clock.now.addingTimeInterval(after))
    }

    /// The second after a moment: a token says in whole seconds when it was made.
    private func second(after moment: Date) -> Date {
        Date(timeIntervalSince1970: moment.timeIntervalSince1970.rounded(.down) + 1)
    }

    @Test func `a disabled account's apps are refused, and accepted again when it is enabled`() async throws {
        let test = try await TestOrganisation.withPeople()
        try await test.protect(to: .allLicensedUsers)
        var app = TestApp(test)
        try await app.register()
        try await test.service.provisioning.apply(
            signal(.accountDisabled, test), from: "https://login.example", of: TestOrganisation.tenant)
        #expect(try await test.service.administration.user("oid-ada", as: test.owner).accountEnabled == false)
        let refusal = await failure { try await app.checkIn() }
        #expect(refusal?.code == .accountDisabled && refusal?.status == .notLicensed)
        #expect(try await test.service.devices.isAccountDisabled("OID-ada", of: TestOrganisation.tenant))
        #expect(try await test.service.devices.isAccountDisabled("oid-ada", of: TenantID("fabrikam")) == false)
        try await test.service.provisioning.apply(
            signal(.accountEnabled, test, after: 1), from: "https://login.example", of: TestOrganisation.tenant)
        try await app.checkIn()
    }

    @Test func `signals by which people lose data stop at the provider's budget, and sessions end nevertheless`()
        async throws
    {
        var configuration = ServiceConfiguration()
        configuration.wipeBudget = 1
        let test = try await TestOrganisation.withPeople(configuration: configuration)
        try await test.protect(["appActionIfUnableToAuthenticateUser": "wipe"], to: .group("staff"))
        for user in ["ada", "ben"] {
            var app = TestApp(test, user: user, tag: "tag-\(user)")
            try await app.register()
        }
        func apply(_ kind: AccountSignal.Kind, of subject: String, after: Double = 0) async -> ServiceError? {
            await failure {
                try await test.service.provisioning.apply(
                    signal(kind, test, of: subject, after: after), from: "https://login.example",
                    of: TestOrganisation.tenant)
            }
        }
        func isEnabled(_ id: String) async throws -> Bool {
            try await test.service.administration.user(id, as: test.owner).accountEnabled
        }
        #expect(await apply(.accountDisabled, of: "oid-ada") == nil)
        let refused = await apply(.accountDisabled, of: "oid-ben")
        #expect(refused?.code == .waiting)
        #expect(try await isEnabled("oid-ben"))
        let ended = try await test.service.provisioning.sessionRevocation(
            ofUser: "oid-ben", of: TestOrganisation.tenant)
        #expect(ended == second(after: test.clock.now))
        // What changes nothing waits for nobody.
        #expect(await apply(.accountEnabled, of: "oid-ben") == nil)
        #expect(await apply(.accountDisabled, of: "oid-ben", after: -5) == nil)
        #expect(try await isEnabled("oid-ben"))
        #expect(await apply(.accountDisabled, of: "oid-ben", after: 1)?.place == refused?.place)
        try await test.service.releaseChange(try #require(refused?.place), of: TestOrganisation.tenant)
        #expect(await apply(.accountDisabled, of: "oid-ben", after: 1) == nil)
        #expect(try await isEnabled("oid-ben") == false)
        #expect(try await test.records().last?.action == "account.signal")
    }

    @Test func `an older signal that comes late changes nothing`() async throws {
        let test = try await TestOrganisation.withPeople()
        try await test.service.provisioning.apply(
            signal(.accountDisabled, test), from: "https://login.example", of: TestOrganisation.tenant)
        let before = try await test.records().count
        try await test.service.provisioning.apply(
            signal(.accountEnabled, test, after: -5), from: "https://login.example", of: TestOrganisation.tenant)
        try await test.service.provisioning.apply(
            signal(.accountDisabled, test), from: "https://login.example", of: TestOrganisation.tenant)
        #expect(try await test.service.administration.user("oid-ada", as: test.owner).accountEnabled == false)
        #expect(try await test.records().count == before)
    }

    @Test func `an older signal that comes late enables no account that the directory disabled since`() async throws {
        let test = try await TestOrganisation.withPeople()
        var ada = try await test.service.administration.user("oid-ada", as: test.owner)
        ada.accountEnabled = false
        try await test.service.provisioning.saveUser(ada, as: test.owner)
        for (after, isEnabled) in [(-5.0, false), (5.0, true)] {
            try await test.service.provisioning.apply(
                signal(.accountEnabled, test, after: after), from: "https://login.example", of: TestOrganisation.tenant)
            #expect(try await test.service.administration.user("oid-ada", as: test.owner).accountEnabled == isEnabled)
        }
    }

    @Test func `the directory's word that an account is disabled counts from when it was said last`() async throws {
        let test = try await TestOrganisation.withPeople()
        try await test.service.provisioning.apply(
            signal(.accountDisabled, test), from: "https://login.example", of: TestOrganisation.tenant)
        let ada = try await test.service.administration.user("oid-ada", as: test.owner)
        test.clock.advance(by: 10)
        // Nothing differs, and it is said later than what comes late.
        try await test.service.provisioning.saveUser(ada, as: test.owner)
        for (after, isEnabled) in [(-5.0, false), (5.0, true)] {
            try await test.service.provisioning.apply(
                signal(.accountEnabled, test, after: after), from: "https://login.example", of: TestOrganisation.tenant)
            #expect(try await test.service.administration.user("oid-ada", as: test.owner).accountEnabled == isEnabled)
        }
    }

    @Test func `a revoked session has its moment, also for a person whom the directory does not know`() async throws {
        let test = try await TestOrganisation.withPeople()
        try await test.service.provisioning.apply(
            signal(.sessionsRevoked, test, of: "ada@contoso.example"), from: "https://login.example",
            of: TestOrganisation.tenant)
        try await test.service.provisioning.apply(
            signal(.sessionsRevoked, test, of: "Stranger", after: 5), from: "https://login.example",
            of: TestOrganisation.tenant)
        #expect(
            try await test.service.provisioning.sessionRevocations(of: TestOrganisation.tenant) == [
                "oid-ada": second(after: test.clock.now),
                "stranger": second(after: test.clock.now.addingTimeInterval(5)),
            ])
        #expect(try await test.service.provisioning.sessionRevocations(of: TenantID("fabrikam")).isEmpty)
    }

    @Test func `an administrator ends the sessions of any known person, up to the second that runs`() async throws {
        let test = try await TestOrganisation.withPeople()
        let begun = test.clock.now
        let moment = second(after: begun)
        #expect(
            try await test.service.administration.revokeSessions(ofUser: "ADA@contoso.example", as: test.owner)
                == "oid-ada")
        #expect(
            try await test.service.provisioning.sessionRevocations(of: TestOrganisation.tenant) == ["oid-ada": moment])
        let stranger = await failure {
            _ = try await test.service.administration.revokeSessions(ofUser: "stranger", as: test.owner)
        }
        #expect(stranger?.code == .notFound)
        // Whom the directory does not know, but a shared device names.
        let key = SoftwareSigningKey()
        let facts = DeviceRegistrationStatement(
            deviceID: "ward-3", tenant: TestOrganisation.tenant, issuer: "https://login.example.test",
            keyThumbprint: key.publicKey.thumbprint, since: begun)
        let request = try CompactJWS.sign(
            MessageCoding.encode(facts), type: .deviceRegistration, with: key, embedsKey: true)
        _ = try await test.service.administration.registerDevice(request, name: nil, as: test.owner)
        let session = DeviceSessionStatement(deviceID: "ward-3", session: 1, account: AccountID("Stranger"), since: 1)
        _ = try await test.service.devices.noteSession(
            session.signed(by: key), ofDevice: "ward-3", tenant: TestOrganisation.tenant)
        #expect(try await test.service.administration.revokeSessions(ofUser: "stranger", as: test.owner) == "Stranger")
        // What a provider said to be later stays later.
        try await test.service.provisioning.apply(
            signal(.sessionsRevoked, test, after: 9), from: "https://login.example", of: TestOrganisation.tenant)
        _ = try await test.service.administration.revokeSessions(ofUser: "oid-ada", as: test.owner)
        #expect(
            try await test.service.provisioning.sessionRevocations(of: TestOrganisation.tenant) == [
                "oid-ada": second(after: begun.addingTimeInterval(9)), "stranger": moment,
            ])
    }

    @Test(arguments: ["apply", "revokeSessions"])
    func `a revoked session ends the event streams that it opened`(call: String) async throws {
        let test = try await TestOrganisation.withPeople()
        try await test.protect(to: .allLicensedUsers)
        var app = TestApp(test)
        try await app.register()
        let events = try await test.service.devices.events(
            ofRegistration: app.registrationID, after: nil, by: app.caller)
        if call == "apply" {
            try await test.service.provisioning.apply(
                signal(.sessionsRevoked, test), from: "https://login.example", of: TestOrganisation.tenant)
        } else {
            _ = try await test.service.administration.revokeSessions(ofUser: "oid-ada", as: test.owner)
        }
        for await _ in events {}
    }
}
