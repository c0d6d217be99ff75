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

/// SRV-OP-030, 037, 038, 040, 044, 045: the apps and assignments of a policy one by one, and what has none.
@Suite struct PolicyTargetingTests {
    private static let root = "/v1.0/deviceAppManagement"
    private static let path = root + "/iosManagedAppProtections"

    private static func app(_ bundleID: String) -> JSONValue {
        [
            "mobileAppIdentifier": [
                "@odata.type": "#microsoft.graph.iosMobileAppIdentifier", "bundleId": .string(bundleID),
            ]
        ]
    }

    private static func assignment(_ group: String) -> JSONValue {
        ["target": ["@odata.type": "#microsoft.graph.groupAssignmentTarget", "groupId": .string(group)]]
    }

    @Test func `who writes by a role of the organisation's own is told of a conflict, and nothing is written`()
        async throws
    {
        let service = try await TestService()
        let policy = try await service.publishPolicy()
        let role = CustomRole(
            id: "writers", displayName: "Writers", permissions: [.read, .writePolicies, .assignPolicies],
            members: ["group-writers"])
        try await service.service.administration.saveResource(role, isNew: true, as: TestService.owner)
        let before = try await service.service.administration.policy(policy.id, as: TestService.owner)
        var claims = TestIssuer.administrationClaims(roles: [], at: service.clock.now)
        claims["groups"] = ["group-writers"]
        let holder = claims
        try await service.test { client in
            let records = try await service.service.administration.auditRecords(
                .init(limit: 1_000), as: TestService.owner
            ).count
            let path = "\(Self.path)('\(policy.id)')"
            for (list, entry) in [
                ("apps", Self.app(TestDevice.bundleID)), ("assignments", Self.assignment(TestService.group)),
            ] {
                let answer = try await client.administer(.post, "\(path)/\(list)", entry, claims: holder)
                #expect(answer.status == .conflict)
            }
            #expect(try await service.service.administration.policy(policy.id, as: TestService.owner) == before)
            let after = try await service.service.administration.auditRecords(
                .init(limit: 1_000), as: TestService.owner
            ).count
            #expect(after == records)
            let new = try await client.administer(.post, path + "/apps", Self.app("org.example.b"), claims: holder)
            #expect(new.status == .created)
        }
    }

    @Test(arguments: ["iosManagedAppProtections", "managedAppPolicies"])
    func `one app and one assignment are added, read, changed, counted and removed`(_ collection: String) async throws {
        let service = try await TestService()
        let policy = try await service.publishPolicy()
        for id in ["group-b", "group-c"] {
            try await service.service.provisioning.saveGroup(
                DirectoryGroup(id: id, displayName: id), as: TestService.owner)
        }
        try await service.test { client in
            let item = "\(Self.root)/\(collection)('\(policy.id)')"
            let cases: [(list: String, first: JSONValue, second: JSONValue, member: String, id: String)] = [
                ("apps", Self.app("org.example.b"), Self.app("org.example.c"), "mobileAppIdentifier", "bundleId"),
                ("assignments", Self.assignment("group-b"), Self.assignment("group-c"), "target", "groupId"),
            ]
            for (list, first, second, member, id) in cases {
                let path = "\(item)/\(list)"
                #expect(try await client.administer(.get, path + "/$count").body == .init(string: "1"))
                let tag = try #require(try await client.administer(.get, item).headers[.eTag])
                let made = try await client.administer(.post, path, first, headers: [.ifMatch: tag])
                #expect(made.status == .created && made.json[member]?[id] == first[member]?[id])
                let key = try #require(made.json["id"]?.string)
                #expect(made.headers[.location]?.hasSuffix("\(list)('\(key)')") == true)
                let read = try await client.administer(.get, "\(path)/\(key)")
                #expect(read.status == .ok && read.json[member]?[id] == first[member]?[id])
                #expect(try await client.administer(.get, path + "/$count").body == .init(string: "2"))
                // The policy has another version now than the one that these expect.
                for (method, place, body) in [
                    (.post, path, second), (.patch, "\(path)/\(key)", second), (.delete, "\(path)/\(key)", nil),
                ] as [(HTTPRequest.Method, String, JSONValue?)] {
                    let late = try await client.administer(method, place, body, headers: [.ifMatch: tag])
                    #expect(late.status == .preconditionFailed, "\(method) \(list)")
                }
                #expect(try await client.administer(.patch, "\(path)/\(key)", second).status == .noContent)
                let all = try await client.administer(.get, path).json["value"]?.array ?? []
                #expect(all.count == 2 && all.contains { $0[member]?[id] == second[member]?[id] })
                #expect(!all.contains { $0[member]?[id] == first[member]?[id] })
                let changed = try #require(all.first { $0[member]?[id] == second[member]?[id] }?["id"]?.string)
                #expect(try await client.administer(.delete, "\(path)/\(changed)").status == .noContent)
                #expect(try await client.administer(.get, "\(path)/\(changed)").status == .notFound)
                #expect(try await client.administer(.delete, "\(path)/none").status == .notFound)
                #expect(try await client.administer(.get, path + "/$count").body == .init(string: "1"))
            }
        }
    }

    /// The assignment of a policy that reaches the phones of a group alone.
    private static let phones = PolicyAssignment(
        .group(TestService.group), id: "one", filterID: "phones", filterMode: .include)

    /// Makes the filter that lets phones through.
    private static func saveFilter(_ service: TestService) async throws {
        let time = service.clock.now
        let filter = AssignmentFilter(
            id: "phones", displayName: "Phones", rule: "(app.osVersion -ge \"17\")", created: time, modified: time)
        try await service.service.administration.saveResource(filter, isNew: true, as: TestService.owner)
    }

    @Test func `v1_0 takes no filter away that it does not show`() async throws {
        let service = try await TestService()
        let policy = try await service.publishPolicy()
        try await Self.saveFilter(service)
        for id in ["group-b", "group-c"] {
            try await service.service.provisioning.saveGroup(
                DirectoryGroup(id: id, displayName: id), as: TestService.owner)
        }
        _ = try await service.service.administration.assignPolicy(
            policy.id, to: [Self.phones], as: TestService.owner)
        try await service.test { client in
            func filters() async throws -> [PolicyAssignment.Target: String?] {
                let policy = try await service.service.administration.policy(policy.id, as: TestService.owner)
                #expect(policy.assignments.allSatisfy { ($0.filterID == nil) == ($0.filterMode == .none) })
                return Dictionary(uniqueKeysWithValues: policy.assignments.map { ($0.target, $0.filterID) })
            }
            let item = "\(Self.path)/\(policy.id)"
            let shown = try await client.administer(.get, item + "/assignments").json["value"]?.array ?? []
            let both: JSONValue = ["assignments": .array(shown + [Self.assignment("group-b")])]
            let kept: [PolicyAssignment.Target: String?] = [
                .group(TestService.group): "phones", .group("group-b"): nil,
            ]
            #expect(try await client.administer(.post, item + "/assign", both).status == .noContent)
            #expect(try await filters() == kept)
            // A group is the same in whatever case its id is written.
            let raised = Self.assignment(TestService.group.uppercased())
            let spelt: JSONValue = ["assignments": [raised, Self.assignment("group-b")]]
            #expect(try await client.administer(.post, item + "/assign", spelt).status == .noContent)
            #expect(try await filters() == [.group(TestService.group.uppercased()): "phones", .group("group-b"): nil])
            let again = try await client.administer(.post, item + "/assignments", Self.assignment(TestService.group))
            #expect(again.status == .conflict)
            #expect(try await client.administer(.patch, item, both).status == .noContent)
            #expect(try await filters() == kept)
            let unmarked: JSONValue = [
                "target": ["@odata.type": "microsoft.graph.groupAssignmentTarget", "groupId": "group-c"]
            ]
            let moved = try await client.administer(.patch, item + "/assignments/one", unmarked)
            #expect(moved.status == .noContent)
            #expect(try await filters() == [.group("group-c"): "phones", .group("group-b"): nil])
            // Named, it is taken away, and beta, which shows it, replaces it as ever.
            let without: JSONValue = ["assignments": [Self.assignment("group-c")]]
            let beta = item.replacing("v1.0", with: "beta")
            #expect(try await client.administer(.post, beta + "/assign", without).status == .noContent)
            #expect(try await filters() == [.group("group-c"): nil])
        }
    }

    @Test(arguments: [(HTTPRequest.Method.post, "/assign"), (.patch, "")])
    func `a filter that is set while v1_0 writes assignments stays`(method: HTTPRequest.Method, place: String)
        async throws
    {
        let storage = MeanwhileStorage()
        let service = try await TestService(storage: storage)
        let (policy, admin) = (try await service.publishPolicy(), service.service.administration)
        try await Self.saveFilter(service)
        let body: JSONValue = ["assignments": [Self.assignment(TestService.group)]]
        try await service.test { client in
            let path = "\(Self.path)/\(policy.id)"
            func write(_ headers: HTTPFields, settingTheFilterAfter reads: Int) async throws -> HTTPResponse.Status {
                storage.meanwhile(after: ManagedAppPolicy.self, read: reads) {
                    _ = try await admin.assignPolicy(policy.id, to: [Self.phones], as: TestService.owner)
                }
                let answer = try await client.administer(method, path + place, body, headers: headers)
                #expect(storage.hasRun)
                #expect(try await admin.policy(policy.id, as: TestService.owner).assignments == [Self.phones])
                return answer.status
            }
            for reads in 1...2 {
                let plain = PolicyAssignment(.group(TestService.group), id: "one")
                let before = try await admin.assignPolicy(policy.id, to: [plain], as: TestService.owner)
                let late = try await write([.ifMatch: "\"\(before.version)\""], settingTheFilterAfter: reads)
                #expect(late == .preconditionFailed)
                _ = try await admin.assignPolicy(policy.id, to: [plain], as: TestService.owner)
                #expect(try await write([:], settingTheFilterAfter: reads) == .noContent)
            }
        }
    }

    @Test func `any policy is read, changed and deleted through the mixed collection`() async throws {
        let service = try await TestService()
        let policy = try await service.publishPolicy()
        try await service.test { client in
            let item = "\(Self.root)/managedAppPolicies/\(policy.id)"
            #expect(try await client.administer(.patch, item, ["printBlocked": true]).status == .noContent)
            let read = try await client.administer(.get, item).json
            #expect(read["printBlocked"] == true && read["saveAsBlocked"] == true)
            #expect(read["@odata.type"] == "#microsoft.graph.iosManagedAppProtection")
            let wrong = try await client.administer(
                .patch, item, ["@odata.type": "#microsoft.graph.targetedManagedAppConfiguration"])
            #expect(wrong.status == .badRequest)
            #expect(try await client.administer(.delete, item).status == .noContent)
            #expect(try await client.administer(.get, item).status == .notFound)
        }
    }

    @Test func `a policy is aimed at every app, and back at those that it lists`() async throws {
        let service = try await TestService()
        let policy = try await service.publishPolicy()
        try await service.test { client in
            let item = "/beta/deviceAppManagement/iosManagedAppProtections/\(policy.id)"
            let all = try await client.administer(.post, item + "/targetApps", ["appGroupType": "ALLAPPS"])
            #expect(all.status == .noContent)
            let read = try await client.administer(.get, item + "?$expand=apps").json
            #expect(read["appGroupType"] == "allApps" && read["apps"] == [])
            let some: JSONValue = ["apps": [Self.app("org.example.b")], "appGroupType": "selectedPublicApps"]
            #expect(try await client.administer(.post, item + "/targetApps", some).status == .noContent)
            let listed = try await client.administer(.get, item + "?$expand=apps").json
            #expect(listed["appGroupType"] == "selectedPublicApps" && listed["deployedAppCount"] == 1)
            for wrong: JSONValue in [["appGroupType": "someApps"], ["appGroupType": "selectedPublicApps"], [:]] {
                #expect(try await client.administer(.post, item + "/targetApps", wrong).status == .badRequest)
            }
        }
    }

    @Test func `a default protection is read, changed and counted, and has no assignments`() async throws {
        try await TestService().test { client in
            let collection = "\(Self.root)/defaultManagedAppProtections"
            let made = try await client.administer(.post, collection, ["displayName": "D"])
            let id = try #require(made.json["id"]?.string)
            #expect(made.status == .created && id.hasPrefix("D_"))
            #expect(made.json["isAssigned"] == nil && made.json["appGroupType"] == nil)
            let item = "\(collection)/\(id)"
            #expect(try await client.administer(.patch, item, ["printBlocked": true]).status == .noContent)
            #expect(try await client.administer(.get, item).json["printBlocked"] == true)
            #expect(try await client.administer(.get, collection + "/$count").body == .init(string: "1"))
            for path in ["/assignments", "/assignments/$count", "/assignments/x"] {
                let answer = try await client.administer(.get, item + path)
                #expect(answer.status == .notFound && answer.json["error"]?["code"] == "ResourceNotFound")
            }
            let body: JSONValue = ["assignments": [Self.assignment(TestService.group)]]
            #expect(try await client.administer(.post, item + "/assign", body).status == .notFound)
            let batch: JSONValue = [
                "requests": [
                    [
                        "id": "1", "method": "GET",
                        "url": .string("deviceAppManagement/defaultManagedAppProtections/\(id)/assignments"),
                    ]
                ]
            ]
            let answers = try await client.administer(.post, "/beta/$batch", batch).json["responses"]?.array
            #expect(answers?.map { $0["status"] } == [404])
            #expect(answers?.first?["body"]?["error"]?["code"] == "ResourceNotFound")
        }
    }
}
