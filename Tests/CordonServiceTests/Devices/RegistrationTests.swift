import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonService
import CordonTestSupport
import Foundation
import Testing

/// SRV-CI-001, 002, 018 and the codes of SRV-CI §3.3 that a registration can end with.
struct RegistrationTests {
    @Test func `a registration answers with the first envelope`() async throws {
        // SRV-CI-018, SRV-CI-028
        let test = try await TestOrganisation.withPeople()
        let policy = try await test.protect(to: .group("staff"))
        var app = TestApp(test)
        let outcome = try await app.register()
        #expect(outcome.isNew && outcome.result.statusCode == .newPolicies)
        #expect(outcome.result.account == app.account)
        #expect(outcome.result.nextCheckInSeconds == 1800)
        #expect(app.envelope?.sequence == 1)
        #expect(app.envelope?.policy?.contributors.map(\.id) == [policy.id])
        let stored = try await test.service.administration.registration(outcome.result.registrationID, as: test.owner)
        #expect(stored.key == app.key.publicKey && stored.device == app.device)
    }

    @Test func `the same key finds its registration again`() async throws {
        // SRV-CI-018
        let test = try await TestOrganisation.withPeople()
        try await test.protect(to: .group("staff"))
        var app = TestApp(test)
        let first = try await app.register()
        let again = try await app.register()
        #expect(!again.isNew)
        #expect(again.result.registrationID == first.result.registrationID)
        #expect(app.envelope?.sequence == 2)
        #expect(try await test.service.administration.registrations(.init(), as: test.owner).count == 1)
    }

    @Test func `a person has so many registrations at once, and the same app again is none more`() async throws {
        var configuration = ServiceConfiguration()
        configuration.registrationsPerPerson = 3
        let test = try await TestOrganisation.withPeople(configuration: configuration)
        try await test.protect(to: .group("staff"))
        var apps = (1...3).map { TestApp(test, tag: "tag-\($0)") }
        for index in apps.indices { try await apps[index].register() }
        var further = TestApp(test, tag: "tag-4")
        let refusal = await failure { try await further.register() }
        #expect(refusal?.code == .tooManyRequests && refusal?.retryAfterSeconds == 3_600)
        // Again with its key, and with a new key on a device that is known: neither is one more.
        #expect(try await !apps[0].register().isNew)
        var anew = TestApp(test, tag: "tag-2")
        #expect(try await anew.register().isNew)
        // Another person has a share of their own, and a place that is free again is taken.
        var ben = TestApp(test, user: "ben", tag: "tag-9")
        try await ben.register()
        try await test.service.devices.unregister(apps[2].registrationID, report: nil, by: apps[2].caller)
        #expect(try await further.register().isNew)
    }

    @Test func `who registers the same app again and again is stopped, and each time costs the same`() async throws {
        var configuration = ServiceConfiguration()
        configuration.registrationsPerPerson = 1
        let storage = CountingStorage()
        let test = try await TestOrganisation.withPeople(storage: storage, configuration: configuration)
        try await test.protect(to: .group("staff"))
        var written: [Int] = []
        for _ in 0..<25 {
            let counts = try await storage.counts {
                var app = TestApp(test)
                try await app.register()
            }
            written.append(counts.written[.registration] ?? 0)
        }
        // Its own, and the one before.
        #expect(written.allSatisfy { $0 <= 2 })
        var further = TestApp(test)
        #expect(await failure { try await further.register() }?.code == .tooManyRequests)
        test.clock.advance(by: 91 * 86_400)
        try await test.service.performMaintenance(of: TestOrganisation.tenant)
        #expect(try await further.register().isNew)
    }

    @Test func `a person who is unknown, disabled or not entitled is told 200`() async throws {
        // SRV-CI-033
        let test = try await TestOrganisation.withPeople()
        try await test.protect(to: .allLicensedUsers)
        var stranger = TestApp(test, user: "nobody")
        #expect(await failure { try await stranger.register() } == .enrollment(.notLicensed, ""))
        for change in [{ $0.isLicensed = false }, { $0.accountEnabled = false }] as [(inout DirectoryUser) -> Void] {
            var ada = DirectoryUser(
                id: "oid-ada", userPrincipalName: "ada@contoso.example", displayName: "Ada")
            change(&ada)
            try await test.service.provisioning.saveUser(ada, as: test.owner)
            var app = TestApp(test)
            // SRV-TG-32: a disabled account has a code of its own.
            let refusal = await failure { try await app.register() }
            #expect(refusal?.status == .notLicensed)
            #expect(refusal?.code == (ada.accountEnabled ? .enrollment : .accountDisabled))
        }
        #expect(try await test.records().last?.outcome == .denied)
    }

    @Test func `a person whom only the provider knows is added at the first sign-in, where that is wanted`()
        async throws
    {
        var configuration = ServiceConfiguration()
        configuration.createsPeopleAtSignIn = true
        let test = try await TestOrganisation.withPeople(configuration: configuration)
        var early = TestApp(test, user: "cleo")
        // Nothing targets them yet, but an administrator can see them and put them into a group.
        #expect(await failure { try await early.register() }?.status == .notTargeted)
        #expect(try await test.service.administration.user("cleo@contoso.example", as: test.owner).id == "oid-cleo")
        try await test.protect(to: .allLicensedUsers)
        let outcome = try await early.register()
        #expect(outcome.isNew)
        #expect(try await test.records().count { $0.target == "user/oid-cleo" } == 1)

        try await test.service.provisioning.removeUser("oid-cleo", as: test.owner)
        #expect(await failure { try await early.register() }?.status == .notLicensed)
        var impostor = TestApp(test, user: "ada")
        impostor.account = ManagedAccount(
            id: AccountID("oid-other"), tenant: TestOrganisation.tenant, userPrincipalName: "ADA@contoso.example")
        #expect(await failure { try await impostor.register() }?.status == .notLicensed)
    }

    @Test func `an account that no policy targets in this app is told 225`() async throws {
        // SRV-CI-058
        let test = try await TestOrganisation.withPeople()
        try await test.protect(to: .group("guests"))
        var app = TestApp(test)
        #expect(await failure { try await app.register() }?.status == .notTargeted)
        #expect(
            try await test.service.administration.registrations(.init(includesClosed: true), as: test.owner).isEmpty)
    }

    @Test func `a key that is bound to another account or app is told 208`() async throws {
        // SRV-CI-041
        let test = try await TestOrganisation.withPeople()
        try await test.protect(to: .group("staff"))
        try await test.protect(app: "com.example.other", to: .group("staff"))
        var app = TestApp(test)
        try await app.register()
        var other = TestApp(test, user: "ben")
        other.key = app.key
        #expect(await failure { try await other.register() }?.status == .alreadyEnrolled)
        var otherApp = TestApp(test, bundleID: "com.example.other")
        otherApp.key = app.key
        #expect(await failure { try await otherApp.register() }?.status == .alreadyEnrolled)
    }

    @Test func `a new key for the same app and device replaces the old registration and inherits its wipe`()
        async throws
    {
        let test = try await TestOrganisation.withPeople()
        try await test.protect(to: .group("staff"))
        var old = TestApp(test)
        try await old.register()
        _ = try await test.service.administration.requestWipe(ofUser: "oid-ada", deviceTag: "tag-1", as: test.owner)
        var new = TestApp(test)
        let outcome = try await new.register()
        #expect(outcome.isNew && outcome.result.statusCode == .wipeReceived)
        #expect(new.envelope?.commands.map(\.kind) == [.wipe])
        #expect(await failure { try await old.checkIn() }?.status == .registrationGone)
        let states = try await test.service.administration.operations(ofRegistration: nil, as: test.owner)
        #expect(Set(states.map(\.state)) == [.expired, .delivered])
        let requests = try await test.records().filter { $0.action == "wipe.request" }
        #expect(Set(requests.map(\.target)) == Set(states.map { "operation/\($0.id)" }))
        #expect(requests.last?.details["after"] == states.first { $0.state == .expired }?.id)
        #expect(states.allSatisfy { $0.requestedBy == test.owner.id })
    }

    @Test func `a receipt that comes after the app registered again ends the wipe that went on in its place`()
        async throws
    {
        let test = try await TestOrganisation.withPeople()
        try await test.protect(to: .group("staff"))
        var old = TestApp(test)
        try await old.register()
        let id = try await test.service.administration.requestWipe(
            ofUser: "oid-ada", deviceTag: "tag-1", as: test.owner)[0].id
        try await old.checkIn()
        var between = TestApp(test)
        try await between.register()
        var new = TestApp(test)
        try await new.register()
        try await old.acknowledge(.succeeded, id, receipt: old.receipt(id).signed(by: old.key))
        let open = try await test.service.administration.operations(ofRegistration: nil, as: test.owner).filter(
            \.state.isOpen)
        #expect(open.isEmpty)
        #expect(try await new.checkIn().response.statusCode != .wipeReceived)
        #expect(try await test.service.administration.registration(new.registrationID, as: test.owner).state == .active)
    }

    @Test func `the app on another device keeps its registration`() async throws {
        let test = try await TestOrganisation.withPeople()
        try await test.protect(to: .group("staff"))
        var one = TestApp(test, tag: "tag-1")
        var two = TestApp(test, tag: "tag-2")
        try await one.register()
        try await two.register()
        #expect(try await one.checkIn().response.unchanged)
    }

    @Test func `texts that no honest app sends are refused`() async throws {
        let test = try await TestOrganisation.withPeople()
        try await test.protect(to: .group("staff"))
        var app = TestApp(test, tag: String(repeating: "t", count: 129))
        let error = await failure { try await app.register() }
        #expect(error?.problems.map(\.member) == ["device.tag"])
    }

    @Test func `a blocked person's new registration is told to wipe`() async throws {
        // SRV-TG-24
        let test = try await TestOrganisation.withPeople()
        try await test.protect(to: .group("staff"))
        try await test.service.administration.blockUser("oid-ada", as: test.owner)
        var app = TestApp(test)
        let outcome = try await app.register()
        #expect(outcome.isUserBlocked && outcome.result.statusCode == .wipeReceived)
        #expect(app.envelope?.commands.map(\.reason) == [.user])
    }

    @Test func `after a wipe the person must sign in again`() async throws {
        // SRV-TG-30
        let test = try await TestOrganisation.withPeople()
        try await test.protect(to: .group("staff"))
        var app = TestApp(test)
        app.authenticated = test.clock.now
        try await app.register()
        _ = try await test.service.administration.requestWipe(ofUser: "oid-ada", deviceTag: "tag-1", as: test.owner)
        test.clock.advance(by: 10)
        try await app.wipe()
        #expect(await failure { try await app.register() }?.status == .authenticationRequired)
        app.authenticated = nil
        #expect(await failure { try await app.register() }?.status == .authenticationRequired)
        test.clock.advance(by: 10)
        app.authenticated = test.clock.now
        #expect(try await app.register().isNew)
    }

    @Test func `after a wipe that was reported while the clock was ahead, a sign-in of now is enough`() async throws {
        let test = try await TestOrganisation.withPeople()
        try await test.protect(to: .group("staff"))
        var app = TestApp(test)
        app.authenticated = test.clock.now
        try await app.register()
        _ = try await test.service.administration.requestWipe(ofUser: "oid-ada", deviceTag: "tag-1", as: test.owner)
        try await app.wipe()
        let (id, ahead) = (app.registrationID, test.clock.now.addingTimeInterval(200 * 86_400))
        try await test.storage.write(TestOrganisation.tenant) { records in
            var wiped = try #require(try records.record(Registration.self, id))
            wiped.lastSync = ahead
            try records.save(wiped)
        }
        test.clock.advance(by: 3_600)
        #expect(await failure { try await app.register() }?.status == .authenticationRequired)
        app.authenticated = test.clock.now.addingTimeInterval(-5)
        #expect(try await app.register().isNew)
    }

    @Test func `what an app goes on with from before a wipe is wiped again, and what it has from after it is not`()
        async throws
    {
        let test = try await TestOrganisation.withPeople()
        try await test.protect(to: .group("staff"))
        func signedIn() -> TestApp {
            test.clock.advance(by: 10)
            var app = TestApp(test)
            app.authenticated = test.clock.now
            return app
        }
        var first = signedIn()
        try await first.register()
        var second = signedIn()
        #expect(try await second.register(inPlaceOf: first.registrationID).result.statusCode == .newPolicies)
        _ = try await test.service.administration.requestWipe(ofUser: "oid-ada", deviceTag: "tag-1", as: test.owner)
        try await second.wipe()
        // A home of the first registration, and one of the second, put back after the wipe.
        for former in [first, second] {
            var copy = signedIn()
            #expect(try await copy.register(inPlaceOf: former.registrationID).result.statusCode == .wipeReceived)
            #expect(copy.envelope?.commands.map(\.kind) == [.wipe])
            try await copy.wipe()
        }
        var fresh = signedIn()
        #expect(try await fresh.register().result.statusCode == .newPolicies)
        var next = signedIn()
        #expect(try await next.register(inPlaceOf: fresh.registrationID).result.statusCode == .newPolicies)
        // Of a registration that is another person's, or that nobody knows, nothing follows.
        var other = TestApp(test, user: "ben", tag: "tag-2")
        other.authenticated = test.clock.now
        #expect(try await other.register(inPlaceOf: first.registrationID).result.statusCode == .newPolicies)
        var unknown = signedIn()
        #expect(try await unknown.register(inPlaceOf: "unknown").result.statusCode == .newPolicies)
    }

    @Test func `a registration in another's place goes on with its number, and an enrolment with none`() async throws {
        let test = try await TestOrganisation.withPeople()
        try await test.protect(to: .group("staff"))
        var first = TestApp(test)
        try await first.register()
        try await first.checkIn(generation: 40)
        test.clock.advance(by: 120)
        var second = TestApp(test)
        try await second.register(inPlaceOf: first.registrationID)
        try await second.checkIn(generation: 12)
        #expect(second.contact?.stateGeneration == 40)
        test.clock.advance(by: 120)
        var third = TestApp(test)
        try await third.register()
        try await third.checkIn(generation: 1)
        #expect(third.contact?.stateGeneration == 1)
    }

    @Test func `a tag that is new after a wipe is no way around the sign-in, and another device is free`() async throws
    {
        // SRV-TG-30, SRV-CI-095
        let test = try await TestOrganisation.withPeople()
        try await test.protect(to: .group("staff"))
        var app = TestApp(test)
        app.authenticated = test.clock.now
        try await app.register()
        var tablet = TestApp(test, tag: "tag-2")
        tablet.model = "iPad14,1"
        tablet.authenticated = test.clock.now
        try await tablet.register()
        _ = try await test.service.administration.requestWipe(ofUser: "oid-ada", deviceTag: "tag-1", as: test.owner)
        test.clock.advance(by: 10)
        try await app.wipe()
        app.tag = "tag-3"
        app.key = SoftwareSigningKey()
        #expect(await failure { try await app.register() }?.status == .authenticationRequired)
        var other = TestApp(test, tag: "tag-4")
        other.model = "iPad13,1"
        other.authenticated = app.authenticated
        #expect(try await other.register().isNew)
        tablet.key = SoftwareSigningKey()
        #expect(try await tablet.register().isNew)
        test.clock.advance(by: 10)
        app.authenticated = test.clock.now
        #expect(try await app.register().isNew)
    }

    @Test(arguments: ["auth0|5f7c8ec7", "f:0b5c3a14:ada", "ada+work@contoso.example", "google-oauth2|1|x=y"])
    func `ids as common providers make them enrol, and are found again`(id: String) async throws {
        var configuration = ServiceConfiguration()
        configuration.createsPeopleAtSignIn = true
        let test = try await TestOrganisation.withPeople(configuration: configuration)
        try await test.protect(to: .allLicensedUsers)
        var app = TestApp(test)
        app.account = ManagedAccount(
            id: AccountID(id), tenant: TestOrganisation.tenant, userPrincipalName: "new@contoso.example")
        try await app.register()
        #expect(try await test.service.administration.user(id, as: test.owner).id == id)
        #expect(try await app.checkIn().response.statusCode == .policiesUnchanged)
    }

    @Test func `an id that differs in case alone is another person, and a UUID is not`() async throws {
        let test = try await TestOrganisation.withPeople()
        try await test.protect(to: .allLicensedUsers)
        let uuid = "3f2504e0-4f89-11d3-9a0c-0305e82c3301"
        for (id, name) in [("auth0|aB", "first"), (uuid, "second")] {
            try await test.service.provisioning.saveUser(
                DirectoryUser(id: id, userPrincipalName: "\(name)@contoso.example", displayName: name), as: test.owner)
        }
        var other = TestApp(test)
        other.account = ManagedAccount(
            id: "auth0|Ab", tenant: TestOrganisation.tenant, userPrincipalName: "x@contoso.example")
        let stranger = other
        #expect(
            await failure {
                var app = stranger
                try await app.register()
            }?.status == .notLicensed)
        other.account = ManagedAccount(
            id: AccountID(uuid.uppercased()), tenant: TestOrganisation.tenant,
            userPrincipalName: "second@contoso.example")
        try await other.register()
    }

    @Test func `no person has an id that is another person's sign-in name`() async throws {
        let test = try await TestOrganisation.withPeople()
        for (id, name) in [("Ben@contoso.example", "cleo@contoso.example"), ("oid-cleo", "OID-BEN")] {
            let user = DirectoryUser(id: id, userPrincipalName: name, displayName: "Cleo")
            #expect(
                await failure { try await test.service.provisioning.saveUser(user, as: test.owner) }?.code == .conflict)
        }
    }

    @Test func `names that would show as something else are refused`() async throws {
        let test = try await TestOrganisation.withPeople()
        for name in ["bad\r\nname", "a\u{202E}b", "ada@contoso.example ", "a\u{200B}b", "\u{FEFF}ada"] {
            let user = DirectoryUser(id: "oid-cleo", userPrincipalName: name, displayName: "Cleo")
            #expect(
                await failure { try await test.service.provisioning.saveUser(user, as: test.owner) }?.code == .invalid,
                "\(name.debugDescription)")
        }
        for name in ["a\u{0}b", "a\nb", "a\u{2066}b"] {
            let user = DirectoryUser(id: "oid-cleo", userPrincipalName: "cleo@contoso.example", displayName: name)
            #expect(
                await failure { try await test.service.provisioning.saveUser(user, as: test.owner) }?.code == .invalid)
            let group = DirectoryGroup(id: "g", displayName: name)
            #expect(
                await failure { try await test.service.provisioning.saveGroup(group, as: test.owner) }?.code == .invalid
            )
        }
        // Scripts and emoji need joiners.
        try await test.service.provisioning.saveUser(
            DirectoryUser(
                id: "oid-cleo", userPrincipalName: "cleo@contoso.example", displayName: "نیلو\u{200C}فر 👩\u{200D}🚀"),
            as: test.owner)
        // A policy that an earlier version took.
        var kept = try await test.protect(to: .allLicensedUsers)
        kept.apps = [.init(.ios, "a\u{0}b")]
        try await test.storage.write(TestOrganisation.tenant) { [kept] in try $0.save(kept) }
        var app = TestApp(test, bundleID: "a\u{0}b")
        let before = app
        #expect(
            await failure {
                var app = before
                try await app.register()
            }?.code == .invalid)
        app = TestApp(test, tag: "tag\u{202E}1")
        let turned = app
        #expect(
            await failure {
                var app = turned
                try await app.register()
            }?.code == .invalid)
    }

    @Test func `a group is no member of itself`() async throws {
        let test = try await TestOrganisation.withPeople()
        let group = DirectoryGroup(id: "loop", displayName: "Loop", members: [.group("LOOP")])
        #expect(
            await failure { try await test.service.provisioning.saveGroup(group, as: test.owner) }?.code == .invalid)
    }

}
