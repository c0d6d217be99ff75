import CordonBase
import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonTestSupport
import Foundation
import Testing

@testable import CordonService

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

    /// Ada and Ben, each with an app whose rules wipe once its person is disabled, and room for one of them in an hour.
    private func pair(storage: any ServiceStorage = InMemoryStorage()) async throws -> TestOrganisation {
        var configuration = ServiceConfiguration()
        configuration.wipeBudget = 1
        let test = try await TestOrganisation.withPeople(storage: storage, configuration: configuration)
        try await test.protect(["appActionIfUnableToAuthenticateUser": "wipe"], to: .group("staff"))
        for user in ["ada", "ben"] {
            var app = TestApp(test, user: user, tag: "tag-\(user)")
            try await app.register()
        }
        return test
    }

    private func apply(_ signal: AccountSignal, in test: TestOrganisation) async throws {
        try await test.service.provisioning.apply(
            signal, from: "https://login.example", of: TestOrganisation.tenant)
    }

    private func isEnabled(_ id: String, in test: TestOrganisation) async throws -> Bool {
        try await test.service.administration.user(id, as: test.owner).accountEnabled
    }

    /// Whom alerts of a spent budget are about.
    private func alerted(_ test: TestOrganisation) async throws -> [String?] {
        try await test.storage.read(TestOrganisation.tenant) { records in
            try records.records(OperatorAlert.self).filter { $0.kind == .massWipe }.map(\.userID)
        }
    }

    @Test func `signals by which people lose data stop at the provider's budget, and sessions end nevertheless`()
        async throws
    {
        let test = try await pair()
        try await apply(signal(.accountDisabled, test), in: test)
        let held = signal(.accountDisabled, test, of: "oid-ben")
        try await apply(held, in: test)
        #expect(try await isEnabled("oid-ada", in: test) == false)
        #expect(try await isEnabled("oid-ben", in: test))
        let ended = try await test.service.provisioning.sessionRevocation(
            ofUser: "oid-ben", of: TestOrganisation.tenant)
        #expect(ended == second(after: test.clock.now))
        #expect(try await alerted(test) == ["oid-ben"])
        let record = try #require(try await test.records().last)
        #expect(record.target == "user/oid-ben")
        #expect(record.details == ["kind": "accountDisabled", "account": "unchanged"])
        // An administrator who has heard of it disables the person, or does not; nothing waits.
        #expect(try await test.service.administration.approvals.changes(as: test.owner).isEmpty)
    }

    @Test func `a signal that the budget had no room for is over, also once there is room, and a new one counts`()
        async throws
    {
        let test = try await pair()
        try await apply(signal(.accountDisabled, test), in: test)
        let held = signal(.accountDisabled, test, of: "oid-ben")
        try await apply(held, in: test)
        let records = try await test.records().count
        try await apply(held, in: test)
        test.clock.advance(by: 3_601)
        try await apply(held, in: test)
        #expect(try await isEnabled("oid-ben", in: test))
        #expect(try await alerted(test).count == 1)
        #expect(try await test.records().count == records)
        try await apply(signal(.accountDisabled, test, of: "oid-ben"), in: test)
        #expect(try await isEnabled("oid-ben", in: test) == false)
    }

    @Test func `who is enabled right before a signal disables them counts against the provider's budget`() async throws
    {
        let storage = OvertakenStorage()
        let test = try await pair(storage: storage)
        try await apply(signal(.accountDisabled, test), in: test)
        try await test.finishAnnouncing()
        let enabled = signal(.accountEnabled, test, after: 1)
        storage.beforeNextWrite { try await apply(enabled, in: test) }
        try await apply(signal(.accountDisabled, test, after: 2), in: test)
        #expect(try await isEnabled("oid-ada", in: test))
        #expect(try await alerted(test) == ["oid-ada"])
    }

    @Test func `a disabled account's sessions end also where a stored policy cannot be read, and its people count`()
        async throws
    {
        let test = try await pair()
        try await test.storage.write(TestOrganisation.tenant) { records in
            for var policy in try records.records(ManagedAppPolicy.self) {
                policy.document = .object((policy.document.object ?? [:]).merging(["minimumPinLength": "x"]) { $1 })
                try records.save(policy)
            }
            var settings = try records.settings()
            settings.targetingRevision += 1
            try records.save(settings)
        }
        for id in ["oid-ada", "oid-ben"] {
            try await apply(signal(.accountDisabled, test, of: id), in: test)
            #expect(try await isEnabled(id, in: test) == (id == "oid-ben"))
        }
        let ended = try await test.service.provisioning.sessionRevocations(of: TestOrganisation.tenant)
        #expect(Set(ended.keys) == ["oid-ada", "oid-ben"])
    }

    @Test func `the alert of a person whom a signal left as they were goes when the person is erased`() async throws {
        let test = try await pair()
        for id in ["oid-ada", "oid-ben"] { try await apply(signal(.accountDisabled, test, of: id), in: test) }
        for app in try await test.service.administration.registrations(.init(), as: test.owner) {
            try await test.service.administration.forgetRegistration(app.id, as: test.owner)
        }
        try await test.service.administration.personalData.eraseUser("oid-ben", as: test.owner)
        #expect(try await alerted(test).isEmpty)
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

    @Test
    func
        `what the directory said while the clock was ahead keeps no account from being disabled once the clock is right`()
        async throws
    {
        let test = try await TestOrganisation.withPeople()
        var ada = try await test.service.administration.user("oid-ada", as: test.owner)
        test.clock.advance(by: 30 * 86_400)
        ada.accountEnabled = false
        try await test.service.provisioning.saveUser(ada, as: test.owner)
        ada.accountEnabled = true
        try await test.service.provisioning.saveUser(ada, as: test.owner)
        test.clock.advance(by: -30 * 86_400)
        let (old, late) = (signal(.accountDisabled, test, after: -2 * 86_400), signal(.accountEnabled, test, after: 1))
        try await apply(old, in: test)
        #expect(try await isEnabled("oid-ada", in: test), "a recorded word of some days ago is none")
        try await apply(signal(.accountDisabled, test, after: 2), in: test)
        #expect(try await !isEnabled("oid-ada", in: test))
        try await apply(late, in: test)
        #expect(try await !isEnabled("oid-ada", in: test), "an older word that comes late changes nothing")
        try await apply(signal(.accountEnabled, test, after: 3), in: test)
        #expect(try await isEnabled("oid-ada", in: test))
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

/// Makes another change once, right before the next one.
private final class OvertakenStorage: ServiceStorage {
    private let storage = InMemoryStorage()
    private let first = Locked<(@Sendable () async throws -> Void)?>(nil)

    func beforeNextWrite(_ body: @escaping @Sendable () async throws -> Void) { first.withLock { $0 = body } }

    func read<Result: Sendable>(
        _ tenant: TenantID, _ body: @escaping @Sendable (any StorageReader) throws -> Result
    ) async throws -> Result {
        try await storage.read(tenant, body)
    }

    func write<Result: Sendable>(
        _ tenant: TenantID, _ body: @escaping @Sendable (any StorageTransaction) throws -> Result
    ) async throws -> Result {
        let due = first.withLock { first in
            defer { first = nil }
            return first
        }
        try await due?()
        return try await storage.write(tenant, body)
    }
}
