import CordonBase
import CordonPolicy
import CordonService
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import NIOConcurrencyHelpers
import NIOCore
import Testing

@testable import CordonServiceHTTP

/// Lists of provisioning are cut while the store is read.
@Suite struct SCIMListTests {
    private static let people = 7

    /// A service with seven further people and groups, each group with two people in it.
    private func asking(_ body: @escaping @Sendable (CountingStorage, TestService, TestClient) async throws -> Void)
        async throws
    {
        let storage = CountingStorage()
        let service = try await TestService(storage: storage)
        for number in 0..<Self.people {
            try await service.service.provisioning.saveUser(
                DirectoryUser(
                    id: "P\(number)", userPrincipalName: "p\(number)@contoso.example",
                    displayName: number.isMultiple(of: 2) ? "Even \(number)" : "Odd \(number)",
                    surname: "Family \(number % 3)"),
                as: TestService.owner)
            try await service.service.provisioning.saveGroup(
                DirectoryGroup(
                    id: "G\(number)", displayName: "Group \(number)",
                    members: [.user("P\(number)"), .user("P\((number + 1) % Self.people)")]), as: TestService.owner)
        }
        try await service.test { try await body(storage, service, $0) }
    }

    private static func ids(_ list: JSONValue) -> [String] {
        (list["Resources"]?.array ?? []).compactMap { $0["id"]?.string }
    }

    @Test(arguments: ["/scim/v2/Users", "/scim/v2/Groups", "/scim/v2/Groups?excludedAttributes=members"])
    func `pages follow one another, and each reads what it shows`(path: String) async throws {
        try await asking { storage, _, client in
            let path = path + (path.contains("?") ? "&" : "?")
            let whole = try await client.administer(.get, path + "count=1000").json
            let total = Int(whole["totalResults"]?.integer ?? 0)
            #expect(total >= Self.people && Self.ids(whole).count == total && Set(Self.ids(whole)).count == total)
            let kind: StorageKind = path.contains("Users") ? .user : .group
            var ids: [String] = []
            while ids.count < total {
                let before = ids.count
                let reads = try await storage.reads {
                    let page = try await client.administer(.get, path + "startIndex=\(before + 1)&count=2").json
                    #expect(page["totalResults"]?.integer == Int64(total))
                    #expect(page["startIndex"]?.integer == Int64(before + 1))
                    ids += Self.ids(page)
                }
                #expect(reads[kind]?.paged ?? 9 <= 2 && reads[kind]?.all == 0, "page from \(before + 1)")
                guard ids.count > before else { break }
            }
            #expect(ids == Self.ids(whole))
            // A page out of turn, one asked for again, and one beyond the end.
            for _ in 0..<2 {
                let third = try await client.administer(.get, path + "startIndex=3&count=2").json
                #expect(Self.ids(third) == Array(ids[2..<4]))
            }
            let none = try await client.administer(.get, path + "startIndex=\(total + 1)").json
            #expect(Self.ids(none).isEmpty && none["totalResults"]?.integer == Int64(total))
            let number = try await client.administer(.get, path + "count=0").json
            #expect(Self.ids(number).isEmpty && number["totalResults"]?.integer == Int64(total))
        }
    }

    @Test func `a filter that no index answers is counted over all and shows one page`() async throws {
        try await asking { storage, _, client in
            let family = "/scim/v2/Users?filter=name.familyName%20eq%20%22family%200%22"
            let reads = try await storage.reads {
                let page = try await client.administer(.get, family + "&startIndex=2&count=1").json
                #expect(Self.ids(page) == ["P3"] && page["totalResults"] == 3)
            }
            #expect(reads[.user]?.all == 0)
            let members = "/scim/v2/Groups?filter=members.value%20eq%20%22p3%22"
            let found = try await client.administer(.get, members).json
            #expect(Self.ids(found) == ["G2", "G3"] && found["totalResults"] == 2)
            #expect((found["Resources"]?.array ?? []).allSatisfy { $0["members"]?.array?.count == 2 })
        }
    }

    @Test func `a person is found by display name without reading the others`() async throws {
        try await asking { storage, _, client in
            let reads = try await storage.reads {
                let page = try await client.administer(
                    .get, "/scim/v2/Users?filter=displayName%20eq%20%22odd%203%22"
                ).json
                #expect(Self.ids(page) == ["P3"] && page["totalResults"] == 1)
            }
            #expect(reads[.user]?.paged == 1 && reads[.user]?.all == 0)
        }
    }

    @Test(arguments: [1, 70])
    func `a member without a type is a group where there is one, and no others are read for that`(
        people: Int
    ) async throws {
        try await asking { storage, service, client in
            let members = ["g3"] + (0..<people).map { "person-\($0)" }
            let reads = try await storage.reads {
                let made = try await client.administer(
                    .post, "/scim/v2/Groups",
                    [
                        "externalId": "outer", "displayName": "Outer",
                        "members": .array(members.map { ["value": .string($0)] }),
                    ])
                #expect(made.status == .created)
            }
            let outer = try await service.service.administration.group("outer", as: TestService.owner)
            #expect(outer.members.count == members.count && outer.members.contains(.group("g3")))
            #expect(reads[.group]?.all == 0)
        }
    }

    @Test func `a page whose records take long to read is given up`() async throws {
        let shown = Locked(0)
        await #expect(throws: Refusal(.serviceUnavailable, "too-much", "")) {
            let head = HTTPRequest(method: .get, scheme: nil, authority: nil, path: "/scim/v2/Groups")
            let list = try SCIMList(Request(head: head, body: RequestBody(buffer: ByteBuffer())))
            let source = SCIMList.Source<String>(
                total: { 3 }, read: { _, _, _ in ["a", "b", "c"] }, id: \.self, looked: { .string($0) },
                shown: { id in
                    shown.withLock { $0 += 1 }
                    return .string(id)
                })
            try await AdministrationDeadline.$end.withValue(.now.advanced(by: .seconds(-1))) {
                _ = try await list.answer(source, SCIMPlaces(), .init(administrator: "ada", list: "Groups"))
            }
        }
        #expect(shown.withLock { $0 } == 0)
    }

    @Test(arguments: ["/scim/v2/Groups", "/scim/v2/Groups?filter=active%20eq%20true"])
    func `a page of groups with many members is shorter, and the next one goes on where it ends`(path: String)
        async throws
    {
        let (ids, places) = (["a", "b", "c", "d"], SCIMPlaces())
        @Sendable func group(_ id: String) -> JSONValue {
            let members = id == "c" ? 60_000 : 20_000
            return ["id": .string(id), "active": true, "members": .array(Array(repeating: .null, count: members))]
        }
        let source = SCIMList.Source<String>(
            total: { ids.count },
            read: { after, skipped, limit in
                Array(ids.drop { $0 <= after ?? "" }.dropFirst(skipped).prefix(limit))
            }, id: \.self, looked: group, shown: group)
        var (start, pages): (Int, [Int64]) = (1, [])
        while start <= ids.count, pages.count < ids.count {
            let path = path + (path.contains("?") ? "&" : "?") + "startIndex=\(start)"
            let head = HTTPRequest(method: .get, scheme: nil, authority: nil, path: path)
            let list = try SCIMList(Request(head: head, body: RequestBody(buffer: ByteBuffer())))
            let answer = try await list.answer(source, places, .init(administrator: "ada", list: "Groups"))
            let recorder = EventStreamResponseTests.Recorder()
            try await answer.body.write(recorder)
            let page = try JSONValue(parsing: recorder.written.withLockedValue { Data($0.readableBytesView) })
            #expect(page["totalResults"] == 4 && Self.ids(page).first == ids[start - 1])
            pages.append(page["itemsPerPage"]?.integer ?? 0)
            start += Int(pages.last ?? 0)
        }
        #expect(pages == [2, 1, 1])
    }

    @Test func `a place is told once, and to the one who read the page before`() {
        let places = SCIMPlaces()
        let (ada, ben) = (
            SCIMPlaces.Name(administrator: "ada", list: "Users"), SCIMPlaces.Name(administrator: "ben", list: "Users")
        )
        places.note("u2", ada, 3)
        #expect(places.take(ben, 3) == nil && places.take(ada, 2) == nil)
        #expect(places.take(ada, 3) == "u2")
        #expect(places.take(ada, 3) == nil)
    }
}
