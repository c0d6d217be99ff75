import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonService
import Foundation
import Testing

/// SRV-OP-020: roles that an organisation made, and scope tags that limit what they show.
@Suite struct CustomRoleTests {
    private let west = CustomRole(
        id: "west", displayName: "West", permissions: [.read, .writePolicies, .deletePolicies, .assignPolicies],
        members: ["group-west"], scopeTags: ["tag-west"])

    private func holder(_ roles: CustomRole..., builtIn: Set<AdministratorRole> = []) -> Administrator {
        Administrator(tenant: TestOrganisation.tenant, id: "ada", name: "Ada", roles: builtIn, customRoles: roles)
    }

    @Test func `a role is found by any name that its holder goes by, and only then`() async throws {
        let test = try await TestOrganisation()
        try await test.service.administration.saveResource(west, isNew: true, as: test.owner)
        let found = try await test.service.administration.customRoles(
            heldBy: ["group-west", "other"], of: TestOrganisation.tenant)
        #expect(found == [west])
        #expect(
            try await test.service.administration.customRoles(heldBy: ["other"], of: TestOrganisation.tenant).isEmpty)
        #expect(
            try await test.service.administration.customRoles(heldBy: ["group-west"], of: TenantID("fabrikam")).isEmpty)
    }

    @Test func `a policy outside the scope does not exist, whatever is tried with it`() async throws {
        let test = try await TestOrganisation.withPeople()
        let other = try await test.protect(to: .allLicensedUsers)
        let mine = try await test.protect(["roleScopeTagIds": ["tag-west"]], name: "Mine", to: .allLicensedUsers)
        let admin = holder(west)
        let service = test.service
        #expect(
            try await service.administration.policies(of: Set(PolicyKind.allCases), as: admin).map(\.id) == [mine.id])
        #expect(
            try await service.administration.intendedPolicies(
                forUser: "oid-ada", bundleID: TestOrganisation.app, as: admin
            )
            .map(\.id)
                == [mine.id])
        let calls: [() async throws -> Void] = [
            { _ = try await service.administration.policy(other.id, as: admin) },
            { _ = try await service.administration.updatePolicy(other.id, changes: [:], ifVersion: "none", as: admin) },
            { _ = try await service.administration.assignPolicy(other.id, to: [], as: admin) },
            { _ = try await service.administration.targetApps([], group: nil, ofPolicy: other.id, as: admin) },
            { try await service.administration.deletePolicy(other.id, ifVersion: "none", as: admin) },
        ]
        for call in calls { #expect(await failure(call)?.code == .notFound) }
        #expect(try await service.administration.policy(other.id, as: test.owner) == other)
        _ = try await service.administration.updatePolicy(
            mine.id, changes: ["printBlocked": true], ifVersion: nil, as: admin)
        try await service.administration.deletePolicy(mine.id, ifVersion: nil, as: admin)
    }

    @Test func `a new policy gets the scope of its author, and none leaves it`() async throws {
        let test = try await TestOrganisation.withPeople()
        let admin = holder(west)
        let made = try await test.service.administration.createPolicy(
            .iosManagedAppProtection, document: ["displayName": "New"], as: admin)
        #expect(made.document["roleScopeTagIds"] == ["tag-west"])
        let away: JSONValue = ["roleScopeTagIds": ["tag-west", "tag-east"]]
        #expect(
            await failure {
                _ = try await test.service.administration.updatePolicy(
                    made.id, changes: away, ifVersion: nil, as: admin)
            }?
            .code == .forbidden)
        #expect(
            await failure {
                _ = try await test.service.administration.createPolicy(
                    .iosManagedAppProtection, document: ["displayName": "Pushed", "roleScopeTagIds": ["0"]], as: admin)
            }?.code == .forbidden)
        #expect(try await test.service.administration.policy(made.id, as: admin) == made)
    }

    @Test func `to see is not to write: each permission has its own scope`() async throws {
        let test = try await TestOrganisation.withPeople()
        let other = try await test.protect(to: .allLicensedUsers)
        let admin = holder(west, builtIn: [.reader])
        #expect(try await test.service.administration.policy(other.id, as: admin) == other)
        #expect(
            await failure {
                _ = try await test.service.administration.updatePolicy(
                    other.id, changes: [:], ifVersion: nil, as: admin)
            }?
            .code == .forbidden)
    }

    @Test func `an author who may not assign does not widen a policy, and may write back what it has`() async throws {
        let test = try await TestOrganisation.withPeople()
        let policy = try await test.protect(to: .allLicensedUsers)
        var role = west
        (role.permissions, role.scopeTags) = ([.read, .writePolicies], nil)
        let writer = holder(role)
        let wider: [JSONValue] = [
            ["appGroupType": "allApps"], ["appGroupType": "allMicrosoftApps", "printBlocked": true],
            ["targetedAppManagementLevels": "unmanaged"], ["apps": []], ["assignments": []],
        ]
        for change in wider {
            let error = await failure {
                _ = try await test.service.administration.updatePolicy(
                    policy.id, changes: change, ifVersion: nil, as: writer)
            }
            #expect(error?.code == .forbidden, "\(change)")
        }
        #expect(
            await failure {
                _ = try await test.service.administration.createPolicy(
                    .iosManagedAppProtection, document: ["displayName": "N", "appGroupType": "allApps"], as: writer)
            }?.code == .forbidden)
        #expect(
            await failure {
                _ = try await test.service.administration.createPolicy(
                    .defaultManagedAppProtection, document: ["displayName": "Everybody"], as: writer)
            }?.code == .forbidden)
        #expect(try await test.service.administration.policy(policy.id, as: test.owner) == policy)
        let same: JSONValue = [
            "appGroupType": "selectedPublicApps", "targetedAppManagementLevels": "Unspecified", "printBlocked": true,
        ]
        let written = try await test.service.administration.updatePolicy(
            policy.id, changes: same, ifVersion: nil, as: writer)
        #expect(written.document["printBlocked"] == true && written.appGroup == .selectedPublicApps)
        let made = try await test.service.administration.createPolicy(
            .iosManagedAppProtection, document: ["displayName": "N", "appGroupType": "selectedPublicApps"], as: writer)
        #expect(!made.isAssigned)
    }

    @Test func `a role without scope tags is about every policy, and has no more than its permissions`() async throws {
        let test = try await TestOrganisation.withPeople()
        let policy = try await test.protect(to: .allLicensedUsers)
        var role = west
        role.scopeTags = nil
        role.permissions = [.read, .wipe]
        #expect(try await test.service.administration.policy(policy.id, as: holder(role)) == policy)
        #expect(
            await failure {
                try await test.service.administration.deletePolicy(policy.id, ifVersion: nil, as: holder(role))
            }?.code
                == .forbidden)
        #expect(
            await failure { _ = try await test.service.administration.auditRecords(.init(), as: holder(role)) }?.code
                == .forbidden)
    }

    @Test func `only an owner makes roles, and not one that is built in, without members or without permissions`()
        async throws
    {
        let test = try await TestOrganisation()
        let writer = test.administrator(.policyAdministrator, .deviceAdministrator, .directoryAdministrator)
        #expect(
            await failure { try await test.service.administration.saveResource(west, isNew: true, as: writer) }?.code
                == .forbidden)
        let wrong = [
            CustomRole(id: "owner", displayName: "X", permissions: [.read], members: ["g"]),
            CustomRole(id: "x", displayName: "X", permissions: [], members: ["g"]),
            CustomRole(id: "x", displayName: "X", permissions: [.read], members: []),
            CustomRole(id: "x", displayName: "X", permissions: [.read], members: ["g"], scopeTags: []),
            CustomRole(id: "x", displayName: "", permissions: [.read], members: ["g"]),
        ]
        for role in wrong {
            let code = await failure {
                try await test.service.administration.saveResource(role, isNew: true, as: test.owner)
            }?.code
            #expect(code == .invalid || code == .conflict, "\(role)")
        }
    }

    @Test func `a role that names groups of people reaches no others`() async throws {
        let test = try await TestOrganisation.withPeople()
        try await test.protect(to: .group("staff"))
        var (ada, ben) = (TestApp(test), TestApp(test, user: "ben", tag: "tag-2"))
        try await ada.register()
        try await ben.register()
        let admin = test.service.administration
        let desk = CustomRole(
            id: "desk", displayName: "Desk",
            permissions: [
                .read, .wipe, .blockUsers, .collectLogs, .commandApps, .forgetRegistrations, .handlePersonalData,
            ],
            members: ["desk"], people: ["Writers"])
        let holder = Administrator(
            tenant: TestOrganisation.tenant, id: "holder", name: "Holder", roles: [], customRoles: [desk],
            call: CallFacts(hasFreshSignIn: true))
        let calls: [@Sendable (String, String, String) async throws -> Void] = [
            { person, _, tag in _ = try await admin.requestWipe(ofUser: person, deviceTag: tag, as: holder) },
            { _, registration, _ in _ = try await admin.requestLogs(ofRegistration: registration, as: holder) },
            { _, registration, _ in
                _ = try await admin.requestCommand(.resetPIN, ofRegistration: registration, as: holder)
            },
            { person, _, _ in _ = try await admin.personalData.exportUser(person, as: holder) },
            { person, _, _ in _ = try await admin.revokeSessions(ofUser: person, as: holder) },
            { person, _, _ in _ = try await admin.impact(of: .wipe(person, deviceTag: nil), as: holder) },
            { person, _, _ in try await admin.blockUser(person, as: holder) },
            { _, registration, _ in try await admin.forgetRegistration(registration, as: holder) },
        ]
        for (index, call) in calls.enumerated() {
            let other = await failure { try await call("oid-ben", ben.registrationID, "tag-2") }
            #expect(other?.code == .forbidden, "call \(index)")
            let own = await failure { try await call("oid-ada", ada.registrationID, "tag-1") }
            #expect(own == nil, "call \(index)")
        }
        // Whom a policy reaches is not said by people, so such a role lets none remove data.
        var author = holder
        author.roles = [.policyAdministrator]
        let writer = author
        let wipe = await failure {
            _ = try await admin.createPolicy(
                .defaultManagedAppProtection, document: ["displayName": "D", "minimumWipeOsVersion": "99"], as: writer)
        }
        #expect(wipe?.code == .forbidden)
    }

    @Test func `equal roles have equal bytes, in whatever order their sets were filled`() throws {
        func role(_ names: [String], _ room: Int) throws -> Data {
            var (members, permissions) = (Set<String>(minimumCapacity: room), Set<Permission>(minimumCapacity: room))
            for name in names { members.insert(name) }
            for permission in room > 100 ? Permission.allCases.reversed() : Permission.allCases {
                permissions.insert(permission)
            }
            return try MessageCoding.encode(
                CustomRole(id: "a", displayName: "A", permissions: permissions, members: members, scopeTags: members))
        }
        let names = (0..<40).map { "group-\($0)" }
        #expect(try role(names, 1) == role(names.reversed(), 500))
    }
}
