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

/// SRV-OP-020 and SRV-OP-021 over HTTP.
@Suite struct RoleAndStepUpTests {
    private static let policies = "/v1.0/deviceAppManagement/iosManagedAppProtections"
    private static let wipe = "/v1.0/users/\(TestPerson.workerA.id)/wipeManagedAppRegistrationsByDeviceTag"

    private func altered(_ service: TestService, _ changes: [String: JSONValue?]) -> [String: JSONValue] {
        var claims = TestIssuer.administrationClaims(roles: [], at: service.clock.now)
        for (name, value) in changes { claims[name] = value }
        return claims
    }

    @Test func `a group of the token has a role that an owner made, with what its tags show`() async throws {
        let service = try await TestService()
        let hidden = try await service.publishPolicy()
        try await service.test { client in
            let role: JSONValue = [
                "displayName": "West", "permissions": ["read", "writePolicies"], "members": ["group-west"],
                "scopeTags": ["tag-west"],
            ]
            let made = try await client.administer(.put, "/admin/v1/roles/west", role)
            #expect(made.status == .ok && made.json["isBuiltIn"] == false)
            let claims = altered(service, ["groups": ["group-x", "group-west"]])
            let list = try await client.administer(.get, Self.policies, claims: claims)
            #expect(list.status == .ok && list.json["value"]?.array?.isEmpty == true)
            let one = try await client.administer(.get, "\(Self.policies)/\(hidden.id)", claims: claims)
            #expect(one.status == .notFound)
            let new = try await client.administer(
                .post, "/beta/deviceAppManagement/iosManagedAppProtections", ["displayName": "Mine"], claims: claims)
            #expect(new.status == .created && new.json["roleScopeTagIds"] == ["tag-west"])
            let forbidden = try await client.administer(.post, Self.wipe, ["deviceTag": "x"], claims: claims)
            #expect(forbidden.status == .forbidden)
            let others = altered(service, ["groups": ["group-x"]])
            #expect(try await client.administer(.get, Self.policies, claims: others).status == .forbidden)
            let roles = try await client.administer(.get, "/admin/v1/roles")
            #expect(roles.json.array?.count == AdministratorRole.allCases.count + 1)
            #expect(try await client.administer(.delete, "/admin/v1/roles/west").status == .noContent)
            #expect(try await client.administer(.get, Self.policies, claims: claims).status == .forbidden)
        }
    }

    @Test func `a role and the allowed accounts have versions, and a change of another one is refused`() async throws {
        let service = try await TestService()
        try await service.test { client in
            func put(_ path: String, _ body: JSONValue, _ version: String?) async throws -> TestResponse {
                try await client.administer(
                    .put, path, body, headers: version.map { [.ifMatch: "\"\($0)\""] } ?? [:])
            }
            let (path, list) = ("/admin/v1/roles/west", "/admin/v1/allowedAccounts")
            var role: [String: JSONValue] = ["displayName": "West", "permissions": ["read"], "members": ["g"]]
            #expect(try await put(path, .object(role), "seen").status == .preconditionFailed)
            let first = try #require(try await put(path, .object(role), nil).json["version"]?.string)
            role["members"] = ["h"]
            let second = try #require(try await put(path, .object(role), first).json["version"]?.string)
            #expect(first != second)
            #expect(try await put(path, .object(role), first).status == .preconditionFailed)
            let late = try await client.administer(.delete, path, headers: [.ifMatch: first])
            #expect(late.status == .preconditionFailed && late.json["detail"]?.string?.isEmpty == false)
            let roles = try await client.administer(.get, "/admin/v1/roles").json.array ?? []
            #expect(roles.first { $0["id"] == "west" }?["version"] == .string(second))
            #expect(try await client.administer(.delete, path, headers: [.ifMatch: "*"]).status == .noContent)

            let open = try #require(try await client.administer(.get, list).json["version"]?.string)
            let nobody: JSONValue = ["accounts": []]
            #expect(try await put(list, nobody, open).status == .noContent)
            #expect(try await put(list, ["accounts": .null], open).status == .preconditionFailed)
            #expect(try await client.administer(.get, list).json["accounts"] == [])
            #expect(try await put(list, ["accounts": .null], nil).status == .noContent)
        }
    }

    @Test func `only an owner makes a role, and a permission that is none is named`() async throws {
        let service = try await TestService()
        try await service.test { client in
            let role: JSONValue = ["displayName": "All", "permissions": ["read"], "members": ["me"]]
            for name in AdministratorRole.allCases where name != .owner {
                let claims = altered(service, ["roles": [.string(name.rawValue)]])
                let answer = try await client.administer(.put, "/admin/v1/roles/all", role, claims: claims)
                #expect(answer.status == .forbidden, "\(name)")
            }
            let wrong: JSONValue = ["displayName": "All", "permissions": ["everything"], "members": ["me"]]
            #expect(try await client.administer(.put, "/admin/v1/roles/all", wrong).status == .badRequest)
        }
    }

    @Test func `the configuration gives roles to groups and people`() async throws {
        let service = try await TestService()
        var gate = service.graph.gate
        gate.roleMapping = ["group-admins": [.policyAdministrator], "user:oid-ada": [.reader]]
        func roles(_ groups: Set<String>, _ id: AccountID) async throws -> Set<AdministratorRole> {
            let token = AccessToken(
                issuer: "i", tenant: TestService.tenant, subject: id, userPrincipalName: "x", clientID: nil,
                isApplication: false, scopes: ["DeviceManagementApps.Read.All"], roles: [], groups: groups,
                keyThumbprint: nil, expires: .distantFuture, authenticated: nil)
            return try await gate.administrator(token, for: .readApps).roles
        }
        #expect(try await roles(["group-admins"], "oid-x") == [.policyAdministrator])
        #expect(try await roles([], "oid-ada") == [.reader])
        #expect(try await roles(["group-admin", "oid-ada"], "OID-ADA") == [])
        #expect(try await roles([], "group-admins") == [], "a person may be called like a group")
    }

    @Test func `a group or role that is called like a person gives nothing`() async throws {
        let service = try await TestService()
        var gate = service.graph.gate
        gate.roleMapping = ["user:oid-boss": [.owner], "group-x": [.reader]]
        let token = AccessToken(
            issuer: "i", tenant: TestService.tenant, subject: "oid-x", userPrincipalName: "x", clientID: nil,
            isApplication: false, scopes: ["DeviceManagementApps.Read.All"], roles: ["user:oid-boss"],
            groups: ["user:oid-boss", "group-x"], keyThumbprint: nil, expires: .distantFuture, authenticated: nil)
        #expect(try await gate.administrator(token, for: .readApps).roles == [.reader], "the group beside it counts")

        try await service.test { client in
            let role: JSONValue = ["displayName": "Boss", "permissions": ["read"], "members": ["user:oid-boss"]]
            let made = try await client.administer(.put, "/admin/v1/roles/boss", role)
            #expect(made.status == .ok)
            for claim in ["groups", "roles"] {
                let forged = altered(service, [claim: ["user:oid-boss"]])
                let answer = try await client.administer(.get, Self.policies, claims: forged)
                #expect(answer.status == .forbidden, "\(claim)")
            }
            let boss = altered(service, ["oid": "oid-boss"])
            let answer = try await client.administer(.get, Self.policies, claims: boss)
            #expect(answer.status == .ok)
        }
    }

    @Test func `a group whose name differs in nothing but the form of its characters gives nothing`() async throws {
        let service = try await TestService()
        var gate = service.graph.gate
        gate.roleMapping = ["Eigentümer": [.owner], "Kitchen": [.reader]]
        func roles(_ name: String, asGroup: Bool) async throws -> Set<AdministratorRole> {
            let token = AccessToken(
                issuer: "i", tenant: TestService.tenant, subject: "oid-x", userPrincipalName: "x", clientID: nil,
                isApplication: false, scopes: ["DeviceManagementApps.Read.All"], roles: asGroup ? [] : [name],
                groups: asGroup ? [name] : [], keyThumbprint: nil, expires: .distantFuture, authenticated: nil)
            return try await gate.administrator(token, for: .readApps).roles
        }
        for asGroup in [true, false] {
            #expect(try await roles("Eigentümer", asGroup: asGroup) == [.owner])
            #expect(try await roles("Eigentu\u{308}mer", asGroup: asGroup) == [])
            #expect(try await roles("Kitchen", asGroup: asGroup) == [.reader])
            #expect(try await roles("\u{212A}itchen", asGroup: asGroup) == [])
        }
        try await service.test { client in
            let role: JSONValue = ["displayName": "Küche", "permissions": ["read"], "members": ["Küche"]]
            let made = try await client.administer(.put, "/admin/v1/roles/kitchen", role)
            #expect(made.status == .ok)
            for (name, status) in [("Küche", HTTPResponse.Status.ok), ("Ku\u{308}che", .forbidden)] {
                let claims = altered(service, ["groups": [.string(name)]])
                let answer = try await client.administer(.get, Self.policies, claims: claims)
                #expect(answer.status == status, "\(name)")
            }
        }
    }

    @Test(arguments: ["a\u{0}", "a\nb", "\u{202E}a", "a\u{200B}", " a"])
    func `a role has no member whose name shows as another`(name: String) async throws {
        try await TestService().test { client in
            let role: JSONValue = ["displayName": "R", "permissions": ["read"], "members": [.string(name)]]
            let answer = try await client.administer(.put, "/admin/v1/roles/r", role)
            #expect(answer.status == .badRequest && "\(answer.json)".contains("members"))
        }
    }

    @Test func `a person whose token has neither name nor scope is asked for scopes and a fresh sign-in`() async throws
    {
        let service = try await TestService()
        _ = try await service.publishPolicy()
        try await service.test { client in
            _ = try await client.register(TestDevice())
            let now = Int64(service.clock.now.timeIntervalSince1970)
            let nameless = altered(
                service,
                [
                    "preferred_username": JSONValue?.none, "scp": JSONValue?.none, "roles": ["owner"],
                    "auth_time": .integer(now - 604_800),
                ])
            #expect(try await client.administer(.get, Self.policies, claims: nameless).status == .forbidden)
            let data = "/admin/v1/users/\(TestPerson.workerA.id)/data"
            for scopes in [JSONValue?.none, "DeviceManagementApps.ReadWrite.All"] {
                var claims = nameless
                claims["scp"] = scopes
                let wipe = try await client.administer(.post, Self.wipe, ["deviceTag": "tag-1"], claims: claims)
                #expect(wipe.status == .unauthorized)
                #expect(try await client.administer(.delete, data, claims: claims).status == .unauthorized)
            }
            #expect(
                try await service.service.administration.user(TestPerson.workerA.id, as: TestService.owner)
                    .accountEnabled)
        }
    }

    @Test func `a wipe needs a sign-in of the last quarter of an hour`() async throws {
        let service = try await TestService()
        _ = try await service.publishPolicy()
        try await service.test { client in
            _ = try await client.register(TestDevice())
            let now = Int64(service.clock.now.timeIntervalSince1970)
            let old = altered(service, ["roles": ["owner"], "auth_time": .integer(now - 1_000)])
            let refused = try await client.administer(.post, Self.wipe, ["deviceTag": "tag-1"], claims: old)
            #expect(refused.status == .unauthorized)
            #expect(refused.json["error"]?["code"] == "InvalidAuthenticationToken")
            let challenge = try #require(refused.headers[.wwwAuthenticate])
            #expect(challenge.contains("error=\"insufficient_claims\""))
            #expect(challenge.contains("max_age=\"900\""))
            let asked = try #require(challenge.firstMatch(of: /claims="([^"]+)"/)?.1)
            let claims = try JSONValue(parsing: try #require(Data(base64Encoded: String(asked))))
            #expect(claims["access_token"]?["auth_time"]?["essential"] == true)
            // Everything that can be taken back goes on, and a token that does not say is no better than an old one.
            #expect(try await client.administer(.get, Self.policies, claims: old).status == .ok)
            let silent = altered(service, ["roles": ["owner"], "auth_time": JSONValue?.none])
            #expect(
                try await client.administer(.post, Self.wipe, ["deviceTag": "tag-1"], claims: silent).status
                    == .unauthorized)
            let erasing = try await client.administer(
                .delete, "/admin/v1/users/\(TestPerson.workerA.id)/data", claims: old)
            #expect(erasing.status == .unauthorized)
            #expect(erasing.headers[.wwwAuthenticate] == challenge)
            #expect(try await client.administer(.post, Self.wipe, ["deviceTag": "tag-1"]).status == .noContent)
        }
    }

    @Test func `a program has no person to sign in, and its wipes are let through`() async throws {
        let service = try await TestService()
        _ = try await service.publishPolicy()
        try await service.test { client in
            _ = try await client.register(TestDevice())
            let program = altered(
                service,
                [
                    "idtyp": "app", "roles": ["DeviceManagementApps.ReadWrite.All"],
                    "preferred_username": JSONValue?.none,
                    "auth_time": JSONValue?.none, "scp": JSONValue?.none,
                ])
            let answer = try await client.administer(.post, Self.wipe, ["deviceTag": "tag-1"], claims: program)
            #expect(answer.status == .noContent)
        }
    }

    @Test func `what cannot be taken back or stops everyone needs a fresh sign-in`() async throws {
        let service = try await TestService()
        _ = try await service.publishPolicy()
        try await service.test { client in
            let registered = try await client.register(TestDevice())
            let now = Int64(service.clock.now.timeIntervalSince1970)
            let old = altered(service, ["roles": ["owner"], "auth_time": .integer(now - 1_000)])
            let user = "/v1.0/users/\(TestPerson.workerA.id)"
            let role: JSONValue = ["displayName": "All", "permissions": ["read"], "members": ["me"]]
            let calls: [(HTTPRequest.Method, String, JSONValue?)] = [
                (.post, "/admin/v1/keys", ["emergency": true]), (.put, "/admin/v1/roles/all", role),
                (.delete, "/admin/v1/roles/all", nil), (.put, "/admin/v1/moving", ["moving": true]),
                (.put, "/admin/v1/allowedAccounts", ["accounts": []]), (.put, "/admin/v1/settings", [:]),
                (.get, "/admin/v1/users/\(TestPerson.workerA.id)/data", nil),
                (.delete, "/admin/v1/users/\(TestPerson.workerA.id)/data?wipe=true", nil),
                (.get, "\(user)/exportDeviceAndAppManagementData", nil),
                (.post, "\(user)/wipeAndBlockManagedApps", nil), (.post, "\(user)/unblockManagedApps", nil),
                (.delete, "/v1.0/deviceAppManagement/managedAppRegistrations/\(registered.registrationID)", nil),
            ]
            for (method, path, body) in calls {
                let refused = try await client.administer(method, path, body, claims: old)
                #expect(refused.status == .unauthorized, "\(method) \(path)")
                let challenge = refused.headers[.wwwAuthenticate] ?? ""
                #expect(challenge.contains("insufficient_claims"), "\(method) \(path)")
            }
            // In a batch it is the same.
            let item: JSONValue = [
                "id": "1", "method": "POST", "url": .string("/users/\(TestPerson.workerA.id)/unblockManagedApps"),
            ]
            let batch: JSONValue = ["requests": .array([item])]
            let answer = try await client.administer(.post, "/v1.0/$batch", batch, claims: old)
            #expect(answer.json["responses"]?.array?.first?["status"] == 401)
            #expect(try await client.administer(.post, "\(user)/unblockManagedApps").status == .noContent)
        }
    }

    @Test func `erasing a person over HTTP waits for the wipes that it asks for`() async throws {
        let service = try await TestService()
        _ = try await service.publishPolicy()
        try await service.test { client in
            let registered = try await client.register(TestDevice())
            let path = "/admin/v1/users/\(TestPerson.workerA.id)/data"
            #expect(try await client.administer(.delete, path).status == .conflict)
            #expect(try await client.administer(.delete, path + "?wipe=yes").status == .badRequest)
            let answer = try await client.administer(.delete, path + "?wipe=true")
            #expect(answer.status == .accepted && answer.json["wipes"]?.array?.count == 1)
            #expect(try await client.administer(.delete, path).status == .conflict)
            let forgotten = try await client.administer(
                .delete, "/v1.0/deviceAppManagement/managedAppRegistrations/\(registered.registrationID)")
            #expect(forgotten.status == .noContent)
            #expect(try await client.administer(.delete, path + "?wipe=true").status == .noContent)
        }
    }

    @Test func `a group called like a role gives none, and a name may say which claim it is of`() async throws {
        let service = try await TestService()
        var gate = service.graph.gate
        gate.roleMapping = ["role:staff": [.owner], "group:desk": [.helpDesk], "either": [.reader]]
        let asked = gate
        func roles(groups: Set<String>, roles: Set<String>) async throws -> Set<AdministratorRole> {
            let token = AccessToken(
                issuer: "i", tenant: TestService.tenant, subject: "oid-x", userPrincipalName: "x", clientID: nil,
                isApplication: false, scopes: ["DeviceManagementApps.Read.All"], roles: roles, groups: groups,
                keyThumbprint: nil, expires: .distantFuture, authenticated: nil)
            return try await asked.administrator(token, for: .readApps).roles
        }
        // A provider that puts groups into both claims.
        #expect(try await roles(groups: ["owner", "cordon.owner"], roles: ["owner", "cordon.owner"]) == [])
        #expect(try await roles(groups: ["others"], roles: ["owner"]) == [.owner])
        #expect(try await roles(groups: [], roles: ["cordon.helpDesk"]) == [.helpDesk])
        #expect(try await roles(groups: ["staff", "role:staff"], roles: []) == [])
        #expect(try await roles(groups: [], roles: ["staff"]) == [.owner])
        #expect(try await roles(groups: ["desk"], roles: []) == [.helpDesk])
        #expect(try await roles(groups: [], roles: ["desk", "group:desk"]) == [])
        #expect(try await roles(groups: ["either"], roles: []) == [.reader])
    }

    @Test func `a caller learns what they may do here`() async throws {
        let service = try await TestService()
        try await service.test { client in
            let made = try await client.administer(
                .put, "/admin/v1/roles/west",
                [
                    "displayName": "West", "permissions": ["read", "writePolicies"], "members": ["group:group-west"],
                    "scopeTags": ["tag-west"],
                ])
            #expect(made.status == .ok)
            let claims = altered(service, ["roles": ["helpDesk"], "groups": ["group-west"]])
            let me = try await client.administer(.get, "/admin/v1/me", claims: claims).json
            #expect(me["kind"] == "person" && me["id"] == "oid-ada" && me["roles"] == ["helpDesk"])
            #expect(me["permissions"] == ["collectLogs", "commandApps", "read", "wipe"])
            #expect(me["limitedPermissions"] == ["writePolicies"])
            #expect(me["customRoles"]?.array?.first?["scopeTags"] == ["tag-west"])
            #expect(me["stepUpSeconds"] == 900 && me["isFresh"] == true)
            let nobody = try await client.administer(.get, "/admin/v1/me", claims: altered(service, [:])).json
            #expect(nobody["permissions"] == [] && nobody["roles"] == [])
            #expect(try await client.client.execute(uri: "/admin/v1/me", method: .get).status == .unauthorized)
        }
    }

}
