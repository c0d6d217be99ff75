import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonService
import CordonTestSupport
import Foundation
import HTTPTypes
import HummingbirdTesting
import NIOCore
import Testing

@testable import CordonServiceHTTP

/// A list costs what its page shows, whatever the organisation has.
@Suite struct PageReadsTests {
    private static let path = "/v1.0/deviceAppManagement/managedAppRegistrations"

    /// A service with so many registrations, each with a wipe, and how it is asked.
    private func asking(
        _ count: Int, _ body: @escaping @Sendable (CountingStorage, TestService, TestClient) async throws -> Void
    ) async throws {
        let storage = CountingStorage()
        let service = try await TestService(storage: storage)
        let owner = TestService.owner
        _ = try await service.publishPolicy()
        for number in 0..<count {
            let device = TestDevice(tag: "tag-\(number)")
            let account = ManagedAccount(
                id: AccountID(TestPerson.workerA.id), tenant: TestService.tenant,
                userPrincipalName: TestPerson.workerA.name)
            _ = try await service.service.devices.register(
                device.registration, by: DeviceCaller(account: account, key: device.key.publicKey))
            _ = try await service.service.administration.requestWipe(
                ofUser: TestPerson.workerA.id, deviceTag: device.tag, as: owner)
        }
        // What is told behind the changes reads registrations too.
        try await service.service.finishAnnouncing(of: TestService.tenant)
        try await service.test { try await body(storage, service, $0) }
    }

    @Test(arguments: [
        // The page, and one more to know whether there is another.
        ("?$top=2&$expand=operations,intendedPolicies,appliedPolicies", 3),
        (
            "?$top=2&$expand=operations,intendedPolicies&$filter=deviceTag%20ne%20'x'&$orderby=deviceTag%20desc&$count=true",
            9
        ),
    ])
    func `what $expand adds is read for the page alone`(query: String, listed: Int) async throws {
        try await asking(9) { storage, _, client in
            let reads = try await storage.reads {
                let page = try await client.administer(.get, Self.path + query).json
                let shown = page["value"]?.array ?? []
                #expect(shown.count == 2 && page["@odata.nextLink"] != nil)
                #expect(shown.allSatisfy { $0["operations"]?.array?.count == 1 })
                #expect(shown.allSatisfy { $0["intendedPolicies"]?.array?.count == 1 })
            }
            #expect(reads[.operation] == .init(some: 2))
            // Those listed, and one by its id for each that is expanded.
            #expect(reads[.registration] == .init(one: 2, paged: listed))
        }
    }

    @Test func `an item of a batch and a count cost no more`() async throws {
        try await asking(9) { storage, _, client in
            let batch = try await storage.reads {
                let url = "/deviceAppManagement/managedAppRegistrations?$top=1&$expand=operations"
                let answer = try await client.administer(
                    .post, "/v1.0/$batch",
                    ["requests": [["id": "1", "method": "GET", "url": .string(url)]]])
                #expect(answer.json["responses"]?.array?.first?["status"] == 200)
            }
            #expect(batch[.operation] == .init(some: 1))
            let count = try await storage.reads {
                let number = try await client.administer(.get, Self.path + "/$count")
                #expect(number.body == .init(string: "9"))
            }
            #expect(count[.operation] == nil && count[.registration] == nil)
        }
    }

    @Test func `pages with what is expanded follow one another, and a filter may look at operations`() async throws {
        try await asking(5) { storage, service, client in
            var (link, ids): (String?, [String]) = (
                Self.path + "?$top=2&$expand=operations&$orderby=deviceTag%20desc", []
            )
            while let next = link {
                let page = try await client.administer(.get, next).json
                ids += (page["value"]?.array ?? []).compactMap { $0["deviceTag"]?.string }
                link = page["@odata.nextLink"]?.string.flatMap(URL.init(string:)).map {
                    "\($0.path())?\($0.query() ?? "")"
                }
            }
            #expect(ids == ["tag-4", "tag-3", "tag-2", "tag-1", "tag-0"])
            let all = try await service.service.administration.operations(ofRegistration: nil, as: TestService.owner)
            let cancelled = try await service.service.administration.cancelOperation(all[0].id, as: TestService.owner)
            let filter = "?$expand=operations&$filter=operations/any(o:o/state%20eq%20'cancelled')"
            let reads = try await storage.reads {
                let found = try await client.administer(.get, Self.path + filter).json["value"]?.array ?? []
                #expect(found.map { $0["id"]?.string } == [cancelled.registrationID])
            }
            // One look-up for each registration that is looked at, and one for the one that is shown: never every wipe there is.
            #expect(reads[.operation] == .init(some: 6))
            let refused = try await client.administer(
                .get, Self.path + "?$expand=intendedPolicies&$filter=intendedPolicies/any()")
            #expect(refused.status == .badRequest)
        }
    }

    @Test
    func `a filter by person, app or sign-in name reads those alone, and a report its page of apps and their people`()
        async throws
    {
        try await asking(9) { storage, service, client in
            for number in 0..<8 {
                try await service.service.provisioning.saveUser(
                    DirectoryUser(
                        id: "p\(number)", userPrincipalName: "\(number < 2 ? "few" : "p")\(number)@contoso.example",
                        displayName: "P"), as: TestService.owner)
            }
            for (query, found, read) in [
                ("userId%20eq%20'nobody'", 0, 0), ("appIdentifier/bundleId%20eq%20'com.example.none'", 0, 0),
                ("userId%20eq%20'\(TestPerson.workerA.id.uppercased())'%20and%20deviceTag%20eq%20'tag-3'", 1, 9),
            ] {
                let reads = try await storage.reads {
                    let page = try await client.administer(.get, Self.path + "?$filter=" + query).json
                    #expect(page["value"]?.array?.count == found, "\(query)")
                }
                #expect(reads[.registration]?.paged ?? 0 == read && reads[.registration]?.all ?? 0 == 0, "\(query)")
            }
            for (query, found) in [
                ("startswith(userPrincipalName,'Few')", 2), ("userPrincipalName%20eq%20'few1@contoso.example'", 1),
            ] {
                let reads = try await storage.reads {
                    let page = try await client.administer(.get, "/v1.0/users?$count=true&$filter=" + query).json
                    #expect(page["value"]?.array?.count == found && page["@odata.count"]?.integer == Int64(found))
                }
                #expect(reads[.user]?.all ?? 0 == 0 && reads[.user]?.paged ?? 0 <= 2, "\(query)")
            }
            for (query, found) in [
                ("userName%20eq%20%22FEW1@contoso.example%22", "p1"), ("externalId%20eq%20%22p3%22", "p3"),
                ("externalId%20eq%20%22nobody%22", nil), ("id%20eq%20%22p3@contoso.example%22", nil),
            ] as [(String, String?)] {
                let reads = try await storage.reads {
                    let list = try await client.administer(.get, "/scim/v2/Users?filter=" + query).json
                    #expect(list["Resources"]?.array?.compactMap { $0["id"]?.string } == [found].compactMap(\.self))
                }
                #expect(reads[.user]?.all ?? 0 == 0, "\(query)")
            }
            let jobs = "/beta/deviceManagement/reports/exportJobs"
            for format in ["csv", "json"] {
                let job = try await client.administer(
                    .post, jobs, ["reportName": "MAMAppProtectionStatus", "format": .string(format)]
                ).json
                let id = try #require(job["id"]?.string)
                let reads = try await storage.reads {
                    let file = try await client.administer(.get, "\(jobs)/\(id)/file")
                    let text = String(buffer: file.body)
                    if format == "json" {
                        #expect(try JSONValue(parsing: Data(text.utf8))["values"]?.array?.count == 9)
                    } else {
                        #expect(text.split(separator: "\r\n").count == 10)
                    }
                }
                #expect(reads[.registration]?.all ?? 0 == 0 && reads[.user]?.all ?? 0 == 0)
            }
        }
    }

    @Test func `how people stand, those in a state and the newest audit records are read for the page alone`()
        async throws
    {
        try await asking(9) { storage, service, client in
            let (person, owner) = (TestPerson.workerA.id, TestService.owner)
            for number in 0..<30 {
                try await service.service.provisioning.saveUser(
                    DirectoryUser(id: "p\(number)", userPrincipalName: "p\(number)@contoso.example", displayName: "P"),
                    as: owner)
            }
            try await service.service.administration.blockUser(person, as: owner)
            for path in [
                "/admin/v1/people?user=\(person)&user=p3&user=unknown", "/admin/v1/people?state=blocked&top=1",
            ] {
                let reads = try await storage.reads {
                    let people = try await client.administer(.get, path).json["people"]?.array ?? []
                    #expect(people.contains { $0["userID"]?.string == person && $0["isBlocked"] == true })
                    #expect(people.allSatisfy { $0["userID"] != "unknown" } && people.count <= 2)
                }
                #expect(reads[.user]?.all ?? 0 == 0 && reads[.user]?.one ?? 0 <= 5, "\(path)")
                #expect(reads[.registration]?.all ?? 0 == 0 && reads[.block]?.all ?? 0 == 0, "\(path)")
            }
            #expect(try await client.administer(.get, "/admin/v1/people?state=odd").status == .badRequest)
            var (before, sequences): (Int64, [Int64]) = (0, [])
            repeat {
                let page = try await client.administer(.get, "/admin/v1/audit/records?limit=7&before=\(before)").json
                sequences += (page["records"]?.array ?? []).compactMap { $0["sequence"]?.integer }
                before = page["next"]?.integer ?? 0
            } while before > 0
            // Every record once, the newest first.
            #expect(sequences.count > 30 && sequences == Array((1...(sequences.first ?? 1)).reversed()))
            let named =
                try await client.administer(
                    .get, "/admin/v1/audit/records?limit=5&before=0&action=user.block"
                ).json["records"]?.array ?? []
            #expect(named.map { $0["action"]?.string } == ["user.block"])
            let whose =
                try await client.administer(
                    .get, "/admin/v1/audit/records?limit=9&before=0&person=\(person.uppercased())"
                ).json["records"]?.array ?? []
            #expect(
                whose.contains { $0["action"] == "user.block" }
                    && whose.contains { $0["action"] == "registration.create" })
            #expect(
                !whose.contains {
                    ["policy.create", "user.save"].contains($0["action"]?.string)
                        && $0["target"]?.string != "user/\(person)"
                })
        }
    }

    @Test func `a page of the audit log reads the people on it, not the directory`() async throws {
        let storage = CountingStorage()
        let service = try await TestService(storage: storage)
        let owner = TestService.owner
        try await service.service.provisioning.saveUser(
            DirectoryUser(id: owner.id, userPrincipalName: owner.name, displayName: "Ada"), as: owner)
        _ = try await service.publishPolicy()
        try await service.test { client in
            let path = "/v1.0/deviceManagement/auditEvents"
            let reads = try await storage.reads {
                let events = try await client.administer(.get, path + "?$top=50").json["value"]?.array ?? []
                #expect(events.contains { $0["actor"]?["userPrincipalName"]?.string == owner.name })
                #expect(events.contains { $0["resources"]?.array?.first?["displayName"] == "Notes" })
            }
            #expect(reads[.user]?.all == 0)
            let count = try await storage.reads { _ = try await client.administer(.get, path + "/$count") }
            #expect(count[.user] == nil && count[.policy] == nil)
            let named = "actor/userPrincipalName%20eq%20'\(owner.name)'"
            for query in ["?$filter=\(named)&$top=1", "?$filter=\(named)&$orderby=activityDateTime&$top=1"] {
                let looked = try await storage.reads {
                    let page = try await client.administer(.get, path + query).json
                    #expect(page["value"]?.array?.count == 1)
                }
                #expect(looked[.user] == .init(one: 1), "\(query)")
                #expect(looked[.policy]?.all == 1, "\(query)")
            }
        }
    }

    @Test func `who asked for logs, and which members of a group are groups, is read by id`() async throws {
        let storage = CountingStorage()
        let service = try await TestService(storage: storage)
        let owner = TestService.owner
        for number in 0..<100 {
            try await service.service.provisioning.saveGroup(
                DirectoryGroup(id: "g\(number)", displayName: "G"), as: owner)
        }
        _ = try await service.publishPolicy()
        try await service.service.finishAnnouncing(of: TestService.tenant)
        try await service.test { client in
            let registration = try await client.register(TestDevice()).registrationID
            let path = "/beta/users/\(TestPerson.workerA.name)/managedAppLogCollectionRequests"
            _ = try await client.administer(.post, path, ["managedAppRegistrationId": .string(registration)])
            let logs = try await storage.reads {
                let page = try await client.administer(.get, path).json
                #expect(page["value"]?.array?.count == 1)
            }
            #expect(logs[.user]?.all ?? 0 == 0 && logs[.logCollection] == .init(some: 1))
            // More members without a type than groups, three of them groups.
            let members = (0..<150).map { ["value": .string($0 < 3 ? "G\($0)" : "p\($0)")] as JSONValue }
            let put = try await storage.reads {
                let answer = try await client.administer(
                    .put, "/scim/v2/Groups/g99", ["displayName": "G", "members": .array(members)])
                #expect(answer.status == .ok)
                let types = (answer.json["members"]?.array ?? []).compactMap { $0["type"]?.string }
                #expect(types.count { $0 == "Group" } == 3 && types.count == 150)
            }
            #expect(put[.group]?.all ?? 0 == 0, "\(String(describing: put[.group]))")
        }
    }

    /// What a list of operators gives on pages of two, each of which reads no more than it shows.
    private func pages(
        of list: String, _ kind: StorageKind, _ storage: CountingStorage, _ client: TestClient
    ) async throws -> [String] {
        var (next, ids): (String?, [String]) = (list + "?top=2", [])
        while let path = next {
            let reads = try await storage.reads {
                let answer = try await client.administer(.get, path)
                ids += (answer.json.array ?? []).compactMap { $0["id"]?.string }
                next = answer.headers[.link].map { String($0.dropFirst().prefix { $0 != ">" }) }
            }
            // Those shown, one more to know whether there are others, and the one after which the page begins.
            let read = reads[kind] ?? .init(all: 1)
            #expect(read.all == 0 && read.some == 0 && read.paged <= 3 && read.one <= 1, "\(path): \(read)")
        }
        #expect(try await client.administer(.get, list + "?after=none").status == .notFound)
        return ids
    }

    @Test func `requests for logs, and commands, are read for the page alone, also where $expand adds them`()
        async throws
    {
        try await asking(9) { storage, service, client in
            let registrations = try await client.administer(.get, Self.path).json["value"]?.array ?? []
            let apps = registrations.compactMap { $0["id"]?.string }
            for id in apps {
                service.clock.advance(by: 60)
                let administration = service.service.administration
                _ = try await administration.requestLogs(ofRegistration: id, as: TestService.owner)
                _ = try await administration.requestCommand(.resetPIN, ofRegistration: id, as: TestService.owner)
            }
            try await service.service.finishAnnouncing(of: TestService.tenant)
            for (list, kind) in [("/admin/v1/logs", StorageKind.logCollection), ("/admin/v1/commands", .command)] {
                let whole = try await client.administer(.get, list).json.array ?? []
                #expect(whole.compactMap { $0["registrationID"]?.string } == apps.reversed(), "\(list)")
                let ids = try await pages(of: list, kind, storage, client)
                #expect(ids.count == 9 && ids == whole.compactMap { $0["id"]?.string }, "\(list)")
            }
            let expand = "$expand=managedAppLogCollectionRequests"
            for (query, some) in [
                ("?$top=2&" + expand, 2),
                ("?$top=2&\(expand)&$filter=managedAppLogCollectionRequests/any(r:r/version%20eq%20'0')", 11),
            ] {
                let reads = try await storage.reads {
                    let shown = try await client.administer(.get, Self.path + query).json["value"]?.array ?? []
                    #expect(shown.count == 2, "\(query)")
                    #expect(
                        shown.allSatisfy { $0["managedAppLogCollectionRequests"]?.array?.count == 1 }, "\(query)")
                }
                let read = reads[.logCollection] ?? .init(all: 1)
                #expect(read.all == 0 && read.some <= some, "\(query): \(read)")
                #expect(reads[.user]?.all ?? 0 == 0, "\(query)")
            }
        }
    }

    @Test func `pages of registrations, people and groups read one record more than they show, and follow one another`()
        async throws
    {
        try await asking(9) { storage, service, client in
            let owner = TestService.owner
            for number in 0..<8 {
                try await service.service.provisioning.saveUser(
                    DirectoryUser(id: "P\(number)", userPrincipalName: "p\(number)@contoso.example", displayName: "P"),
                    as: owner)
                try await service.service.provisioning.saveGroup(
                    DirectoryGroup(id: "G\(number)", displayName: "G", members: [.user("P\(number)")]), as: owner)
            }
            for (path, kind) in [
                (Self.path, StorageKind.registration), ("/v1.0/users", .user), ("/v1.0/groups", .group),
            ] {
                let whole = try await client.administer(.get, path + "?$top=999&$count=true").json
                let expected = (whole["value"]?.array ?? []).compactMap { $0["id"]?.string }
                #expect(whole["@odata.count"]?.integer == Int64(expected.count) && expected.count >= 8)
                var (link, ids): (String?, [String]) = (path + "?$top=3", [])
                while let next = link {
                    let reads = try await storage.reads {
                        let page = try await client.administer(.get, next).json
                        ids += (page["value"]?.array ?? []).compactMap { $0["id"]?.string }
                        link = page["@odata.nextLink"]?.string.flatMap(URL.init(string:)).map {
                            "\($0.path())?\($0.query() ?? "")"
                        }
                    }
                    #expect(reads[kind]?.paged ?? 9 <= 4 && reads[kind]?.all == 0, "\(path)")
                }
                #expect(ids == expected, "\(path)")
            }
        }
    }

    @Test func `people in the order of their display names are read a page at a time`() async throws {
        let storage = CountingStorage()
        let service = try await TestService(storage: storage)
        // Two of one name, two forms of one letter, and one name that begins another.
        let names = ["zoe", "Ada", "ada", "e\u{301}mile", "\u{E9}va", "Ad", "Ben Ali", "Ben"]
        for (number, name) in names.enumerated() {
            try await service.service.provisioning.saveUser(
                DirectoryUser(id: "P\(number)", userPrincipalName: "p\(number)@contoso.example", displayName: name),
                as: TestService.owner)
        }
        try await service.test { client in
            func all(_ query: String) async throws -> [String] {
                var (link, ids): (String?, [String]) = ("/v1.0/users?" + query, [])
                while let next = link {
                    let reads = try await storage.reads {
                        let page = try await client.administer(.get, next).json
                        ids += (page["value"]?.array ?? []).compactMap { $0["id"]?.string }
                        link = page["@odata.nextLink"]?.string.flatMap(URL.init(string:)).map {
                            "\($0.path())?\($0.query() ?? "")"
                        }
                    }
                    if query.hasPrefix("$top=3") {
                        #expect(reads[.user]?.paged ?? 9 <= 4 && reads[.user]?.all ?? 0 == 0)
                    }
                }
                return ids
            }
            // As the scan orders them, which a filter asks for.
            let expected = try await all("$orderby=displayName&$top=999&$filter=id%20ne%20'none'")
            #expect(expected.count >= names.count)
            #expect(try await all("$top=3&$orderby=displayName") == expected)
            #expect(try await all("$top=3&$orderby=displayName&$count=true") == expected)
            let found = try await storage.reads {
                let filter = "startswith(displayName,'ben')%20or%20startswith(userPrincipalName,'p3')"
                let page = try await client.administer(.get, "/v1.0/users?$filter=" + filter).json
                #expect((page["value"]?.array ?? []).compactMap { $0["id"]?.string } == ["P3", "P6", "P7"])
            }
            #expect(found[.user]?.paged == 3 && found[.user]?.all == 0)
        }
    }

    @Test func `groups are found by the beginnings of their names and by ids, and listed by name a page at a time`()
        async throws
    {
        let storage = CountingStorage()
        let service = try await TestService(storage: storage)
        for number in 0..<40 {
            try await service.service.provisioning.saveGroup(
                DirectoryGroup(id: "G-\(number)", displayName: number < 3 ? "north \(number)" : "South \(number)"),
                as: TestService.owner)
        }
        // What is told behind the changes reads too.
        try await service.service.finishAnnouncing(of: TestService.tenant)
        try await service.test { client in
            func ids(_ query: String, reading most: Int) async throws -> [String] {
                var ids: [String] = []
                let reads = try await storage.reads {
                    let page = try await client.administer(.get, "/v1.0/groups?" + query)
                    #expect(page.status == .ok, "\(query)")
                    ids = (page.json["value"]?.array ?? []).compactMap { $0["id"]?.string }
                }
                let read = reads[.group] ?? .init()
                #expect(read.all == 0 && read.one + read.some + read.paged <= most, "\(query): \(read)")
                return ids
            }
            #expect(try await ids("$filter=startswith(displayName,'NORTH')", reading: 3) == ["G-0", "G-1", "G-2"])
            #expect(try await ids("$filter=id%20in%20('g-7','G-9','none')", reading: 3) == ["G-7", "G-9"])
            #expect(try await ids("$filter=id%20eq%20'G-7'", reading: 1) == ["G-7"])
            let both = "$filter=startswith(displayName,'south')%20and%20id%20in%20('G-1','G-9')"
            #expect(try await ids(both, reading: 2) == ["G-9"])
            let first = try await client.administer(
                .get, "/v1.0/groups?$orderby=displayName&$top=999&$filter=id%20ne%20''")
            let expected = (first.json["value"]?.array ?? []).compactMap { $0["id"]?.string }
            #expect(try await ids("$orderby=displayName&$top=5", reading: 6) == Array(expected.prefix(5)))
        }
    }

    @Test func `the registrations of a device are found by its tag, whatever the case`() async throws {
        try await asking(9) { storage, _, client in
            let reads = try await storage.reads {
                let page = try await client.administer(.get, Self.path + "?$filter=deviceTag%20eq%20'TAG-3'").json
                #expect((page["value"]?.array ?? []).compactMap { $0["deviceTag"]?.string } == ["tag-3"])
            }
            #expect(reads[.registration] == .init(paged: 1))
        }
    }
}
