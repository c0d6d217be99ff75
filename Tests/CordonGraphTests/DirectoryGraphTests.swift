import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonService
import Foundation
import HTTPTypes
import HummingbirdTesting
import NIOCore
import Testing

@testable import CordonGraph
@testable import CordonServiceHTTP

/// SRV-OP-062, 076, 078, 080: people and groups below the first level, and groups that cannot be kept.
@Suite struct DirectoryGraphTests {
    @Test(
        arguments: [
            ["displayName": "Sales", "groupTypes": ["DynamicMembership"]],
            ["displayName": "Sales", "membershipRule": "user.department -eq \"Sales\""],
            ["displayName": "Sales", "members@odata.bind": ["https://graph.microsoft.com/v1.0/users/oid-a"]],
            ["displayName": "Sales", "members": [["@odata.type": "#microsoft.graph.user", "id": "oid-a"]]],
        ] as [JSONValue])
    func `a group that is asked for with its members or a rule for them is refused, not made empty`(_ body: JSONValue)
        async throws
    {
        let service = try await TestService()
        try await service.test { client in
            let answer = try await client.administer(.post, "/beta/groups", body)
            #expect(answer.status == .badRequest)
            let named = answer.json["error"]?["details"]?.array?.first?["target"]?.string
            #expect(named.map { body[$0] != nil } == true)
            #expect(
                try await service.service.administration.groups(as: TestService.owner).map(\.id) == [TestService.group])
            let plain: JSONValue = [
                "displayName": "Sales", "securityEnabled": true, "mailEnabled": false, "mailNickname": "x",
                "groupTypes": [], "membershipRule": .null, "membershipRuleProcessingState": .null,
            ]
            #expect(try await client.administer(.post, "/beta/groups", plain).status == .created)
        }
    }

    @Test func `a new group keeps the nickname that it was given, and one that is none is refused`() async throws {
        // SRV-OP-078
        try await TestService().test { client in
            func make(_ nickname: JSONValue) async throws -> TestResponse {
                try await client.administer(
                    .post, "/v1.0/groups", ["displayName": "Field Sales", "mailNickname": nickname])
            }
            let named = try await make("sales-north.1")
            #expect(named.status == .created && named.json["mailNickname"] == "sales-north.1")
            let id = try #require(named.json["id"]?.string)
            #expect(try await client.administer(.get, "/v1.0/groups/\(id)").json["mailNickname"] == "sales-north.1")
            #expect(try await make(.null).json["mailNickname"] == "FieldSales")
            for bad in ["", "two words", "a@b", "ä", .string(String(repeating: "x", count: 65)), 7] as [JSONValue] {
                let answer = try await make(bad)
                #expect(answer.status == .badRequest, "\(bad)")
                #expect(answer.json["error"]?["details"]?.array?.first?["target"] == "mailNickname")
            }
        }
    }

    /// The ids of a list, in its order.
    private func ids(_ client: TestClient, _ path: String) async throws -> [String] {
        let list = try await client.administer(.get, "/v1.0/" + path).json["value"]?.array ?? []
        #expect(list.allSatisfy { $0["@odata.type"]?.string?.hasPrefix("#microsoft.graph.") == true })
        return list.compactMap { $0["id"]?.string }
    }

    @Test func `membership is found whatever the case of ids, direct and through another group`() async throws {
        let service = try await TestService()
        let (a, b) = (TestPerson.workerA, TestPerson.workerB)
        for group in [
            DirectoryGroup(id: "inner", displayName: "Inner", members: [.user(a.id.uppercased())]),
            DirectoryGroup(id: "middle", displayName: "Middle", members: [.group("INNER"), .user(b.id)]),
            DirectoryGroup(id: "outer", displayName: "Outer", members: [.group("middle")]),
        ] {
            try await service.service.provisioning.saveGroup(group, as: TestService.owner)
        }
        try await service.test { client in
            #expect(try await ids(client, "users/\(a.id)/memberOf") == [TestService.group, "inner"])
            #expect(
                try await ids(client, "users/\(a.id)/transitiveMemberOf") == [
                    TestService.group, "inner", "middle", "outer",
                ])
            #expect(try await ids(client, "users/\(b.id)/memberOf") == ["middle"])
            #expect(try await ids(client, "groups/outer/members") == ["middle"])
            #expect(try await ids(client, "groups/outer/transitiveMembers") == [a.id, b.id, "inner", "middle"])
            #expect(try await ids(client, "groups/middle/members") == [b.id, "inner"])
            let count = try await client.administer(.get, "/v1.0/groups/middle/members/$count")
            #expect(count.body == .init(string: "2"))
            // Cast to a type, a list has its entities of that type alone.
            let members = "groups/middle/members/microsoft.graph"
            for members in [members, "groups/middle/members/graph"] {
                #expect(try await ids(client, members + ".user") == [b.id])
                #expect(try await ids(client, members + ".group") == ["inner"])
                #expect(try await ids(client, members + ".directoryObject") == [b.id, "inner"])
            }
            // What the cast leaves out is not asked for what people have.
            for query in ["$filter=accountEnabled%20eq%20true", "$orderby=userPrincipalName", "$search=%22mail:a%22"] {
                let none = try await client.administer(
                    .get, "/v1.0/groups/outer/members/microsoft.graph.user?" + query)
                #expect(none.status == .ok && none.json["value"] == [], "\(query)")
            }
            #expect(try await ids(client, "groups/outer/transitiveMembers/microsoft.graph.user") == [a.id, b.id])
            let groups = try await client.administer(.get, "/v1.0/\(members).group/$count")
            #expect(groups.body == .init(string: "1"))
            // A place of another list has nobody behind it.
            for (list, place) in [
                ("transitiveMembers", a.id), ("transitiveMembers", "u/" + a.id), ("members", "1/" + a.id),
            ] {
                let token = GraphPlace(id: place, end: 1, values: []).text
                let foreign = try await client.administer(.get, "/v1.0/groups/outer/\(list)?$skiptoken=\(token)")
                #expect(foreign.status == .badRequest, "\(list) \(place)")
            }
            // Who leaves between two pages takes nobody along.
            let first = try await client.administer(.get, "/v1.0/groups/outer/transitiveMembers?$top=2").json
            let link = try #require(first["@odata.nextLink"]?.string)
            try await service.service.provisioning.changeMembers(
                ofGroup: "middle", adding: [], removing: [.user(b.id)], as: TestService.owner)
            #expect(
                try await ids(client, String(link.dropFirst("http://localhost/v1.0/".count))) == ["inner", "middle"])
        }
    }

    @Test(arguments: ["", "/graph.user"])
    func `a page of a group's members reads its own alone, and the next begins after it`(cast: String) async throws {
        let storage = CountingStorage()
        let service = try await TestService(storage: storage)
        let people = (100..<160).map { "member-\($0)" }
        for id in people {
            try await service.service.provisioning.saveUser(
                DirectoryUser(id: id, userPrincipalName: "\(id)@contoso.example", displayName: id),
                as: TestService.owner)
        }
        let members = people.map(DirectoryGroup.Member.user) + [.user("gone"), .group(TestService.group)]
        try await service.service.provisioning.saveGroup(
            DirectoryGroup(id: "large", displayName: "Large", members: Set(members)), as: TestService.owner)
        try await service.test { client in
            var (found, next): ([String], String?) = ([], "/v1.0/groups/LARGE/members\(cast)?$top=20")
            var pages = 0
            while let path = next, pages < 9 {
                let before = try await storage.counts { _ = try await client.administer(.get, path) }
                #expect(before.read[.user] ?? 0 <= 40 && before.read[.membership] ?? 0 <= 40, "\(before.read)")
                let page = try await client.administer(.get, path).json
                found += (page["value"]?.array ?? []).compactMap { $0["id"]?.string }
                let link = page["@odata.nextLink"]?.string.flatMap(URLComponents.init(string:))
                next = link.map { $0.percentEncodedPath + "?" + ($0.percentEncodedQuery ?? "") }
                pages += 1
            }
            #expect(found == people + (cast.isEmpty ? [TestService.group] : []))
            let ordered = try await ids(client, "groups/large/members?$top=2&$orderby=displayName%20desc")
            #expect(ordered == ["member-159", "member-158"])
            #expect(try await client.administer(.get, "/v1.0/groups/none/members").status == .notFound)
        }
    }

    @Test func `whether a person is blocked is known in any case of the id, also of those who left`() async throws {
        let service = try await TestService()
        let id = TestPerson.workerA.id
        try await service.service.administration.blockUser(id.uppercased(), as: TestService.owner)
        try await service.test { client in
            func answer(_ key: String) async throws -> TestResponse {
                try await client.administer(.get, "/beta/users/\(key)/isManagedAppUserBlocked()")
            }
            for key in [id, id.uppercased(), TestPerson.workerA.name] {
                #expect(try await answer(key).json["value"] == true, "\(key)")
            }
            #expect(try await answer(TestPerson.workerB.id).json["value"] == false)
            try await service.service.provisioning.removeUser(id, as: TestService.owner)
            #expect(try await answer(id).json["value"] == true)
            #expect(try await answer("nobody").status == .notFound)
        }
    }

    @Test func `a filter by a member that nothing has is refused, not answered with every person`() async throws {
        let service = try await TestService()
        try await service.test { client in
            for filter in ["nosuch ne 'x'", "startswith(displayNam,'x')", "not (nosuch eq 1)"] {
                let escaped = try #require(filter.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
                let answer = try await client.administer(.get, "/v1.0/users?$filter=\(escaped)")
                #expect(answer.status == .badRequest, "\(filter)")
            }
            for order in ["nosuch", "displayNam%20desc", "displayName,nosuch"] {
                let answer = try await client.administer(.get, "/v1.0/users?$orderby=\(order)&$top=1")
                #expect(answer.status == .badRequest, "\(order)")
            }
            for (search, status) in [("mial:a", 400), ("accountEnabled:a", 400), ("mail:a", 200), ("a:b c", 400)] {
                let text = search.replacing(" ", with: "%20")
                let answer = try await client.administer(.get, "/v1.0/users?$search=%22\(text)%22")
                #expect(answer.status.code == status, "\(search)")
            }
            let known = try await client.administer(
                .get, "/v1.0/users?$filter=jobTitle%20eq%20null&$orderby=jobTitle")
            #expect(known.status == .ok)
        }
    }

    @Test func `a filter that looks up nothing is refused for a member that nothing has, as any other`() async throws {
        try await TestService().test { client in
            func answer(_ list: String, _ filter: String) async throws -> TestResponse {
                let escaped = try #require(filter.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
                return try await client.administer(.get, "/v1.0/\(list)?$filter=\(escaped)")
            }
            for list in ["groups", "groups/$count", "users", "users/$count"] {
                for filter in ["id eq 'none'", "id in ('none')", "displayName eq 'none'"] {
                    for further in ["dispalyName ne 'x'", "displayName ne 5"] {
                        let refused = try await answer(list, "\(filter) and \(further)")
                        #expect(refused.status == .badRequest, "\(list) \(filter) and \(further)")
                    }
                    let known = try await answer(list, "\(filter) and displayName ne 'x'")
                    #expect(known.status == .ok, "\(list) \(filter)")
                }
            }
        }
    }

    @Test func `a list by name that begins after every name is empty`() async throws {
        try await TestService().test { client in
            func page(_ list: String, after name: String) async throws -> JSONValue? {
                let token = GraphPlace(id: "x", end: 0, values: [.string(name)]).text
                let path = "/v1.0/\(list)?$orderby=displayName&$skiptoken=\(token)"
                let answer = try await client.administer(.get, path)
                #expect(answer.status == .ok)
                return answer.json["value"]
            }
            for list in ["groups", "users"] {
                for name in ["\u{10FFFF}", "\u{10FFFF}z"] {
                    let page = try await page(list, after: name)
                    #expect(page == [], "\(list)")
                }
                // The control: the same token with another name.
                let whole = try await page(list, after: "")
                #expect(whole?.array?.isEmpty == false)
            }
        }
    }

    @Test func `a filter that compares a member with another kind of value is refused`() async throws {
        let service = try await TestService()
        try await service.test { client in
            for filter in [
                "displayName gt 5", "not (displayName eq 5)", "displayName ne true", "accountEnabled ne 'true'",
                "displayName in ('a', 5)", "displayName ne 2026-01-01T00:00:00Z", "accountEnabled ne 'x' or id eq 'y'",
                "startswith(accountEnabled,'t')", "not displayName",
            ] {
                let escaped = try #require(filter.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
                let answer = try await client.administer(.get, "/v1.0/users?$filter=\(escaped)")
                #expect(answer.status == .badRequest, "\(filter)")
            }
            for filter in ["accountEnabled ne false", "displayName ne 'x' and accountEnabled", "jobTitle eq 'x'"] {
                let escaped = try #require(filter.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
                let answer = try await client.administer(.get, "/v1.0/users?$filter=\(escaped)")
                #expect(answer.status == .ok, "\(filter)")
            }
        }
    }
}
