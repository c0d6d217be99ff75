import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonTestSupport
import CordonTesting
import Foundation
import Testing

@testable import CordonService

/// SRV-TG-38, 41: figures come from counters that change with what they count.
struct CountedPeopleTests {
    /// What the counters say has to be what comes of looking at all people, for each role that asks.
    private func agree(_ test: TestOrganisation, _ comment: Comment) async throws {
        let administration = test.service.administration
        // Sees the policies with a tag alone, of which the first test below makes some.
        var scoped = test.administrator()
        scoped.customRoles = [
            CustomRole(
                id: "north", displayName: "North", permissions: [.read], members: ["x"], scopeTags: ["north"])
        ]
        for administrator in [test.owner, scoped] {
            let counted = try await administration.protectionSummary(as: administrator)
            let truth = try await administration.summaryCountedAnew(as: administrator)
            #expect(counted == truth, comment)
            let (others, next) = try await administration.people(.unassigned, after: nil, limit: 50, as: administrator)
            #expect(next == nil ? counted.unassignedUsers == others.count : counted.unassignedUsers > 50, comment)
        }
        let policies = try await administration.policies(of: Set(PolicyKind.allCases), as: test.owner)
        let summaries = try await administration.deploymentSummaries(
            ofPolicies: Set(policies.map(\.id)), as: test.owner)
        let registrations = try await administration.registrations(.init(), as: test.owner)
        let installed = try await administration.installedVersions(as: test.owner)
        for part in InstalledVersion.Part.allCases {
            let counted = installed.filter { $0.part == part }.reduce(0) { $0 + $1.apps }
            #expect(counted == registrations.count, comment)
        }
        let rule = "(app.deviceModel -startsWith \"iPhone\")"
        let matches = try await administration.filterMatches(rule: rule, as: test.owner)
        let fits = try FilterRule(rule)
        #expect(matches.matching == registrations.count { fits.holds(for: $0.filterFacts) }, comment)
        #expect(matches.total == registrations.count, comment)
        for policy in policies {
            let truth = DeploymentSummary(of: policy, among: registrations)
            let counted = try #require(summaries[policy.id])
            #expect(counted.userCount == truth.userCount, comment)
            #expect(
                Dictionary(uniqueKeysWithValues: counted.userCountPerApp.map { ($0.app, $0.count) })
                    == Dictionary(uniqueKeysWithValues: truth.userCountPerApp.map { ($0.app, $0.count) }), comment)
        }
    }

    @Test(.seeded(as: 1), arguments: [0, 1, 2])
    func `counters say after any change what looking at all people says`(number: UInt64) async throws {
        var random = SeededGenerator(TestSeed.current &+ number)
        let test = try await TestOrganisation.withPeople()
        let (administration, provisioning) = (test.service.administration, test.service.provisioning)
        _ = try await administration.saveResource(
            ScopeTag(id: "north", displayName: "North"), isNew: true, as: test.owner)
        var apps: [TestApp] = []
        var policies: [ManagedAppPolicy] = []
        let people = ["ada", "ben", "cleo", "dan"]
        let groups = ["staff", "writers", "guests"]
        policies.append(try await test.protect(name: "First", to: .group("staff")))
        var first = TestApp(test, user: "ben", tag: "tag-first")
        try await first.register()
        for _ in 0..<2 { try await first.checkIn() }
        apps.append(first)
        let start = try await administration.protectionSummary(as: test.owner).assignedUsers
        #expect(start.total == 2 && start.protected == 1, "the control: there is something to count")
        for step in 0..<60 {
            let person = people.randomElement(using: &random) ?? "ada"
            let group = groups.randomElement(using: &random) ?? "staff"
            switch Int.random(in: 0..<12, using: &random) {
            case 0:
                try await provisioning.saveUser(
                    DirectoryUser(
                        id: "oid-\(person)", userPrincipalName: "\(person)@contoso.example", displayName: person,
                        isLicensed: Bool.random(using: &random)), as: test.owner)
            case 1: try? await provisioning.removeUser("oid-\(person)", as: test.owner)
            case 2, 3:
                try await provisioning.changeMembers(
                    ofGroup: group, adding: [.user("oid-\(person)")], removing: [], as: test.owner)
            case 4:
                try await provisioning.changeMembers(
                    ofGroup: group, adding: [], removing: [.user("OID-\(person)")], as: test.owner)
            case 5:
                let target: PolicyAssignment.Target = Bool.random(using: &random) ? .group(group) : .allLicensedUsers
                policies.append(
                    try await test.protect(
                        Bool.random(using: &random) ? ["roleScopeTagIds": ["north"]] : [:], name: "P\(step)",
                        to: target))
            case 6:
                guard !policies.isEmpty else { continue }
                let policy = policies.remove(at: Int.random(in: 0..<policies.count, using: &random))
                try? await administration.deletePolicy(policy.id, ifVersion: nil, as: test.owner)
            case 7: try? await administration.blockUser("oid-ada", as: test.owner)
            case 8: try? await administration.unblockUser("oid-ada", as: test.owner)
            case 9:
                var app = TestApp(test, user: person, tag: "tag-\(step)")
                guard (try? await app.register()) != nil else { continue }
                apps.append(app)
            case 10:
                guard !apps.isEmpty else { continue }
                let app = apps.remove(at: Int.random(in: 0..<apps.count, using: &random))
                try? await test.service.devices.unregister(app.registrationID, by: app.caller)
            default:
                guard let index = apps.indices.randomElement(using: &random) else { continue }
                _ = try? await apps[index].checkIn(health: Bool.random(using: &random) ? [.rootedDevice] : [])
            }
            try await test.finishAnnouncing()
            try await agree(test, "\(number), step \(step)")
        }
        #expect(try await test.service.checkCounts(of: TestOrganisation.tenant) == 0)
    }

    @Test func `an app whose evidence is refused is counted as flagged until good evidence comes`() async throws {
        let (test, app) = try await TestApp.enrolled()
        let (devices, id) = (test.service.devices, app.registrationID)
        for counter: UInt32 in 1...2 {
            let evidence = VerifiedEvidence(
                app: "9XK3M7QW2P.org.example.notes", environment: "production", keyID: Data(count: 32),
                publicKey: Data(count: 65), counter: counter, verified: test.clock.now)
            try await devices.keepEvidence(evidence, ofRegistration: id, by: app.caller)
            try await agree(test, "good")
            #expect(try await test.service.administration.protectionSummary(as: test.owner).flaggedUsers == 0)
            try await devices.noteRefusedEvidence(ofRegistration: id, by: app.caller)
            try await agree(test, "refused")
            #expect(try await test.service.administration.protectionSummary(as: test.owner).flaggedUsers == 1)
        }
        #expect(try await test.service.checkCounts(of: TestOrganisation.tenant) == 0)
    }

    @Test func `a change of more people than one change counts is counted behind it`() async throws {
        let test = try await TestOrganisation.withPeople()
        let many = (0..<200).map { "p-\($0)" }
        _ = try await test.service.provisioning.synchronize(
            .init(people: many.map { .init(id: $0, userPrincipalName: "\($0)@contoso.example", displayName: $0) }),
            from: "file", of: TestOrganisation.tenant)
        try await test.service.provisioning.saveGroup(
            DirectoryGroup(id: "crowd", displayName: "Crowd", members: Set(many.map { .user($0) })), as: test.owner)
        try await test.protect(to: .group("crowd"))
        try await test.finishAnnouncing()
        #expect(try await test.service.administration.protectionSummary(as: test.owner).assignedUsers.total == 200)
        try await agree(test, "many")
        let left = try await test.storage.read(TestOrganisation.tenant) { try $0.records(StatusBacklog.self).count }
        #expect(left == 0)
    }

    @Test func `counters that are wrong or were never made are put right by the check, which says how many`()
        async throws
    {
        let test = try await TestOrganisation.withPeople()
        try await test.protect(to: .group("staff"))
        var app = TestApp(test)
        try await app.register()
        try await app.checkIn()
        try await app.checkIn()
        let right = try await test.service.administration.protectionSummary(as: test.owner)
        #expect(right.assignedUsers.protected == 1 && right.assignedUsers.total == 2)
        try await test.storage.write(TestOrganisation.tenant) { transaction in
            for count in try transaction.records(StatusCount.self) {
                try transaction.save(StatusCount(place: count.place, people: count.people + 7))
            }
            try transaction.remove(PersonStatus.self, "oid-ben")
        }
        #expect(try await test.service.administration.protectionSummary(as: test.owner) != right)
        #expect(try await test.service.checkCounts(of: TestOrganisation.tenant) > 0)
        #expect(try await test.service.administration.protectionSummary(as: test.owner) == right)
        #expect(try await test.service.checkCounts(of: TestOrganisation.tenant) == 0)
        // A store of the version before has none: figures are right before maintenance has counted, and after it.
        try await test.storage.write(TestOrganisation.tenant) { transaction in
            try transaction.remove(StatusCount.self, ids: transaction.records(StatusCount.self).map(\.storageID))
            try transaction.remove(PersonStatus.self, ids: transaction.records(PersonStatus.self).map(\.storageID))
            var settings = try transaction.settings()
            settings.countsPeople = nil
            try transaction.save(settings)
        }
        #expect(try await test.service.administration.protectionSummary(as: test.owner) == right)
        try await test.service.performMaintenance(of: TestOrganisation.tenant)
        #expect(try await test.storage.read(TestOrganisation.tenant) { try $0.settings().countsPeople } == true)
        #expect(try await test.service.administration.protectionSummary(as: test.owner) == right)
    }

    @Test func `what two checks at once find wrong is put right once`() async throws {
        let storage = CountingStorage()
        let test = try await TestOrganisation.withPeople(storage: storage)
        try await test.protect(to: .group("staff"))
        try await test.finishAnnouncing()
        let right = try await test.service.administration.protectionSummary(as: test.owner)
        try await test.storage.write(TestOrganisation.tenant) { transaction in
            for count in try transaction.records(StatusCount.self) {
                try transaction.save(StatusCount(place: count.place, people: count.people + 7))
            }
        }
        storage.beforeNextChange {
            let wrong = try await test.service.checkCounts(of: TestOrganisation.tenant)
            #expect(wrong > 0)
        }
        #expect(try await test.service.checkCounts(of: TestOrganisation.tenant) == 0)
        #expect(try await test.service.administration.protectionSummary(as: test.owner) == right)
        #expect(try await test.service.checkCounts(of: TestOrganisation.tenant) == 0)
    }

    @Test func `versions that a service before did not count are counted by the check, which calls that no fault`()
        async throws
    {
        let test = try await TestOrganisation.withPeople()
        try await test.protect(to: .group("staff"))
        var app = TestApp(test)
        try await app.register()
        let versions = try await test.service.administration.installedVersions(as: test.owner)
        #expect(versions.map(\.part) == [.app, .library, .system] && versions.allSatisfy { $0.apps == 1 })
        try await test.storage.write(TestOrganisation.tenant) { transaction in
            for standing in try transaction.records(PersonStatus.self) {
                let text = String(decoding: try JSONEncoder().encode(standing), as: UTF8.self)
                let before = text.replacing(/,?"installation":\{[^}]*\}/, with: "").replacing("{,", with: "{")
                try transaction.save(try JSONDecoder().decode(PersonStatus.self, from: Data(before.utf8)))
            }
            let counted = try transaction.statusCounts(StatusCount.Place.installed).map(\.storageID)
            try transaction.remove(StatusCount.self, ids: counted)
        }
        #expect(try await test.service.administration.installedVersions(as: test.owner) == [])
        // No fault of the counters, so nothing to warn of.
        #expect(try await test.service.checkCounts(of: TestOrganisation.tenant) == 0)
        #expect(try await test.service.administration.installedVersions(as: test.owner) == versions)
    }

    @Test func `figures read neither people nor apps, however many there are`() async throws {
        var costs: [CountingStorage.Counts] = []
        for number in [5, 150] {
            let storage = CountingStorage()
            let test = try await TestOrganisation.withPeople(storage: storage)
            _ = try await test.service.provisioning.synchronize(
                .init(
                    people: (0..<number).map {
                        .init(id: "p-\($0)", userPrincipalName: "p\($0)@contoso.example", displayName: "P")
                    }), from: "file", of: TestOrganisation.tenant)
            try await test.protect(to: .allLicensedUsers)
            try await test.finishAnnouncing()
            costs.append(
                try await storage.counts {
                    let summary = try await test.service.administration.protectionSummary(as: test.owner)
                    #expect(summary.assignedUsers.total == number + 2)
                })
        }
        #expect(costs[0] == costs[1] && costs[1].read[.user] == nil && costs[1].read[.registration] == nil)
    }
}
