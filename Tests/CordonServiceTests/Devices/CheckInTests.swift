import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonService
import CordonTestSupport
import Foundation
import Testing

/// SRV-CI-003, 004, 019, 027…031, 083…087 from the service's side.
struct CheckInTests {
    private func enrolled(_ settings: [String: JSONValue] = [:]) async throws -> (
        TestOrganisation, TestApp, ManagedAppPolicy
    ) {
        let test = try await TestOrganisation.withPeople()
        let policy = try await test.protect(settings, to: .group("staff"))
        var app = TestApp(test)
        try await app.register()
        return (test, app, policy)
    }

    @Test func `a device that has the current envelope is told that nothing changed`() async throws {
        // SRV-CI-019, SRV-CI-029
        var (_, app, _) = try await enrolled()
        let outcome = try await app.checkIn()
        #expect(outcome.response.unchanged && outcome.response.statusCode == .policiesUnchanged)
        #expect(outcome.response.envelope == nil)
    }

    @Test func `a check-in that finds nothing changed writes its time once a minute, and otherwise nothing`()
        async throws
    {
        let storage = CountingStorage()
        let test = try await TestOrganisation.withPeople(storage: storage)
        try await test.protect(to: .group("staff"))
        var app = TestApp(test)
        try await app.register()
        try await app.checkIn()
        try await test.finishAnnouncing()
        for (seconds, written) in [(0, [:]), (59, [:]), (1, [.registration: 1]), (59, [:])]
            as [(Double, [StorageKind: Int])]
        {
            test.clock.advance(by: seconds)
            let counts = try await storage.counts {
                let response = try await app.checkIn().response
                #expect(response.unchanged)
            }
            #expect(counts.written == written, "after \(seconds) more seconds")
        }
    }

    @Test func `every answer is signed for its request, and says the highest generation that the app ever reported`()
        async throws
    {
        var (test, app, _) = try await enrolled()
        for (reported, highest): (Int64?, Int64?) in [(nil, nil), (7, 7), (9, 9), (4, 9), (nil, 9), (10, 10)] {
            test.clock.advance(by: 120)
            #expect(try await app.checkIn(generation: reported).response.unchanged)
            #expect(app.contact?.stateGeneration == highest)
        }
        for generation in [-1, 1 << 29, 1 << 53] as [Int64] {
            let copy = app
            let refused = await failure {
                var app = copy
                try await app.checkIn(generation: generation)
            }
            #expect(refused?.code == .invalid, "\(generation)")
        }
    }

    @Test func `a number that no app can have counted to, and a service before has kept, counts for nothing`()
        async throws
    {
        var (test, app, _) = try await enrolled()
        try await app.checkIn(generation: 7)
        let stored = try await test.service.administration.registration(app.registrationID, as: test.owner)
        var members = try #require(try JSONValue(parsing: MessageCoding.encode(stored)).object)
        members["stateGeneration"] = .integer(1 << 53)
        let changed = try MessageCoding.decode(Registration.self, from: JSONValue.object(members))
        try await test.storage.write(TestOrganisation.tenant) { try $0.save(changed) }
        test.clock.advance(by: 120)
        try await app.checkIn(generation: 8)
        #expect(app.contact?.stateGeneration == 8)
        try await app.checkIn()
        #expect(app.contact?.stateGeneration == 8)
    }

    @Test func `another digest under the same version gets the envelope anew`() async throws {
        var (_, app, _) = try await enrolled()
        app.current?.digest = "something-else"
        app.current?.sequence = 0
        let outcome = try await app.checkIn()
        #expect(outcome.response.statusCode == .newPolicies)
        #expect(app.envelope?.sequence == 2)
    }

    @Test func `the sequence rises with every envelope and the changed rule is in it`() async throws {
        // SRV-CI-085
        var (test, app, policy) = try await enrolled()
        for length in 5...9 {
            let before = try #require(app.envelope?.sequence)
            _ = try await test.service.administration.updatePolicy(
                policy.id, changes: ["minimumPinLength": .integer(Int64(length))], ifVersion: nil, as: test.owner)
            #expect(try await app.checkIn().response.statusCode == .newPolicies)
            #expect(app.envelope?.sequence == before + 1)
            #expect(app.envelope?.policy?.policy.access.minimumPinLength == length)
        }
    }

    @Test func `a device that knows a higher sequence than a restored store gets one above it`() async throws {
        var (_, app, _) = try await enrolled()
        app.current = (sequence: 41, digest: "of-an-envelope-that-the-backup-does-not-know")
        try await app.checkIn()
        #expect(app.envelope?.sequence == 42)
    }

    @Test
    func `a sequence that a reader of JSON cannot tell from its neighbour is refused, and the last one below goes on`()
        async throws
    {
        let (_, app) = try await TestApp.enrolled()
        for sequence in [-1, 1 << 52, 1 << 53, Int64.max] {
            var strange = app
            strange.current = (sequence: sequence, digest: "of-no-envelope")
            let copy = strange
            let refused = await failure {
                var strange = copy
                try await strange.checkIn()
            }
            #expect(refused?.code == .invalid, "\(sequence)")
        }
        var last = app
        last.current = (sequence: (1 << 52) - 1, digest: "of-no-envelope")
        try await last.checkIn()
        #expect(last.envelope?.sequence == 1 << 52)
    }

    @Test func `removing the assignment ends in a signed envelope without a policy`() async throws {
        // SRV-CI-031, SRV-CI-087
        var (test, app, policy) = try await enrolled()
        _ = try await test.service.administration.assignPolicy(policy.id, to: [], as: test.owner)
        let outcome = try await app.checkIn()
        #expect(outcome.response.statusCode == .noPolicyTargeted && !outcome.response.unchanged)
        #expect(app.envelope?.policy == nil)
        let again = try await app.checkIn()
        #expect(again.response.unchanged && again.response.statusCode == .noPolicyTargeted)
    }

    @Test func `an envelope never lives longer than the offline-wipe period`() async throws {
        // SRV-CI-083
        for (setting, expected) in [("P2D", 2), ("P90D", 7), ("PT0S", 7)] {
            let (_, app, _) = try await enrolled(["periodOfflineBeforeWipeIsEnforced": .string(setting)])
            let envelope = try #require(app.envelope)
            #expect(envelope.expiresAt - envelope.issuedAt == Int64(expected) * 86_400)
        }
    }

    @Test func `another key, another account and an unknown registration are told apart`() async throws {
        // SRV-CI-047, SRV-CI-053
        var (test, app, _) = try await enrolled()
        var stolen = app
        stolen.key = SoftwareSigningKey()
        #expect(await failure { try await stolen.checkIn() }?.code == .wrongKey)
        var other = app
        other.account = TestApp(test, user: "ben").account
        #expect(await failure { try await other.checkIn() }?.status == .notEnrolledAccount)
        var otherApp = app
        otherApp.bundleID = "com.example.other"
        #expect(await failure { try await otherApp.checkIn() }?.status == .notEnrolled)
        app.registrationID = "unknown"
        #expect(await failure { try await app.checkIn() }?.status == .registrationGone)
    }

    @Test func `a registration without check-in for ninety days is gone, and comes back silently`() async throws {
        // SRV-CI-069
        var (test, app, _) = try await enrolled()
        test.clock.advance(by: 89.9 * 86_400)
        try await app.checkIn()
        test.clock.advance(by: 90 * 86_400)
        #expect(await failure { try await app.checkIn() }?.status == .registrationGone)
        try await app.register()
        #expect(try await app.checkIn().response.unchanged)
    }

    @Test func `a person who lost the entitlement is told 200`() async throws {
        // SRV-CI-033
        var (test, app, _) = try await enrolled()
        var ada = try await test.service.administration.user("oid-ada", as: test.owner)
        ada.isLicensed = false
        try await test.service.provisioning.saveUser(ada, as: test.owner)
        let unlicensed = await failure { try await app.checkIn() }
        #expect(unlicensed == .enrollment(.notLicensed, ""))
        #expect(try await app.verified(unlicensed?.contact).isAccountDisabled == false)
        // SRV-TG-32: a person whom the directory had and has no more is gone, not merely without a licence.
        try await test.service.provisioning.removeUser("oid-ada", as: test.owner)
        let refusal = await failure { try await app.checkIn() }
        #expect(refusal?.code == .accountDisabled)
        // An app removes data on this word, so it is signed, and about this check-in.
        let word = try await app.verified(refusal?.contact)
        #expect(word.isAccountDisabled == true && word.nonce == "nonce-\(app.nonces)")
    }

    @Test(arguments: ["removed", "unlicensed", "disabled"])
    func `a person who lost the entitlement is still told to wipe, under the rules that were in force`(
        how: String
    ) async throws {
        for isBlocked in [false, true] {
            var (test, app, policy) = try await enrolled(["minimumPinLength": 7])
            if isBlocked {
                try await test.service.administration.blockUser("oid-ada", as: test.owner)
            } else {
                _ = try await test.service.administration.requestWipe(
                    ofUser: "oid-ada", deviceTag: "tag-1", as: test.owner)
            }
            var ada = try await test.service.administration.user("oid-ada", as: test.owner)
            (ada.isLicensed, ada.accountEnabled) = (how != "unlicensed", how != "disabled")
            if how == "removed" {
                try await test.service.provisioning.removeUser("oid-ada", as: test.owner)
            } else {
                try await test.service.provisioning.saveUser(ada, as: test.owner)
            }
            let outcome = try await app.checkIn()
            #expect(outcome.response.statusCode == .wipeReceived && outcome.isUserBlocked == isBlocked)
            #expect(app.envelope?.commands.map(\.kind) == [.wipe])
            #expect(app.envelope?.policy?.contributors.map(\.id) == [policy.id])
            #expect(app.envelope?.policy?.policy.access.minimumPinLength == 7)
            try await app.wipe()
            #expect(await failure { try await app.checkIn() }?.status == .registrationGone)
        }
    }

    @Test func `a wipe and a block can be asked for after a person left the directory`() async throws {
        var (test, app, _) = try await enrolled()
        try await test.service.provisioning.removeUser("oid-ada", as: test.owner)
        #expect(await failure { try await app.checkIn() }?.status == .notLicensed)
        _ = try await test.service.administration.requestWipe(ofUser: "OID-ada", deviceTag: "tag-1", as: test.owner)
        #expect(try await app.checkIn().response.statusCode == .wipeReceived)
        try await test.service.administration.blockUser("oid-ada", as: test.owner)
        #expect(try await test.service.administration.blockedUsers(as: test.owner) == ["oid-ada"])
        try await test.service.administration.unblockUser("OID-ADA", as: test.owner)
        #expect(try await test.service.administration.blockedUsers(as: test.owner).isEmpty)
        #expect(
            await failure { try await test.service.administration.blockUser("nobody", as: test.owner) }?.code
                == .notFound)
    }

    @Test func `a wipe that was handed out and has lapsed still reaches a person who lost the entitlement`()
        async throws
    {
        var (test, app, _) = try await enrolled()
        _ = try await test.service.administration.requestWipe(ofUser: "oid-ada", deviceTag: "tag-1", as: test.owner)
        try await test.service.provisioning.removeUser("oid-ada", as: test.owner)
        test.clock.advance(by: 60 * 86_400)
        try await app.checkIn()
        test.clock.advance(by: 35 * 86_400)
        #expect(try await app.checkIn().response.statusCode == .wipeReceived)
        try await app.wipe()
        #expect(await failure { try await app.checkIn() }?.status == .registrationGone)
    }

    @Test func `the service remembers what the device applied and reported`() async throws {
        // SRV-RS-120, SRV-RS-126, SRV-RS-129
        var (test, app, policy) = try await enrolled()
        test.clock.advance(by: 30)
        try await app.checkIn(health: [.rootedDevice])
        let stored = try await test.service.administration.registration(app.registrationID, as: test.owner)
        #expect(stored.applied == [policy.reference])
        #expect(stored.health == [.rootedDevice])
        #expect(stored.lastSync == test.clock.now)
    }

    @Test func `a check-in mends the time that a clock ahead has noted`() async throws {
        var (test, app, _) = try await enrolled()
        try await app.checkIn()
        let (id, ahead) = (app.registrationID, test.clock.now.addingTimeInterval(200 * 86_400))
        try await test.storage.write(TestOrganisation.tenant) { records in
            var registration = try #require(try records.record(Registration.self, id))
            registration.lastSync = ahead
            try records.save(registration)
        }
        try await app.checkIn()
        let stored = try await test.service.administration.registration(id, as: test.owner)
        #expect(stored.lastSync == test.clock.now)
    }

    @Test func `allowed accounts travel in the envelope and changing them changes it`() async throws {
        // SRV-CI-008
        var (test, app, _) = try await enrolled()
        #expect(app.envelope?.allowedAccounts == nil)
        let allowed = [PolicyEnvelope.AllowedAccount(id: "oid-ada", userPrincipalName: "ada@contoso.example")]
        try await test.service.administration.setAllowedAccounts(allowed, as: test.owner)
        try await app.checkIn()
        #expect(app.envelope?.allowedAccounts == allowed)
        try await test.service.administration.setAllowedAccounts(nil, as: test.owner)
        try await app.checkIn()
        #expect(app.envelope?.allowedAccounts == nil)
    }

    @Test func `checking in at once from many tasks hands out every sequence once`() async throws {
        let (test, app, policy) = try await enrolled()
        _ = try await test.service.administration.updatePolicy(
            policy.id, changes: ["printBlocked": true], ifVersion: nil, as: test.owner)
        let sequences = try await withThrowingTaskGroup(of: Int64.self) { group in
            for _ in 0..<24 {
                group.addTask {
                    var copy = app
                    try await copy.checkIn()
                    return copy.envelope?.sequence ?? 0
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(sequences.sorted() == Array(2...25))
    }

    @Test func `unregistering closes the registration and may be repeated`() async throws {
        // SRV-CI-021
        var (test, app, _) = try await enrolled()
        try await test.service.devices.unregister(app.registrationID, by: app.caller)
        try await test.service.devices.unregister(app.registrationID, by: app.caller)
        #expect(await failure { try await app.checkIn() }?.status == .registrationGone)
        #expect(try await test.service.administration.registrations(.init(), as: test.owner).isEmpty)
        #expect(try await test.records().count { $0.action == "registration.unregister" } == 1)
    }
}
