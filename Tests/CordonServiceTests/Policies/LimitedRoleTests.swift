import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonTestSupport
import Foundation
import Testing

@testable import CordonService

/// What a role about some people or some policies does not reach.
@Suite struct LimitedRoleTests {
    private static let wipe: JSONValue = ["minimumWipeOsVersion": "99"]

    /// A person who has a role that is stored, and built-in ones besides.
    private func holder(
        of role: CustomRole, and builtIn: Set<AdministratorRole> = [], in test: TestOrganisation
    ) async throws -> Administrator {
        try await test.storage.write(TestOrganisation.tenant) { try $0.save(role) }
        return Administrator(
            tenant: TestOrganisation.tenant, id: "holder", name: "Holder", roles: builtIn, customRoles: [role],
            call: CallFacts(hasFreshSignIn: true))
    }

    private func role(
        _ permissions: Set<Permission>, scopeTags: Set<String>? = nil, people: Set<String>? = nil
    ) -> CustomRole {
        CustomRole(
            id: "limited", displayName: "Limited", permissions: permissions, members: ["user:holder"],
            scopeTags: scopeTags, people: people)
    }

    private func configuration(wipeBudget: Int) -> ServiceConfiguration {
        var configuration = ServiceConfiguration()
        (configuration.wipeBudget, configuration.impactLimit) = (wipeBudget, 100)
        return configuration
    }

    @Test func `a role about some people ends no one else's sessions`() async throws {
        let test = try await TestOrganisation.withPeople()
        let desk = try await holder(of: role([.read, .blockUsers], people: ["Writers"]), in: test)
        let admin = test.service.administration
        for name in ["oid-ben", "ben@contoso.example"] {
            #expect(
                await failure { _ = try await admin.revokeSessions(ofUser: name, as: desk) }?.code == .forbidden)
        }
        _ = try await admin.revokeSessions(ofUser: "oid-ada", as: desk)
        let revoked = try await test.service.provisioning.sessionRevocations(of: TestOrganisation.tenant)
        #expect(Array(revoked.keys) == ["oid-ada"])
    }

    @Test func `what concerns everybody at once is not done by a role about some people`() async throws {
        let test = try await TestOrganisation.withPeople()
        let desk = try await holder(of: role(Set(Permission.allCases), people: ["writers"]), in: test)
        let (admin, directory) = (test.service.administration, test.service.provisioning)
        let calls: [@Sendable () async throws -> Void] = [
            // Into the group that the role is about, and so under it.
            {
                try await directory.changeMembers(
                    ofGroup: "writers", adding: [.user("oid-ben")], removing: [], as: desk)
            },
            { try await directory.saveGroup(DirectoryGroup(id: "writers", displayName: "W"), as: desk) },
            { try await directory.removeUser("oid-ben", as: desk) },
            { _ = try await admin.registerDevice("a.b.c", name: nil, as: desk) },
            { try await admin.releaseDevice("ward-3", as: desk) },
            { _ = try await admin.auditRecords(.init(), as: desk) },
            { _ = try await admin.exportAudit(as: desk) },
            { try await admin.setMoving(true, as: desk) },
            { try await admin.saveResource(ScopeTag(id: "t", displayName: "T"), isNew: true, as: desk) },
        ]
        for (index, call) in calls.enumerated() {
            #expect(await failure(call)?.code == .forbidden, "call \(index)")
        }
        #expect(try await admin.groups(ofUser: "oid-ben", as: test.owner).map(\.id) == ["staff"])
        // Nor what tells of every policy, or gives any permission, by a role about some.
        let author = try await holder(of: role(Set(Permission.allCases), scopeTags: ["west"]), in: test)
        #expect(await failure { _ = try await admin.auditRecords(.init(), as: author) }?.code == .forbidden)
        #expect(
            await failure {
                try await admin.saveResource(ScopeTag(id: "t", displayName: "T"), isNew: true, as: author)
            }?.code == .forbidden)
        try await directory.saveGroup(DirectoryGroup(id: "new", displayName: "New"), as: author)
    }

    @Test func `a change of policies that a role is not about does not exist for its holder`() async throws {
        let (test, policy) = try await DestructiveChangeTests.staffed(3, configuration: configuration(wipeBudget: 2))
        let admin = test.service.administration
        let id = try #require(
            await failure {
                _ = try await admin.updatePolicy(policy.id, changes: Self.wipe, ifVersion: nil, as: test.owner)
            }?.place)
        let west = try await holder(of: role([.read, .approve], scopeTags: ["west"]), in: test)
        func isHidden() async throws {
            #expect(try await admin.approvals.changes(as: west) == [])
            #expect(await failure { _ = try await admin.approvals.change(id, as: west) }?.code == .notFound)
            #expect(await failure { _ = try await admin.approvals.release(id, as: west) }?.code == .notFound)
            #expect(await failure { _ = try await admin.approvals.stop(id, as: west) }?.code == .notFound)
            #expect(try await admin.alerts(as: west) == [])
            #expect(try await admin.attention(as: west).alerts == 0)
        }
        try await isHidden()
        #expect(try await admin.attention(as: test.owner).alerts == 1)
        // As an earlier version kept it.
        try await test.storage.write(TestOrganisation.tenant) { records in
            guard var old = try records.record(WaitingChange.self, id) else { return }
            #expect(old.scopeTags == [["0"]])
            old.scopeTags = nil
            try records.save(old)
        }
        try await isHidden()
        // Who sees the policy and may approve others alone reads the change and releases nothing.
        var reader = west
        reader.roles = [.reader]
        let limited = reader
        #expect(try await admin.approvals.changes(as: limited).map(\.id) == [id])
        #expect(await failure { _ = try await admin.approvals.release(id, as: limited) }?.code == .forbidden)
        let own = try await holder(of: role([.read, .approve], scopeTags: ["0"]), in: test)
        #expect(try await admin.approvals.release(id, as: own).state == .released)
    }

    @Test func `a role about some people releases what is asked about them alone`() async throws {
        let test = try await TestOrganisation.withPeople(configuration: configuration(wipeBudget: 0))
        let policy = try await test.protect(to: .group("staff"))
        var (ada, ben) = (TestApp(test), TestApp(test, user: "ben", tag: "tag-2"))
        try await ada.register()
        try await ben.register()
        let (admin, desk) = (test.service.administration, test.administrator(.deviceAdministrator))
        func waiting(_ user: String, _ tag: String) async throws -> String {
            try #require(
                await failure { _ = try await admin.requestWipe(ofUser: user, deviceTag: tag, as: desk) }?.place)
        }
        let (own, other) = (try await waiting("oid-ada", "tag-1"), try await waiting("oid-ben", "tag-2"))
        let ofPolicy = try #require(
            await failure {
                _ = try await admin.updatePolicy(policy.id, changes: Self.wipe, ifVersion: nil, as: test.owner)
            }?.place)
        let granted = CustomRole(id: "g", displayName: "G", permissions: [.approve], members: ["user:x"])
        let ofRole = try #require(
            await failure { try await admin.saveResource(granted, isNew: true, as: test.owner) }?.place)
        let approver = try await holder(of: role([.read, .approve], people: ["writers"]), in: test)
        for id in [other, ofPolicy, ofRole] {
            #expect(await failure { _ = try await admin.approvals.release(id, as: approver) }?.code == .forbidden)
        }
        #expect(try await admin.approvals.release(own, as: approver).state == .released)
        // A role about some policies gives none.
        let author = try await holder(of: role([.read, .approve], scopeTags: ["0"]), in: test)
        #expect(await failure { _ = try await admin.approvals.release(ofRole, as: author) }?.code == .forbidden)
        // Nor about a person: people have no tags.
        #expect(await failure { _ = try await admin.approvals.release(other, as: author) }?.code == .forbidden)
        #expect(try await admin.approvals.release(ofPolicy, as: author).state == .released)
    }

    @Test func `a limited role stops what it is about, and what its holder asked for`() async throws {
        let test = try await TestOrganisation.withPeople(configuration: configuration(wipeBudget: 0))
        try await test.protect(to: .group("staff"))
        var (ada, ben) = (TestApp(test), TestApp(test, user: "ben", tag: "tag-2"))
        try await ada.register()
        try await ben.register()
        let (admin, desk) = (test.service.administration, test.administrator(.deviceAdministrator))
        func waiting(_ user: String, _ tag: String, by administrator: Administrator) async throws -> String {
            try #require(
                await failure {
                    _ = try await admin.requestWipe(ofUser: user, deviceTag: tag, as: administrator)
                }?.place)
        }
        let ofAda = try await waiting("oid-ada", "tag-1", by: desk)
        let ofBen = try await waiting("oid-ben", "tag-2", by: desk)
        let granted = CustomRole(id: "g", displayName: "G", permissions: [.approve], members: ["user:x"])
        let ofRole = try #require(
            await failure { try await admin.saveResource(granted, isNew: true, as: test.owner) }?.place)
        let tagged = try await holder(of: role([.read, .wipe], scopeTags: ["0"]), in: test)
        for id in [ofAda, ofBen, ofRole] {
            #expect(await failure { _ = try await admin.approvals.stop(id, as: tagged) }?.code == .forbidden)
        }
        let own = try await waiting("oid-ben", "tag-2", by: tagged)
        #expect(try await admin.approvals.stop(own, as: tagged).state == .stopped)
        let ofWriters = try await holder(of: role([.read], people: ["writers"]), in: test)
        for id in [ofBen, ofRole] {
            #expect(await failure { _ = try await admin.approvals.stop(id, as: ofWriters) }?.code == .forbidden)
        }
        #expect(try await admin.approvals.stop(ofAda, as: ofWriters).state == .stopped)
        let reader = test.administrator(.reader)
        for id in [ofBen, ofRole] { #expect(try await admin.approvals.stop(id, as: reader).state == .stopped) }
    }

    @Test func `a change that came to be about other policies waits anew, and no earlier release is good for them`()
        async throws
    {
        let test = try await TestOrganisation.withPeople()
        let (review, owner) = (test.service.administration.review, test.owner)
        func wait(_ tags: [[String]]?) async throws -> String? {
            try await review.wait(
                for: "digest", "filter.save", of: "filter/f", .nobody, about: tags, by: owner
            ).place
        }
        let first = try #require(try await wait([["0"]]))
        #expect(try await wait([["0"]]) == first)
        let second = try #require(try await wait([["0"], ["west"]]))
        #expect(second != first)
        #expect(try await wait([["west"], ["0"]]) == second)
        let approver = try await holder(of: role([.read, .approve], scopeTags: ["0"]), in: test)
        let approvals = test.service.administration.approvals
        #expect(await failure { _ = try await approvals.release(second, as: approver) }?.code == .notFound)
        _ = try await approvals.release(first, as: approver)
        #expect(try await review.released("digest", .nobody, about: [["0"]], by: owner)?.id == first)
        #expect(try await review.released("digest", .nobody, about: [["0"], ["west"]], by: owner) == nil)
        // The same policies are told in the same order.
        var (west, east) = (try await test.protect(), try await test.protect())
        west.document = ["roleScopeTagIds": ["west", "north"]]
        east.document = ["roleScopeTagIds": ["east"]]
        let known = [["east"], ["north", "west"]]
        #expect(
            ConcernedPolicies.tags(of: [west, east, west]) == known
                && ConcernedPolicies.tags(of: [east, west]) == known)
        #expect(ConcernedPolicies.tags(of: []) == nil)
    }

    @Test func `alerts about policies are for those who see them, new ones and those by a filter included`()
        async throws
    {
        let test = try await TestOrganisation.withPeople()
        let (admin, now) = (test.service.administration, test.clock.now)
        let west = try await holder(of: role([.read], scopeTags: ["west"]), in: test)
        let own = try await holder(of: role([.read], scopeTags: ["0"]), in: test)
        func filter(_ rule: String) -> AssignmentFilter {
            AssignmentFilter(id: "f", displayName: "F", rule: rule, created: now, modified: now)
        }
        try await admin.saveResource(filter("(app.osVersion -ge \"17\")"), isNew: true, as: test.owner)
        let target: JSONValue = [
            "@odata.type": "#microsoft.graph.groupAssignmentTarget", "groupId": "staff",
            "deviceAndAppManagementAssignmentFilterId": "f", "deviceAndAppManagementAssignmentFilterType": "include",
        ]
        let policy = try await admin.createPolicy(
            .iosManagedAppProtection,
            document: [
                "displayName": "New", "minimumWipeOsVersion": "99",
                "apps": [
                    [
                        "mobileAppIdentifier": [
                            "@odata.type": "#microsoft.graph.iosMobileAppIdentifier",
                            "bundleId": .string(TestOrganisation.app),
                        ]
                    ]
                ],
                "assignments": [["target": target]],
            ], as: test.owner)
        try await admin.saveResource(filter("(app.osVersion -ge \"18\")"), isNew: false, as: test.owner)
        let alerts = try await admin.alerts(as: test.owner)
        #expect(Set(alerts.map(\.target)) == ["policy/iosManagedAppProtection", "filter/f"])
        #expect(try await admin.alerts(as: own) == alerts)
        #expect(try await admin.alerts(as: west) == [])
        // Also once the policy is gone. What an earlier version kept says nothing of it, and is for those who see every policy.
        try await admin.deletePolicy(policy.id, ifVersion: nil, as: test.owner)
        #expect(try await admin.alerts(as: own).filter { $0.target == "filter/f" }.count == 1)
        let older = try alerts.map { alert in
            var members = try JSONValue(parsing: MessageCoding.encode(alert)).object ?? [:]
            let tags: JSONValue? = members.removeValue(forKey: "scopeTags")
            #expect(tags == [["0"]])
            return try MessageCoding.decode(
                OperatorAlert.self, from: Data(JSONValue.object(members).text().utf8))
        }
        try await test.storage.write(TestOrganisation.tenant) { records in
            for alert in older { try records.save(alert) }
        }
        for limited in [own, west] { #expect(try await admin.alerts(as: limited) == []) }
        #expect(try await admin.alerts(as: test.owner).count >= 2)
    }

    @Test(arguments: [[:], Self.wipe])
    func `a role about some policies moves no others by a filter or an app that they name`(
        settings: JSONValue
    ) async throws {
        let test = try await TestOrganisation.withPeople()
        let admin = test.service.administration
        let now = test.clock.now
        func filter(_ name: String, _ rule: String) -> AssignmentFilter {
            AssignmentFilter(id: "f", displayName: name, rule: rule, created: now, modified: now)
        }
        let (old, new) = ("(app.osVersion -ge \"17\")", "(app.osVersion -ge \"99\")")
        try await admin.saveResource(filter("F", old), isNew: true, as: test.owner)
        let app = CatalogueApp(bundleID: TestOrganisation.app, displayName: "Notes", groups: [.allMicrosoftApps])
        try await admin.saveResource(app, isNew: true, as: test.owner)
        let policy = try await test.protect(settings.object ?? [:])
        _ = try await admin.assignPolicy(
            policy.id, to: [.init(.group("staff"), filterID: "f", filterMode: .include)], as: test.owner)
        _ = try await admin.targetApps([], group: .allMicrosoftApps, ofPolicy: policy.id, as: test.owner)
        let west = try await holder(
            of: role([.read, .writePolicies, .assignPolicies], scopeTags: ["west"]), in: test)
        let moving: [() async throws -> Void] = [
            { try await admin.saveResource(filter("F", new), isNew: false, as: west) },
            {
                try await admin.saveResource(
                    CatalogueApp(bundleID: TestOrganisation.app, displayName: "Notes"), isNew: false, as: west)
            },
            {
                try await admin.saveResource(
                    CatalogueApp(bundleID: "com.example.b", displayName: "B", groups: [.allMicrosoftApps]),
                    isNew: true, as: west)
            },
            { try await admin.removeResource(CatalogueApp.self, TestOrganisation.app, as: west) },
            // Nor is told what that would do.
            { _ = try await admin.impact(of: .filter(filter("F", new)), as: west) },
        ]
        for (index, call) in moving.enumerated() {
            let refused = await failure(call)
            #expect(refused?.code == .forbidden && refused?.problems == [], "call \(index)")
        }
        // What moves no policy, as one who may not wipe does it: with a limit and without.
        for (name, author) in [("Limited", west), ("Unlimited", test.administrator(.policyAdministrator))] {
            let impact = try await admin.impact(of: .filter(filter(name, old)), as: author)
            #expect(impact.wipes == [] && !impact.needsWipePermission && impact.winners == [])
            try await admin.saveResource(filter(name, old), isNew: false, as: author)
            var named = app
            named.displayName = name
            try await admin.saveResource(named, isNew: false, as: author)
            let other = CatalogueApp(bundleID: "com.example.\(name)", displayName: name)
            try await admin.saveResource(other, isNew: true, as: author)
            try await admin.removeResource(CatalogueApp.self, other.id, as: author)
        }
        let used = await failure { try await admin.removeResource(AssignmentFilter.self, "f", as: west) }
        #expect(used?.code == .conflict && used?.place == nil)
    }

    @Test func `a role that is made or removed leaves whom policies reach as it is`() async throws {
        let test = try await TestOrganisation()
        func revision() async throws -> Int64 {
            try await test.storage.read(TestOrganisation.tenant) { try $0.settings().targetingRevision }
        }
        let before = try await revision()
        try await test.service.administration.saveResource(role([.read]), isNew: true, as: test.owner)
        try await test.service.administration.removeResource(CustomRole.self, "limited", as: test.owner)
        #expect(try await revision() == before)
    }

    @Test func `to widen the limit of a role that releases changes takes a second person`() {
        let before = role([.approve], scopeTags: ["west"], people: ["writers"])
        #expect(role([.approve], scopeTags: ["west", "east"], people: ["writers"]).grantsMore(than: before))
        #expect(role([.approve], scopeTags: ["west"], people: ["staff"]).grantsMore(than: before))
        #expect(role([.approve], scopeTags: ["west"]).grantsMore(than: before))
        #expect(!role([.read], scopeTags: ["east"]).grantsMore(than: before))
        #expect(!before.grantsMore(than: role([.approve])))
    }
}
