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
    }

    @Test func `a role about some policies moves no others by a filter or an app that they name`() async throws {
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
        let policy = try await test.protect()
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
        ]
        for (index, call) in moving.enumerated() {
            #expect(await failure(call)?.code == .forbidden, "call \(index)")
        }
        try await admin.saveResource(filter("Renamed", old), isNew: false, as: west)
        let used = await failure { try await admin.removeResource(AssignmentFilter.self, "f", as: west) }
        #expect(used?.code == .conflict && used?.place == nil)
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
