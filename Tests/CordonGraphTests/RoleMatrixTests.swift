import CordonPolicy
import CordonService
import Foundation
import HTTPTypes
import HummingbirdTesting
import Testing

@testable import CordonGraph
@testable import CordonServiceHTTP

/// Every Graph-shaped route with every role: what the role is not for is never done (SRV-OP-020).
@Suite(.timeLimit(.minutes(15))) struct RoleMatrixTests {
    /// What a caller must be allowed to do, written down once more, apart from the code under test.
    private static func needed(_ route: GraphRoute) -> Set<Permission> {
        let (name, last) = (route.name, route.pattern.last ?? "")
        if name.isEmpty || name == "me" || name == "$metadata" || name == "organization" || route.isAlwaysEmpty {
            return []
        }
        if name.hasPrefix("deviceManagement/auditEvents") { return [.readAudit] }
        if last == "exportDeviceAndAppManagementData" { return [.handlePersonalData] }
        if route.method == .get || last == "hasPayloadLinks" || name.hasSuffix("exportJobs") { return [.read] }
        if last.hasPrefix("wipeManagedApp") { return [.wipe] }
        if ["wipeAndBlockManagedApps", "unblockManagedApps", "revokeSignInSessions"].contains(last) {
            return [.blockUsers]
        }
        if name.contains("/operations/") { return [.cancelWipes] }
        if last == "managedAppLogCollectionRequests" { return [.collectLogs] }
        if last == "assign" || last == "targetApps" { return [.assignPolicies] }
        if name.contains("/apps") || name.contains("/assignments") { return [.writePolicies, .assignPolicies] }
        if name.hasPrefix("deviceAppManagement/managedAppRegistrations") { return [.forgetRegistrations] }
        if name.hasPrefix("deviceAppManagement/mobileApps") { return [.writePolicies] }
        if name.hasPrefix("deviceManagement/roleScopeTags") { return [.manageTenant] }
        if name.hasPrefix("deviceManagement/assignmentFilters") { return [.assignPolicies] }
        if name == "groups" { return [.writeDirectory] }
        return route.method == .delete ? [.deletePolicies] : [.writePolicies]
    }

    @Test func `no role does through any route what it is not for, and an owner may call every one`() async throws {
        let shape = try await RouteFixture()
        var refused = 0
        for route in shape.routes {
            let needed = Self.needed(route)
            for role in AdministratorRole.allCases.map(Optional.some) + [nil] {
                let permissions = role?.permissions ?? []
                let isAllowed = needed.isSubset(of: permissions)
                // Each change gets a service of its own.
                let fixture = isAllowed && route.method != .get ? try await RouteFixture() : shape
                let answer = try await fixture.call(route, as: role)
                let place: Comment = "\(route.method) \(route.name) as \(role?.rawValue ?? "nobody"): \(answer)"
                if isAllowed {
                    #expect(answer != 403 && answer != 401, place)
                } else if answer != 403 {
                    // What is there for no role is refused to the owner in the same way.
                    let owner = try await RouteFixture().call(route, as: .owner)
                    #expect((400..<500).contains(answer) && answer == owner, place)
                } else {
                    refused += 1
                }
            }
        }
        #expect(shape.routes.count > 100)
        #expect(refused > 300)
    }

    /// A service whose administrator has every permission by one role, which has a limit.
    private static func limited(
        scopeTags: Set<String>? = nil, people: Set<String>? = nil
    ) async throws -> RouteFixture {
        let role = CustomRole(
            id: "elsewhere", displayName: "Elsewhere", permissions: Set(Permission.allCases),
            members: ["user:oid-ada"], scopeTags: scopeTags, people: people)
        let fixture = try await RouteFixture()
        try await fixture.test.storage.write(TestService.tenant) { try $0.save(role) }
        return fixture
    }

    @Test func `a role about other people does nothing to anyone by any route, and opens no record of them`()
        async throws
    {
        let fixture = try await Self.limited(people: ["group-elsewhere"])
        // What people read in lists, and what is done with policies, is not limited by people.
        let open: Set<Permission> = [.read, .writePolicies, .deletePolicies, .assignPolicies]
        var refused = 0
        for route in fixture.routes {
            let needed = Self.needed(route)
            let isDone = route.name.hasPrefix("users/") && route.method != .get
            #expect(!isDone || !needed.isSubset(of: open), "say above what \(route.name) needs")
            guard !needed.isSubset(of: open) else { continue }
            let answer = try await fixture.call(route, as: nil)
            guard answer != 403 else {
                refused += 1
                continue
            }
            // What is there for no role is refused to the owner in the same way.
            let owner = try await RouteFixture().call(route, as: .owner)
            #expect((400..<500).contains(answer) && answer == owner, "\(route.method) \(route.name): \(answer)")
        }
        #expect(refused > 10)
    }

    @Test func `a role about other policies finds none of them by any route`() async throws {
        let fixture = try await Self.limited(scopeTags: ["elsewhere"])
        let collections = Set(PolicyKind.allCases.map(\.collection) + ["managedAppPolicies"])
        // No configuration takes settings of this kind: the answer is the same for every id.
        let constant: Set<String> = ["settings", "changeSettings"]
        var refused = 0
        for route in fixture.routes
        where route.pattern.count > 2 && collections.contains(route.pattern[1]) && route.pattern[2] == "*"
            && (route.method == .get || constant.isDisjoint(with: route.pattern))
        {
            let answer = try await fixture.call(route, as: nil)
            #expect((400..<500).contains(answer), "\(route.method) \(route.name): \(answer)")
            refused += 1
        }
        #expect(refused > 30)
    }

    @Test func `a token without the scope opens no route, whatever its roles`() async throws {
        let fixture = try await RouteFixture()
        for route in fixture.routes {
            #expect(try await fixture.call(route, as: .owner, scopes: "openid profile") == 403, "\(route.name)")
            guard route.access == .writeApps else { continue }
            #expect(
                try await fixture.call(route, as: .owner, scopes: "DeviceManagementApps.Read.All") == 403,
                "\(route.name)")
        }
    }

    @Test func `another organisation's token opens no route`() async throws {
        let fixture = try await RouteFixture()
        for route in fixture.routes {
            #expect(try await fixture.call(route, as: .owner, tenant: "fabrikam") == 401, "\(route.name)")
        }
    }
}

extension GraphRoute {
    /// Whether the route stands for something that this service never has, for any role.
    fileprivate var isAlwaysEmpty: Bool {
        let collections = [
            "windowsInformationProtectionPolicies", "mdmWindowsInformationProtectionPolicies",
            "windowsManagedAppProtections", "mobileAppConfigurations",
        ]
        return pattern.count > 1 && collections.contains(pattern[1]) || method == .post && name.hasSuffix("/settings")
            || name.hasSuffix("changeSettings") || name.hasSuffix("roleScopeTags/*/assignments")
            || name == "deviceAppManagement" || name == "deviceManagement"
            || name == "deviceAppManagement/managedAppStatuses"
            || name == "deviceAppManagement/managedAppStatuses/$count"
    }
}
