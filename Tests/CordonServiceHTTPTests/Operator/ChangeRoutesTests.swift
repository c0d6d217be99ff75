import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonService
import CordonTestSupport
import Foundation
import HTTPTypes
import HummingbirdTesting
import Testing

@testable import CordonGraph
@testable import CordonServiceHTTP

/// Versions, impact, destructive changes and approval over HTTP.
@Suite struct ChangeRoutesTests {
    private static let policies = "/v1.0/deviceAppManagement/iosManagedAppProtections"
    private static let wipe: JSONValue = ["minimumWipeOsVersion": "99"]

    private func claims(
        _ service: TestService, _ id: String = "oid-ada", age: Int64 = 0, _ roles: JSONValue = ["owner"]
    ) -> [String: JSONValue] {
        var claims = TestIssuer.administrationClaims(roles: [], at: service.clock.now)
        claims["roles"] = roles
        claims["oid"] = .string(id)
        claims["auth_time"] = .integer(Int64(service.clock.now.timeIntervalSince1970) - age)
        return claims
    }

    private static func small() -> ServiceConfiguration {
        var configuration = ServiceConfiguration()
        (configuration.wipeBudget, configuration.impactLimit) = (0, 0)
        return configuration
    }

    @Test func `the number of an app that comes into a set is told before, with a token for it`() async throws {
        var configuration = ServiceConfiguration()
        configuration.impactLimit = 0
        let service = try await TestService(configuration: configuration)
        _ = try await service.publishPolicy()
        let admin = service.service.administration
        let deadly = try await admin.createPolicy(
            .iosManagedAppProtection, document: ["displayName": "Deadly", "minimumWipeOsVersion": "99"],
            as: TestService.owner)
        _ = try await admin.targetApps([], group: .allMicrosoftApps, ofPolicy: deadly.id, as: TestService.owner)
        _ = try await admin.assignPolicy(
            deadly.id, to: [PolicyAssignment(.group(TestService.group))], as: TestService.owner)
        try await service.test { client in
            _ = try await client.register(TestDevice())
            let path = "/beta/deviceAppManagement/mobileApps"
            let body: JSONValue = [
                "@odata.type": "#microsoft.graph.managedIOSLobApp", "displayName": "Notes",
                "bundleId": .string(TestDevice.bundleID), "cordonAppGroups": ["allMicrosoftApps"],
            ]
            let unsaid = try await client.administer(.post, path, body, claims: claims(service))
            #expect(unsaid.status == .conflict)
            let question: JSONValue = ["app": .string(TestDevice.bundleID), "cordonAppGroups": ["allMicrosoftApps"]]
            let impact = try await client.administer(.post, "/admin/v1/impact", question, claims: claims(service))
            #expect(impact.status == .ok && impact.json["losing"]?["people"] == 1)
            let token = try #require(impact.json["token"]?.string)
            let made = try await client.administer(
                .post, path, body, claims: claims(service), headers: [.impactToken: token])
            #expect(made.status == .created)
            let without: JSONValue = ["app": .string(TestDevice.bundleID)]
            #expect(
                try await client.administer(.post, "/admin/v1/impact", without, claims: claims(service)).status
                    == .badRequest)
        }
    }

    @Test func `a policy that wipes asks for a fresh sign-in through Graph, and then for its number`() async throws {
        var configuration = ServiceConfiguration()
        configuration.impactLimit = 0
        let service = try await TestService(configuration: configuration)
        let policy = try await service.publishPolicy()
        try await service.test { client in
            _ = try await client.register(TestDevice())
            let path = "\(Self.policies)/\(policy.id)"
            let author = claims(service, "oid-author", ["policyAdministrator"])
            let forbidden = try await client.administer(.patch, path, Self.wipe, claims: author)
            #expect(forbidden.status == .forbidden)
            let stale = try await client.administer(.patch, path, Self.wipe, claims: claims(service, age: 1_000))
            #expect(stale.status == .unauthorized)
            #expect(stale.headers[.wwwAuthenticate]?.contains("insufficient_claims") == true)
            let unsaid = try await client.administer(.patch, path, Self.wipe, claims: claims(service))
            #expect(unsaid.status == .conflict)
            #expect(unsaid.json["error"]?["details"]?.array?.map { $0["message"] } == ["1", "1"])
            let question: JSONValue = ["policy": .string(policy.id), "update": Self.wipe]
            let impact = try await client.administer(.post, "/admin/v1/impact", question, claims: claims(service))
            #expect(impact.status == .ok && impact.json["losing"]?["people"] == 1)
            #expect(impact.json["wipes"]?.array?.isEmpty == false && impact.json["needsWipePermission"] == true)
            #expect(impact.json["token"]?.string != nil && impact.json["needsApproval"] == false)
            let unknown: JSONValue = ["policy": .string(policy.id), "updaet": Self.wipe]
            let refused = try await client.administer(.post, "/admin/v1/impact", unknown, claims: claims(service))
            #expect(refused.status == .badRequest)
        }
    }

    @Test func `above the budget the answer names a change that another person releases, and the call passes then`()
        async throws
    {
        let service = try await TestService(
            configuration: {
                var configuration = Self.small()
                configuration.impactLimit = 100
                return configuration
            }())
        let policy = try await service.publishPolicy()
        try await service.test { client in
            _ = try await client.register(TestDevice())
            let path = "\(Self.policies)/\(policy.id)"
            let (author, other) = (claims(service), claims(service, "oid-second"))
            let refused = try await client.administer(.patch, path, Self.wipe, claims: author)
            #expect(refused.status == .conflict)
            let id = try #require(refused.headers[.waitingChange])
            let change = "/admin/v1/changes/\(id)"
            let waiting = try await client.administer(.get, change, claims: other)
            #expect(waiting.json["state"] == "waiting" && waiting.json["entity"] == .string("policy/\(policy.id)"))
            #expect(try await client.administer(.get, "/admin/v1/changes", claims: other).json.array?.count == 1)
            let own = try await client.administer(.post, change + "/release", claims: author)
            #expect(own.status == .forbidden)
            let stale = try await client.administer(
                .post, change + "/release", claims: claims(service, "oid-second", age: 1_000))
            #expect(stale.status == .unauthorized)
            let released = try await client.administer(.post, change + "/release", claims: other)
            #expect(released.status == .ok && released.json["state"] == "released")
            #expect(try await client.administer(.patch, path, Self.wipe, claims: author).status == .noContent)
            let over = try await client.administer(.post, change + "/stop", claims: other)
            #expect(over.status == .conflict)
        }
    }

    @Test func `a program of Graph's permissions cannot wipe by a policy, and one with Cordon's own can`() async throws
    {
        let service = try await TestService()
        let policy = try await service.publishPolicy()
        try await service.test { client in
            _ = try await client.register(TestDevice())
            func program(_ roles: JSONValue) -> [String: JSONValue] {
                var claims = claims(service, "oid-program", roles)
                claims["idtyp"] = "app"
                for name in ["preferred_username", "auth_time", "scp"] { claims[name] = nil }
                return claims
            }
            let path = "\(Self.policies)/\(policy.id)"
            let graph = program(["DeviceManagementApps.ReadWrite.All"])
            #expect(try await client.administer(.patch, path, Self.wipe, claims: graph).status == .forbidden)
            let harmless = try await client.administer(.patch, path, ["printBlocked": true], claims: graph)
            #expect(harmless.status == .noContent)
            let both = program(["DeviceManagementApps.ReadWrite.All", "cordon.wipe"])
            #expect(try await client.administer(.patch, path, Self.wipe, claims: both).status == .noContent)
        }
    }

    @Test func `versions are listed, shown, compared and put back over HTTP`() async throws {
        let service = try await TestService()
        let policy = try await service.publishPolicy()
        try await service.test { client in
            let device = TestDevice()
            let registered = try await client.register(device)
            let path = "\(Self.policies)/\(policy.id)"
            #expect(
                try await client.administer(.patch, path, ["printBlocked": true], claims: claims(service)).status
                    == .noContent)
            let versions = "/admin/v1/policies/\(policy.id)/versions"
            let list = try await client.administer(.get, versions, claims: claims(service))
            #expect(list.json.array?.count == 4)
            let newest = try #require(list.json.array?.first?["version"]?.string)
            #expect(list.json.array?.first?["author"]?["id"] == "oid-ada" && list.json.array?.first?["request"] != nil)
            let one = try await client.administer(.get, "\(versions)/\(newest)", claims: claims(service))
            #expect(one.json["changes"]?.array?.first?["member"] == "printBlocked")
            let comparison = try await client.administer(
                .get, "\(versions)/\(policy.version)/comparison?with=\(newest)", claims: claims(service))
            #expect(comparison.json["changes"]?.array?.first?["direction"] == "stricter")
            let back = try await client.administer(
                .post, "\(versions)/\(policy.version)/putBack", claims: claims(service))
            #expect(back.status == .ok && back.json["version"]?.string != newest)
            let rules = try await client.administer(
                .get, "/admin/v1/registrations/\(registered.registrationID)/rules", claims: claims(service))
            #expect(rules.json["underWay"]?["policies"]?.array?.first?["version"] == .string(policy.version))
            let bad = try await client.administer(
                .get, "/admin/v1/registrations/\(registered.registrationID)/rules?at=yesterday", claims: claims(service)
            )
            #expect(bad.status == .badRequest)
            let page = try await client.administer(
                .get, "/admin/v1/audit/records?after=2&limit=3", claims: claims(service))
            #expect(page.json["records"]?.array?.first?["sequence"] == 3 && page.json["next"] == 5)
        }
    }

    @Test func `a member that Cordon's own routes do not know is refused and named`() async throws {
        let service = try await TestService()
        try await service.test { client in
            let calls: [(HTTPRequest.Method, String, JSONValue)] = [
                (.put, "/admin/v1/moving", ["moving": false, "movign": true]),
                (.put, "/admin/v1/allowedAccounts", ["acounts": []]),
                (
                    .put, "/admin/v1/roles/x",
                    ["displayName": "X", "permissions": ["read"], "members": ["m"], "scopeTag": ["a"]]
                ),
                (.post, "/admin/v1/keys", ["emergancy": true]),
            ]
            for (method, path, body) in calls {
                let answer = try await client.administer(method, path, body, claims: claims(service))
                #expect(answer.status == .badRequest, "\(path)")
                let unknown = ["movign", "acounts", "scopeTag", "emergancy"]
                #expect(unknown.contains { answer.json["detail"]?.string?.contains($0) == true }, "\(path)")
            }
        }
    }
}
