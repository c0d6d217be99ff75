import CordonPolicy
import CordonService
import CordonTestSupport
import Foundation
import HTTPTypes
import HummingbirdTesting
import Testing

@testable import CordonServiceHTTP

/// SCIM 2.0 over HTTP (RFC 7644), as a provisioning system uses it.
@Suite struct SCIMRoutesTests {
    private static let users = "/scim/v2/Users"
    private static let groups = "/scim/v2/Groups"

    /// A program that may write the directory and nothing else.
    private func program(_ service: TestService) -> [String: JSONValue] {
        var claims = TestIssuer.administrationClaims(roles: ["directoryAdministrator"], at: service.clock.now)
        claims["preferred_username"] = nil
        claims["scp"] = nil
        claims["idtyp"] = "app"
        return claims
    }

    private let cleo: JSONValue = [
        "schemas": [.string(SCIMUser.schema)], "externalId": "oid-cleo", "userName": "cleo@contoso.example",
        "name": ["givenName": "Cleo", "familyName": "Example"], "active": true,
        "emails": [["value": "cleo@contoso.example", "type": "work", "primary": true]],
    ]

    @Test func `a person is made, found, changed, disabled and removed`() async throws {
        let service = try await TestService()
        let claims = program(service)
        try await service.test { client in
            let made = try await client.administer(.post, Self.users, cleo, claims: claims)
            #expect(made.status == .created)
            #expect(made.headers[.contentType] == "application/scim+json")
            #expect(made.headers[.location]?.hasSuffix("/scim/v2/Users/oid-cleo") == true)
            #expect(made.json["id"] == "oid-cleo" && made.json["displayName"] == "Cleo Example")
            let again = try await client.administer(.post, Self.users, cleo, claims: claims)
            #expect(again.status == .conflict && again.json["scimType"] == "uniqueness")

            let filter = "?filter=userName%20eq%20%22CLEO%40contoso.example%22"
            let found = try await client.administer(.get, Self.users + filter, claims: claims).json
            #expect(found["totalResults"] == 1 && found["Resources"]?.array?.first?["id"] == "oid-cleo")

            let path = Self.users + "/oid-cleo"
            let disabled = try await client.administer(
                .patch, path,
                [
                    "schemas": [.string(SCIMPatch.schema)],
                    "Operations": [["op": "Replace", "path": "active", "value": "False"]],
                ], claims: claims)
            #expect(disabled.status == .ok && disabled.json["active"] == false)
            let user = try await service.service.administration.user("oid-cleo", as: TestService.owner)
            #expect(!user.accountEnabled && user.surname == "Example" && user.isLicensed)

            #expect(try await client.administer(.delete, path, claims: claims).status == .noContent)
            #expect(try await client.administer(.get, path, claims: claims).status == .notFound)
        }
    }

    @Test func `active is true or false, and nothing else enables a person who was disabled`() async throws {
        let service = try await TestService()
        let claims = program(service)
        let path = Self.users + "/oid-cleo"
        try await service.test { client in
            func isEnabled() async throws -> Bool {
                try await service.service.administration.user("oid-cleo", as: TestService.owner).accountEnabled
            }
            func patch(_ operation: JSONValue) async throws -> TestResponse {
                try await client.administer(.patch, path, ["Operations": [operation]], claims: claims)
            }
            var disabled = try #require(cleo.object)
            disabled["active"] = false
            #expect(
                try await client.administer(.post, Self.users, .object(disabled), claims: claims).status == .created)
            #expect(try await !isEnabled())

            let odd: [JSONValue] = ["no", "0", 0, 1, "", .null, [:], [], [true], "maybe", "true ", "yes"]
            for value in odd {
                var document = disabled
                document["active"] = value
                let answers = [
                    try await patch(["op": "replace", "path": "active", "value": value]),
                    try await patch(["op": "Add", "value": ["Active": value]]),
                    try await client.administer(.put, path, .object(document), claims: claims),
                ]
                for answer in answers {
                    #expect(answer.status == .badRequest && answer.json["scimType"] == "invalidValue", "\(value)")
                }
                document["externalId"] = "oid-new"
                let made = try await client.administer(.post, Self.users, .object(document), claims: claims)
                #expect(made.status == .badRequest, "\(value)")
            }
            // Who does not speak of it, or takes it away, changes nothing.
            disabled["active"] = nil
            #expect(try await client.administer(.put, path, .object(disabled), claims: claims).status == .ok)
            #expect(try await patch(["op": "remove", "path": "active"]).status == .ok)
            #expect(try await !isEnabled())

            for (value, expected) in [
                (true, true), (false, false), ("True", true), ("False", false), ("true", true), ("false", false),
            ] as [(JSONValue, Bool)] {
                #expect(try await patch(["op": "Replace", "path": "active", "value": value]).status == .ok)
                #expect(try await isEnabled() == expected, "\(value)")
            }
            disabled["ACTIVE"] = true
            #expect(try await client.administer(.put, path, .object(disabled), claims: claims).status == .ok)
            #expect(try await isEnabled())
        }
    }

    @Test func `a group's members are added and removed, people and groups alike`() async throws {
        let service = try await TestService()
        let claims = program(service)
        try await service.test { client in
            let made = try await client.administer(
                .post, Self.groups,
                ["displayName": "Night shift", "members": [["value": .string(TestPerson.workerA.id)]]], claims: claims)
            #expect(made.status == .created)
            let id = try #require(made.json["id"]?.string)
            let patch: JSONValue = [
                "Operations": [
                    ["op": "add", "path": "members", "value": [["value": .string(TestService.group)]]],
                    ["op": "remove", "path": .string("members[value eq \"\(TestPerson.workerA.id)\"]")],
                ]
            ]
            let changed = try await client.administer(.patch, "\(Self.groups)/\(id)", patch, claims: claims)
            #expect(changed.status == .ok)
            let group = try await service.service.administration.group(id, as: TestService.owner)
            #expect(group.members == [.group(TestService.group)])
            let short = try await client.administer(
                .get, "\(Self.groups)?excludedAttributes=members&count=1", claims: claims
            ).json
            #expect(short["Resources"]?.array?.count == 1 && short["totalResults"] == 2)
            #expect(short["Resources"]?.array?.first?["members"] == nil)
        }
    }

    @Test func `only who may write the directory writes it`() async throws {
        let service = try await TestService()
        try await service.test { client in
            for role in AdministratorRole.allCases {
                let claims = TestIssuer.administrationClaims(roles: [role.rawValue], at: service.clock.now)
                var body = cleo.object ?? [:]
                body["externalId"] = .string("oid-\(role.rawValue)")
                body["userName"] = .string("\(role.rawValue)@contoso.example")
                let answer = try await client.administer(.post, Self.users, .object(body), claims: claims)
                #expect((answer.status == .created) == role.permissions.contains(.writeDirectory), "\(role)")
                #expect(answer.status == .created || answer.json["status"] == "403")
            }
            let none = try await client.client.execute(uri: Self.users, method: .get)
            #expect(none.status == .unauthorized && none.headers[.wwwAuthenticate] == "Bearer")
        }
    }

    @Test func `errors and descriptions have the standard's form`() async throws {
        let service = try await TestService()
        let claims = program(service)
        try await service.test { client in
            let bad = try await client.administer(.get, Self.users + "?filter=userName%20sw%20%22a%22", claims: claims)
            #expect(bad.status == .badRequest && bad.json["scimType"] == "invalidFilter")
            #expect(bad.json["schemas"] == ["urn:ietf:params:scim:api:messages:2.0:Error"])
            let nameless = try await client.administer(.post, Self.users, ["active": true], claims: claims)
            #expect(nameless.json["scimType"] == "invalidValue")
            let configuration = try await client.administer(.get, "/scim/v2/ServiceProviderConfig", claims: claims).json
            #expect(configuration["patch"] == ["supported": true])
            for path in ["/scim/v2/ResourceTypes", "/scim/v2/Schemas"] {
                #expect(try await client.administer(.get, path, claims: claims).json["totalResults"]?.integer ?? 0 > 1)
            }
        }
    }

    @Test func `no change of a group is lost when many come at once`() async throws {
        let service = try await TestService()
        let claims = program(service)
        let users = (0..<20).map { "oid-\($0)" }
        for id in users {
            try await service.service.provisioning.saveUser(
                DirectoryUser(id: id, userPrincipalName: "\(id)@contoso.example", displayName: id),
                as: TestService.owner)
        }
        try await service.test { client in
            let path = "\(Self.groups)/\(TestService.group)"
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for id in users {
                    let patch: JSONValue = [
                        "Operations": [["op": "add", "path": "members", "value": [["value": .string(id)]]]]
                    ]
                    group.addTask {
                        Int(try await client.administer(.patch, path, patch, claims: claims).status.code)
                    }
                }
                return try await group.reduce(into: Set<Int>()) { $0.insert($1) }
            }
            #expect(statuses == [200])
            let members = try await service.service.administration.group(TestService.group, as: TestService.owner)
                .members
            #expect(members == Set((users + [TestPerson.workerA.id]).map { .user($0) }))
            // Of several that make one person, one does.
            let made = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        Int(try await client.administer(.post, Self.users, cleo, claims: claims).status.code)
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(made.sorted() == [201] + Array(repeating: 409, count: 7))
        }
    }

    /// Changes of a person whose account a signal has disabled, and whether the directory says by it that it is disabled.
    private static let changesOfADisabledPerson: [(HTTPRequest.Method, JSONValue, Bool)] = [
        (.patch, ["Operations": [["op": "replace", "path": "displayName", "value": "Ada"]]], false),
        (.patch, ["Operations": [["op": "replace", "value": ["displayName": "Ada"]]]], false),
        (.patch, ["Operations": [["op": "remove", "path": "active"]]], false),
        (.put, ["userName": "worker-a@contoso.example", "displayName": "Ada"], false),
        (.patch, ["Operations": [["op": "replace", "path": "Active", "value": "False"]]], true),
        (.patch, ["Operations": [["op": "replace", "value": ["displayName": "Ada", "ACTIVE": false]]]], true),
        (.put, ["userName": "worker-a@contoso.example", "Active": false], true),
    ]

    @Test(arguments: changesOfADisabledPerson)
    func `an event that comes late enables an account unless the directory has said since that it is disabled`(
        method: HTTPRequest.Method, body: JSONValue, saysDisabled: Bool
    ) async throws {
        let test = try await TestService()
        let (person, provisioning) = (TestPerson.workerA.id, test.service.provisioning)
        let begun = test.clock.now
        try await provisioning.apply(
            AccountSignal(.accountDisabled, of: person, at: begun), from: TestIssuer.name, of: TestService.tenant)
        test.clock.advance(by: 10)
        let claims = program(test)
        try await test.test { client in
            let changed = try await client.administer(method, "\(Self.users)/\(person)", body, claims: claims)
            #expect(changed.status == .ok && changed.json["active"] == false)
        }
        try await provisioning.apply(
            AccountSignal(.accountEnabled, of: person, at: begun.addingTimeInterval(5)), from: TestIssuer.name,
            of: TestService.tenant)
        let user = try await test.service.administration.user(person, as: TestService.owner)
        #expect(user.accountEnabled == !saysDisabled)
    }

    @Test func `a person or a group that is another by now is not replaced`() async throws {
        let test = try await TestService()
        let (service, owner) = (test.service, TestService.owner)
        let known = try await service.administration.user(TestPerson.workerA.id, as: owner)
        var (first, second) = (known, known)
        (first.displayName, second.department) = ("First", "Second")
        try await service.provisioning.replaceUser(known, with: first, as: owner)
        await #expect(throws: ServiceError(.preconditionFailed, "")) {
            try await service.provisioning.replaceUser(known, with: second, as: owner)
        }
        await #expect(throws: ServiceError(.preconditionFailed, "")) {
            try await service.provisioning.replaceUser(nil, with: second, as: owner)
        }
        #expect(try await service.administration.user(known.id, as: owner) == first)
        let group = try await service.administration.group(TestService.group, as: owner)
        try await service.provisioning.removeUser(known.id, as: owner)
        await #expect(throws: ServiceError(.preconditionFailed, "")) {
            try await service.provisioning.replaceGroup(group, with: group, as: owner)
        }
        #expect(try await service.administration.group(TestService.group, as: owner).members.isEmpty)
    }
}
