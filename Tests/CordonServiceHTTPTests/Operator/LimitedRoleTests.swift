import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonService
import CordonTestSupport
import Foundation
import HTTPTypes
import HummingbirdTesting
import Testing

@testable import CordonServiceHTTP

/// Every administration route beside Graph's, called by a person with every permission by a role about other people.
///
/// The routes are read from the router: one that is not among the open ones has to refuse, so that the author of a new route says
/// what it does to people.
@Suite(.timeLimit(.minutes(10))) struct LimitedRoleTests {
    /// What people read in lists, and what is done with policies, is not limited by people.
    private static let open: Set<String> = {
        var open: Set<String> = [
            "GET /admin/v1/allowedAccounts", "GET /admin/v1/changes", "GET /admin/v1/changes/*",
            "GET /admin/v1/commands", "GET /admin/v1/devices", "GET /admin/v1/directory/sources",
            "GET /admin/v1/documents", "GET /admin/v1/filters/matches", "GET /admin/v1/keys", "GET /admin/v1/logs",
            "GET /admin/v1/me", "GET /admin/v1/moving", "GET /admin/v1/people", "GET /admin/v1/policies/inForce",
            "GET /admin/v1/registrations/*/commands", "GET /admin/v1/registrations/*/rules",
            "GET /admin/v1/restoration", "GET /admin/v1/roles", "GET /admin/v1/settings", "GET /admin/v1/telemetry",
            "GET /admin/v1/users/*/workingTime", "GET /admin/v1/wipes", "GET /admin/v1/wipes/*",
            // There is no change: to know that takes no permission over anybody.
            "POST /admin/v1/changes/*/release", "POST /admin/v1/changes/*/stop",
            // The caller's own.
            "POST /admin/v1/reports/filters", "DELETE /admin/v1/reports/filters/*",
        ]
        for report in ["alerts", "attention", "drift", "expiring", "filters", "flagged", "summary", "versions"] {
            open.insert("GET /admin/v1/reports/\(report)")
        }
        for kind in ["filters", "policies"] {
            let path = "/admin/v1/\(kind)/*/versions"
            open.insert("GET \(path)")
            for end in ["", "/place", "/comparison"] { open.insert("GET \(path)/*\(end)") }
            open.insert("POST \(path)/*/putBack")
        }
        for list in [
            "Groups", "Groups/*", "ResourceTypes", "Schemas", "ServiceProviderConfig", "Users", "Users/*",
        ] { open.insert("GET /scim/v2/\(list)") }
        return open
    }()

    /// An enrolled app of a person whom the role is not about, with logs and a command that were asked for.
    private struct Stage {
        let test: TestService
        let registration: String
        let logs: String
        let command: String

        init() async throws {
            let fixture = try await RouteFixture()
            test = fixture.test
            registration = fixture.registration
            let admin = test.service.administration
            logs = try await admin.requestLogs(ofRegistration: fixture.registration, as: TestService.owner).id
            command = try await admin.requestCommand(
                .resetPIN, ofRegistration: fixture.registration, as: TestService.owner
            ).id
            let role = CustomRole(
                id: "elsewhere", displayName: "Elsewhere", permissions: Set(Permission.allCases),
                members: ["user:oid-ada"], people: ["group-elsewhere"])
            try await test.storage.write(TestService.tenant) { try $0.save(role) }
        }

        /// A path that leads to something.
        func path(_ pattern: String) -> String {
            var parts = pattern.split(separator: "/").map(String.init)
            for (index, part) in parts.enumerated() where part.hasPrefix("{") {
                parts[index] =
                    switch parts[index - 1] {
                    case "registrations": registration
                    case "logs": logs
                    case "commands": command
                    case "users", "Users": TestPerson.workerA.id
                    case "Groups": TestService.group
                    default: "1"
                    }
            }
            return "/" + parts.joined(separator: "/")
        }

        func body(of route: String) -> JSONValue? {
            guard route.hasPrefix("PATCH") else {
                return AttackedService.body(of: route.replacing(/\{[^}]*\}/, with: ":id"))
            }
            return [
                "schemas": ["urn:ietf:params:scim:api:messages:2.0:PatchOp"],
                "Operations": [["op": "replace", "path": "displayName", "value": "Another"]],
            ]
        }
    }

    @Test func `a role about other people opens no route that does something to anyone or tells their secrets`()
        async throws
    {
        let stage = try await Stage()
        let routes = stage.test.routes.filter { route in
            let path = route.split(separator: " ").last ?? ""
            return !route.hasPrefix("HEAD ") && !path.contains("**")
                && (path.hasPrefix("/admin/") || path.hasPrefix("/scim/") || path == "/cordon/v1/devices")
        }
        let plain = routes.map { route in
            route.split(separator: "/", omittingEmptySubsequences: false).map { $0.hasPrefix("{") ? "*" : String($0) }
                .joined(separator: "/")
        }
        #expect(Self.open.subtracting(plain).sorted() == [])
        let claims = TestIssuer.administrationClaims(roles: [], at: stage.test.clock.now)
        let refused = try await stage.test.test { client in
            var refused = 0
            for (route, plain) in zip(routes, plain) where !Self.open.contains(plain) {
                let halves = route.split(separator: " ").map(String.init)
                let method = try #require(HTTPRequest.Method(halves[0]))
                let answer = try await client.administer(
                    method, stage.path(halves[1]), stage.body(of: route), claims: claims)
                #expect(answer.status == .forbidden, "\(route): \(answer.status) \(answer.json.text())")
                refused += 1
            }
            return refused
        }
        #expect(refused > 20)
        // The control: an owner does the same.
        let data = try await stage.test.test { client in
            try await client.administer(.get, stage.path("/admin/v1/users/{id}/data")).status
        }
        #expect(data == .ok)
    }
}
