import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonTestSupport
import Foundation
import Testing

@testable import CordonService

/// What policies and filters said before, who changed them, and which rules an app had when.
@Suite struct VersionTests {
    private func change(
        _ policy: ManagedAppPolicy, _ members: [String: JSONValue], _ test: TestOrganisation,
        as owner: Administrator? = nil
    ) async throws -> ManagedAppPolicy {
        try await test.service.administration.updatePolicy(
            policy.id, changes: .object(members), ifVersion: nil, as: owner ?? test.owner)
    }

    @Test func `every version of a policy is kept with who made it, when and why, and what changed`() async throws {
        let test = try await TestOrganisation.withPeople()
        let policy = try await test.protect(["printBlocked": true], to: .group("staff"))
        test.clock.advance(by: 60)
        var author = test.administrator(.policyAdministrator)
        author.call = CallFacts(requestID: "request-1", client: "console", reason: "the new printer")
        let after = try await change(policy, ["printBlocked": false], test, as: author)
        let versions = try await test.service.administration.history.versions(of: .policy, policy.id, as: test.owner)
        // Made, given apps, assigned, changed.
        #expect(versions.map(\.number) == [4, 3, 2, 1])
        let newest = try #require(versions.first)
        #expect(newest.version == after.version && newest.previous == policy.version)
        #expect(newest.author?.id == author.id && newest.author?.client == "console")
        #expect(newest.reason == "the new printer" && newest.request == "request-1" && newest.time == test.clock.now)
        let content = try await test.service.administration.history.version(
            newest.version, of: .policy, policy.id, as: test.owner)
        #expect(
            content.changes == [
                MemberChange(member: "printBlocked", from: true, to: false, direction: .weaker)
            ])
        #expect(content.document?["printBlocked"] == false)
        let record = try #require(try await test.records().last)
        #expect(record.action == "policy.update" && record.details["reason"] == "the new printer")
        #expect(record.details["client"] == "console" && record.details["request"] == "request-1")
        #expect(
            record.details["change"]
                == #"[{"direction":"weaker","from":true,"member":"printBlocked","to":false}]"#)
    }

    @Test func `who changed a policy last is said of several at once, as far as the caller may read them`() async throws
    {
        let test = try await TestOrganisation.withPeople()
        let history = test.service.administration.history
        let author = test.administrator(.policyAdministrator)
        let first = try await test.protect(to: .group("staff"))
        let second = try await change(
            try await test.protect(to: .group("staff")), ["printBlocked": true], test, as: author)
        let west = try await change(
            try await test.protect(to: .group("staff")), ["roleScopeTagIds": ["tag-west"]], test)
        let versions = try await history.versionsInForce(
            ofPolicies: [second.id, "T_none", first.id, west.id], as: test.owner)
        #expect(versions.map(\.entity) == [second, first, west].map { EntityVersion.entity(.policy, $0.id) })
        #expect(versions.map { $0.author?.id } == [author.id, test.owner.id, test.owner.id])
        #expect(versions.map(\.version) == [second.version, first.version, west.version])
        let role = CustomRole(
            id: "west", displayName: "West", permissions: [.read], members: ["w"], scopeTags: ["tag-west"])
        let reader = Administrator(
            tenant: TestOrganisation.tenant, id: "w", name: "W", roles: [], customRoles: [role])
        let seen = try await history.versionsInForce(ofPolicies: [first.id, west.id], as: reader)
        #expect(seen.map(\.version) == [west.version])
    }

    @Test func `where a version stands is said without what it said, and not to callers who may not read the policy`()
        async throws
    {
        let test = try await TestOrganisation.withPeople()
        let history = test.service.administration.history
        let first = try await test.protect(to: .group("staff"))
        let present = try await change(first, ["printBlocked": true], test)
        func place(_ version: String, as administrator: Administrator? = nil) async throws -> VersionPlace {
            try await history.place(ofVersion: version, of: .policy, first.id, as: administrator ?? test.owner)
        }
        let found = try await place(first.version)
        #expect(found.version.version == first.version && found.version.superseded != nil)
        #expect(found.inForce == present.version)
        #expect(try await place(present.version).version.superseded == nil)
        #expect(await failure { _ = try await place("none") }?.code == .notFound)
        let role = CustomRole(
            id: "west", displayName: "West", permissions: [.read], members: ["w"], scopeTags: ["tag-west"])
        let limited = Administrator(
            tenant: TestOrganisation.tenant, id: "w", name: "w", roles: [], customRoles: [role])
        #expect(await failure { _ = try await place(first.version, as: limited) }?.code == .notFound)
        try await test.service.administration.deletePolicy(first.id, ifVersion: nil, as: test.owner)
        #expect(try await place(first.version).inForce == nil)
        #expect(await failure { _ = try await place(first.version, as: limited) }?.code == .notFound)
        let now = test.clock.now
        let filter = AssignmentFilter(
            id: "filter-1", displayName: "F", rule: "(app.appVersion -startsWith \"1\")", created: now, modified: now)
        try await test.service.administration.saveResource(filter, isNew: true, as: test.owner)
        let kept = try await history.place(
            ofVersion: filter.versionToken, of: .filter, filter.id, as: test.owner)
        #expect(kept.inForce == filter.versionToken)
    }

    @Test func `a write that changes nothing makes no version and tells no app`() async throws {
        let (test, app) = try await TestApp.enrolled()
        let policy = try #require(
            try await test.service.administration.policies(of: [.iosManagedAppProtection], as: test.owner).first)
        let (records, events) = (
            try await test.records().count,
            try await test.storage.read(TestOrganisation.tenant) {
                try $0.record(EventBookmark.self, app.registrationID)
            }
        )
        test.clock.advance(by: 60)
        let same = try await change(policy, ["printBlocked": .bool(false), "displayName": "Protection"], test)
        _ = try await test.service.administration.assignPolicy(
            policy.id, to: [PolicyAssignment(.group("staff"))], as: test.owner)
        #expect(same == policy)
        #expect(try await test.records().count == records)
        let now = try await test.storage.read(TestOrganisation.tenant) {
            try $0.record(EventBookmark.self, app.registrationID)
        }
        #expect(now == events)
        #expect(
            try await test.service.administration.history.versions(of: .policy, policy.id, as: test.owner).count == 3)
    }

    @Test func `documents are kept once, and forgotten with the last version that says so`() async throws {
        var configuration = ServiceConfiguration()
        configuration.versionRetention = .seconds(3_600)
        let test = try await TestOrganisation(configuration: configuration)
        var policy = try await test.protect(["printBlocked": false])
        for flag in [true, false, true, false] {
            policy = try await change(policy, ["printBlocked": .bool(flag)], test)
        }
        func kept() async throws -> (versions: Int, documents: [Int]) {
            try await test.storage.read(TestOrganisation.tenant) { records in
                (
                    try records.records(EntityVersion.self).count,
                    try records.records(VersionDocument.self).map(\.uses).sorted()
                )
            }
        }
        // Made without apps, with apps and assignments to no one, and the two that were gone to and fro between.
        #expect(try await kept() == (6, [1, 2, 3]))
        test.clock.advance(by: 3_700)
        try await test.service.performMaintenance(of: TestOrganisation.tenant)
        #expect(try await kept() == (1, [1]))
        let left = try await test.service.administration.history.versions(of: .policy, policy.id, as: test.owner)
        #expect(left.map(\.version) == [policy.version])
    }

    @Test func `what was delivered is forgotten after what took its place, and upkeep reads nothing that is kept`()
        async throws
    {
        var configuration = ServiceConfiguration()
        configuration.versionRetention = .seconds(3_600)
        let storage = CountingStorage()
        let test = try await TestOrganisation.withPeople(storage: storage, configuration: configuration)
        let policy = try await test.protect(["printBlocked": false], to: .group("staff"))
        var app = TestApp(test, user: "ada", tag: "tag-ada")
        try await app.register()
        try await app.checkIn()
        func delivered() async throws -> [Int64] {
            try await test.storage.read(TestOrganisation.tenant) { try $0.records(DeliveredRules.self).map(\.sequence) }
        }
        let first = try await delivered()
        _ = try await change(policy, ["printBlocked": true], test)
        try await app.checkIn()
        test.clock.advance(by: 3_700)
        // Delivered, and not yet said to be in force: what came before is kept.
        try await test.service.performMaintenance(of: TestOrganisation.tenant)
        #expect(try await delivered().count == 2)
        try await app.checkIn()
        try await test.service.performMaintenance(of: TestOrganisation.tenant)
        #expect(try await delivered().count == 2)
        test.clock.advance(by: 3_700)
        try await test.service.performMaintenance(of: TestOrganisation.tenant)
        let last = try await delivered()
        #expect(last.count == 1 && last != first)
        try await test.service.finishAnnouncing(of: TestOrganisation.tenant)
        let counts = try await storage.counts {
            try await test.service.performMaintenance(of: TestOrganisation.tenant)
        }
        #expect(counts.read[.deliveredRules] ?? 0 == 0)
    }

    @Test
    func
        `working time is no part of what was delivered, and who confirms rules has only those read that had not ended`()
        async throws
    {
        let storage = CountingStorage()
        let test = try await TestOrganisation.withPeople(storage: storage)
        let policy = try await test.protect(["printBlocked": false], to: .group("staff"))
        var app = TestApp(test)
        try await app.register()
        try await app.checkIn()
        func delivered() async throws -> [DeliveredRules] {
            try await test.storage.read(TestOrganisation.tenant) { try $0.records(DeliveredRules.self) }
        }
        for number in 1...30 {
            test.clock.advance(by: 60)
            let now = Int64(test.clock.now.timeIntervalSince1970)
            let time = WorkingTimeReport(
                state: number.isMultiple(of: 2) ? .clockedIn : .clockedOut, asOf: now, validUntil: now + 3_600)
            try await test.service.provisioning.setWorkingTime(time, ofUser: "oid-ada", as: test.owner)
            try await app.checkIn()
            try await app.checkIn()
        }
        #expect(try await delivered().count == 1)
        for number in 1...10 {
            _ = try await change(policy, ["printBlocked": .bool(!number.isMultiple(of: 2))], test)
            try await app.checkIn()
            try await app.checkIn()
        }
        _ = try await change(policy, ["printBlocked": true], test)
        try await app.checkIn()
        let counts = try await storage.counts { try await app.checkIn() }
        #expect(counts.read[.deliveredRules] ?? 0 <= 2)
        let all = try await delivered()
        #expect(all.count == 12 && all.count { $0.superseded == nil } == 1 && all.allSatisfy { $0.applied != nil })
    }

    @Test func `rules that an earlier version wrote down end, too`() async throws {
        let test = try await TestOrganisation.withPeople()
        let policy = try await test.protect(["printBlocked": false], to: .group("staff"))
        var app = TestApp(test)
        try await app.register()
        try await app.checkIn()
        for flag in [true, false] {
            _ = try await change(policy, ["printBlocked": .bool(flag)], test)
            try await app.checkIn()
        }
        try await test.storage.write(TestOrganisation.tenant) { records in
            for var rules in try records.records(DeliveredRules.self) {
                rules.previous = nil
                try records.save(rules)
            }
        }
        try await app.checkIn()
        let all = try await test.storage.read(TestOrganisation.tenant) { try $0.records(DeliveredRules.self) }
            .sorted { $0.sequence < $1.sequence }
        #expect(all.map { $0.superseded == nil } == [false, false, true])
    }

    @Test func `what was delivered to an app that is gone ends with it, and so do the versions that it names`()
        async throws
    {
        var configuration = ServiceConfiguration()
        configuration.versionRetention = .seconds(200 * 86_400)
        let test = try await TestOrganisation.withPeople(configuration: configuration)
        let policy = try await test.protect(["printBlocked": false], to: .group("staff"))
        var app = TestApp(test, user: "ada", tag: "tag-ada")
        try await app.register()
        try await app.checkIn()
        let newest = try await change(policy, ["printBlocked": true], test)
        test.clock.advance(by: 60)
        try await test.service.devices.unregister(app.registrationID, by: app.caller)
        let closed = try await test.service.administration.registration(app.registrationID, as: test.owner).closed
        func delivered() async throws -> [DeliveredRules] {
            try await test.service.performMaintenance(of: TestOrganisation.tenant)
            return try await test.storage.read(TestOrganisation.tenant) { try $0.records(DeliveredRules.self) }
        }
        #expect(try await delivered().map(\.superseded) == [nil])
        test.clock.advance(by: 91 * 86_400)
        let ended = try await delivered()
        #expect(closed != nil && ended.map(\.superseded) == [closed] && ended.map(\.user) == ["oid-ada"])
        test.clock.advance(by: 110 * 86_400)
        #expect(try await delivered().isEmpty)
        let left = try await test.service.administration.history.versions(of: .policy, policy.id, as: test.owner)
        #expect(left.map(\.version) == [newest.version])
    }

    @Test func `two versions are compared, and one is put back as a new version`() async throws {
        let test = try await TestOrganisation.withPeople()
        let first = try await test.protect(["printBlocked": true], to: .group("staff"))
        var second = try await change(first, ["printBlocked": false, "description": "open"], test)
        second = try await test.service.administration.assignPolicy(
            second.id, to: [PolicyAssignment(.group("guests"))], as: test.owner)
        let comparison = try await test.service.administration.history.compareVersions(
            first.version, second.version, of: .policy, first.id, as: test.owner)
        #expect(
            comparison.changes.map(\.member) == [
                "assignments[group guests]", "assignments[group staff]", "description", "printBlocked",
            ])
        #expect(comparison.effects.contains { $0.from == .block && $0.to == .allow })
        let back = try await test.service.administration.history.putBackPolicy(
            first.id, version: first.version, ifVersion: second.version, as: test.owner)
        #expect(back.version != first.version && back.document == first.document)
        #expect(back.assignments.map(\.target) == [.group("staff")] && back.apps == first.apps)
        let stale = await failure {
            _ = try await test.service.administration.history.putBackPolicy(
                first.id, version: first.version, ifVersion: second.version, as: test.owner)
        }
        #expect(stale?.code == .preconditionFailed)
        // One that was removed is made again, with another id.
        try await test.service.administration.deletePolicy(first.id, ifVersion: nil, as: test.owner)
        let again = try await test.service.administration.history.putBackPolicy(
            first.id, version: first.version, ifVersion: nil, as: test.owner)
        #expect(again.id != first.id && again.document["printBlocked"] == true)
    }

    @Test func `secret values are kept as digests, and come back where the policy still has them`() async throws {
        let test = try await TestOrganisation()
        let document: JSONValue = [
            "displayName": "Server",
            "customSettings": [
                ["name": "server", "value": "one.example"], ["name": "apiToken", "value": "hunter2-secret"],
            ],
        ]
        let first = try await test.service.administration.createPolicy(
            .targetedManagedAppConfiguration, document: document, as: test.owner)
        let second = try await change(
            first,
            [
                "customSettings": [
                    ["name": "server", "value": "two.example"], ["name": "apiToken", "value": "hunter2-secret"],
                ]
            ], test)
        let content = try await test.service.administration.history.version(
            second.version, of: .policy, first.id, as: test.owner)
        #expect(content.changes.map(\.member) == ["customSettings[server]"])
        let texts = try await test.storage.read(TestOrganisation.tenant) { try $0.records(VersionDocument.self) }.map(
            \.text)
        let log = try await test.export().joined()
        for text in texts + [log] { #expect(!text.contains("hunter2")) }
        #expect(log.contains("one.example"), "the control: what is not secret is there")
        let back = try await test.service.administration.history.putBackPolicy(
            first.id, version: first.version, ifVersion: nil, as: test.owner)
        #expect(back.document["customSettings"] == first.document["customSettings"])
        _ = try await change(
            back, ["customSettings": [["name": "apiToken", "value": "another"]]], test)
        let lost = await failure {
            _ = try await test.service.administration.history.putBackPolicy(
                first.id, version: first.version, ifVersion: nil, as: test.owner)
        }
        #expect(lost?.code == .conflict && lost?.problems.first?.member == "customSettings[apiToken]")
    }

    @Test func `the rules of an app at any moment are those that were delivered and that it said it had`() async throws
    {
        var (test, app) = try await TestApp.enrolled()
        let start = test.clock.now
        let policy = try #require(
            try await test.service.administration.policies(of: [.iosManagedAppProtection], as: test.owner).first)
        test.clock.advance(by: 100)
        try await app.checkIn()
        test.clock.advance(by: 100)
        let changed = try await change(policy, ["printBlocked": true], test)
        test.clock.advance(by: 100)
        try await app.checkIn()
        test.clock.advance(by: 100)
        try await app.checkIn()
        func rules(_ seconds: TimeInterval) async throws -> RulesAtTime {
            try await test.service.administration.history.rules(
                ofRegistration: app.registrationID, at: start + seconds, as: test.owner)
        }
        #expect(try await rules(-1).inForce == nil)
        let first = try await rules(99)
        #expect(first.inForce == nil && first.underWay?.policies.map(\.version) == [policy.version])
        let second = try await rules(250)
        #expect(second.inForce?.policies.map(\.version) == [policy.version] && second.underWay == nil)
        #expect(second.inForce?.settings?["printBlocked"] == false)
        let third = try await rules(350)
        #expect(third.inForce?.policies.map(\.version) == [policy.version])
        #expect(third.underWay?.policies.map(\.version) == [changed.version])
        let fourth = try await rules(400)
        #expect(fourth.inForce?.settings?["printBlocked"] == true)
        #expect(fourth.inForce?.policies.first?.made?.author?.id == test.owner.id)
        // The policy's end and that of the registration change nothing of what was.
        try await test.service.administration.deletePolicy(policy.id, ifVersion: nil, as: test.owner)
        try await test.service.administration.forgetRegistration(app.registrationID, as: test.owner)
        #expect(try await rules(250) == second)
    }

    @Test func `versions of policies that a role does not cover do not exist for it`() async throws {
        let test = try await TestOrganisation.withPeople()
        let policy = try await test.protect(to: .group("staff"))
        let role = CustomRole(
            id: "west", displayName: "West", permissions: [.read, .writePolicies, .assignPolicies], members: ["w"],
            scopeTags: ["tag-west"])
        let limited = Administrator(
            tenant: TestOrganisation.tenant, id: "w", name: "w", roles: [], customRoles: [role])
        let error = await failure {
            _ = try await test.service.administration.history.versions(of: .policy, policy.id, as: limited)
        }
        #expect(error?.code == .notFound)
        try await test.service.administration.deletePolicy(policy.id, ifVersion: nil, as: test.owner)
        let removed = await failure {
            _ = try await test.service.administration.history.version(
                policy.version, of: .policy, policy.id, as: limited)
        }
        #expect(removed?.code == .notFound)
    }

    @Test func `the rules of an app do not name policies that a role does not cover, but say that there are some`()
        async throws
    {
        var (test, app) = try await TestApp.enrolled()
        let hidden = try #require(
            try await test.service.administration.policies(of: [.iosManagedAppProtection], as: test.owner).first)
        let mine = try await test.protect(["roleScopeTagIds": ["tag-west"]], name: "Mine", to: .group("staff"))
        try await app.checkIn()
        try await app.checkIn()
        let role = CustomRole(
            id: "west", displayName: "West", permissions: [.read], members: ["w"], scopeTags: ["tag-west"])
        let limited = Administrator(
            tenant: TestOrganisation.tenant, id: "w", name: "w", roles: [], customRoles: [role])
        func rules(_ administrator: Administrator) async throws -> RulesAtTime.Rules? {
            try await test.service.administration.history.rules(
                ofRegistration: app.registrationID, at: test.clock.now, as: administrator
            ).inForce
        }
        let all = try #require(try await rules(test.owner))
        #expect(Set(all.policies.map(\.id)) == [hidden.id, mine.id] && all.hidden == nil && all.settings != nil)
        let some = try #require(try await rules(limited))
        #expect(some.policies.map(\.id) == [mine.id] && some.hidden == 1 && some.settings == nil)
    }

    @Test func `an impact names other policies to those alone who may read them`() async throws {
        let test = try await TestOrganisation.withPeople()
        let other = try await test.protect(["pinRequired": true], name: "Other", to: .group("staff"))
        let mine = try await test.protect(
            ["pinRequired": false, "roleScopeTagIds": ["tag-west"]], name: "Mine", to: .group("staff"))
        var app = TestApp(test)
        try await app.register()
        let question = ImpactQuestion.policy(.update(mine.id, ["printBlocked": true]))
        func winners(_ tags: Set<String>?) async throws -> [Impact.Winner] {
            let role = CustomRole(
                id: "w", displayName: "W", permissions: [.read, .writePolicies], members: ["w"], scopeTags: tags)
            let author = Administrator(
                tenant: TestOrganisation.tenant, id: "w", name: "w", roles: [], customRoles: [role],
                call: CallFacts(hasFreshSignIn: true))
            return try await test.service.administration.impact(of: question, as: author).winners
        }
        let all = try await winners(nil)
        #expect(all.contains { ([$0.policy] + $0.others).contains(other.id) }, "the control")
        let some = try await winners(["tag-west"])
        #expect(!some.contains { ([$0.policy] + $0.others).contains(other.id) })
    }

    @Test func `an impact has the value of today beside the one that counts then`() async throws {
        let test = try await TestOrganisation.withPeople()
        _ = try await test.protect(["printBlocked": false, "pinRequired": true], name: "Other", to: .group("staff"))
        let mine = try await test.protect(
            ["printBlocked": false, "pinRequired": false], name: "Mine", to: .group("staff"))
        var app = TestApp(test)
        try await app.register()
        let question = ImpactQuestion.policy(.update(mine.id, ["printBlocked": true]))
        let winners = try await test.service.administration.impact(of: question, as: test.owner).winners
        let printing = try #require(winners.first { $0.setting == "printBlocked" })
        #expect(printing.present == false && printing.value == true && printing.policy == mine.id)
        let pin = try #require(winners.first { $0.setting == "pinRequired" })
        #expect(pin.present == true && pin.value == true && pin.others == [mine.id])
    }

    @Test func `a filter has versions, and what was there before versions were kept is the first`() async throws {
        let test = try await TestOrganisation.withPeople()
        let filter = AssignmentFilter(
            id: "F1", displayName: "New phones", rule: #"(app.osVersion -startsWith "18")"#, created: test.clock.now,
            modified: test.clock.now)
        // As a service before left it.
        try await test.storage.write(TestOrganisation.tenant) { try $0.save(filter) }
        var changed = filter
        changed.rule = #"(app.osVersion -startsWith "19")"#
        changed.modified += 5
        try await test.service.administration.saveResource(changed, isNew: false, as: test.owner)
        // What it says already is not written again.
        let records = try await test.records().count
        changed.modified += 5
        try await test.service.administration.saveResource(changed, isNew: false, as: test.owner)
        #expect(try await test.records().count == records)
        let versions = try await test.service.administration.history.versions(of: .filter, "f1", as: test.owner)
        #expect(versions.map(\.action) == ["filter.save", "known"] && versions.last?.author == nil)
        let first = try #require(versions.last).version
        test.clock.advance(by: 60)
        let back = try await test.service.administration.history.putBackFilter("F1", version: first, as: test.owner)
        #expect(back.rule == filter.rule && back.created == filter.created)
        test.clock.advance(by: 60)
        let again = try await test.service.administration.history.putBackFilter("F1", version: first, as: test.owner)
        #expect(again == back, "it is in force")
        // One that was removed goes on where it ended.
        try await test.service.administration.removeResource(AssignmentFilter.self, "F1", as: test.owner)
        test.clock.advance(by: 60)
        _ = try await test.service.administration.history.putBackFilter("F1", version: first, as: test.owner)
        let all = try await test.service.administration.history.versions(of: .filter, "f1", as: test.owner)
        #expect(all.map(\.number) == [5, 4, 3, 2, 1] && all[0].previous == all[1].version)
        #expect(all.map(\.action).prefix(2) == ["filter.save", "filter.remove"])
    }
}
