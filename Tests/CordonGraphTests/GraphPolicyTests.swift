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

@Suite struct GraphPolicyTests {
    private static let path = "/v1.0/deviceAppManagement/iosManagedAppProtections"
    private static let body: JSONValue = [
        "@odata.type": "#microsoft.graph.iosManagedAppProtection", "displayName": "Notes", "saveAsBlocked": true,
        "periodOfflineBeforeAccessCheck": "PT12H", "x-unknown": ["kept": 1],
    ]
    private static let assignment: JSONValue = [
        "assignments": [
            [
                "target": [
                    "@odata.type": "#microsoft.graph.groupAssignmentTarget", "groupId": .string(TestService.group),
                ]
            ]
        ]
    ]
    private static let apps: JSONValue = [
        "apps": [
            [
                "mobileAppIdentifier": [
                    "@odata.type": "#microsoft.graph.iosMobileAppIdentifier", "bundleId": .string(TestDevice.bundleID),
                ]
            ]
        ]
    ]

    private func created(_ client: TestClient) async throws -> (id: String, answer: TestResponse) {
        let answer = try await client.administer(.post, Self.path, Self.body)
        return (try #require(answer.json["id"]?.string), answer)
    }

    @Test func `a new policy is answered whole, with its place and the headers of OData`() async throws {
        try await TestService().test { client in
            let (id, answer) = try await created(client)
            #expect(answer.status == .created)
            #expect(id.hasPrefix("T_"))
            #expect(answer.json["@odata.type"] == "#microsoft.graph.iosManagedAppProtection")
            #expect(answer.json["@odata.context"]?.string?.hasSuffix("iosManagedAppProtections/$entity") == true)
            #expect(answer.json["periodOfflineBeforeAccessCheck"] == "PT12H")
            #expect(answer.json["x-unknown"] == ["kept": 1])
            #expect(answer.headers[.contentType] == "application/json;odata.metadata=minimal;charset=utf-8")
            #expect(answer.headers[.odataVersion] == "4.0")
            #expect(answer.headers[.requestID]?.isEmpty == false)
            #expect(answer.headers[.location]?.hasSuffix("('\(id)')") == true)
            let version = try #require(answer.json["version"]?.string)
            #expect(answer.headers[.eTag] == "W/\"\(version)\"")
        }
    }

    @Test func `a policy is created, aimed, assigned, changed, listed and deleted`() async throws {
        let service = try await TestService()
        try await service.test { client in
            let (id, _) = try await created(client)
            let item = Self.path + "/" + id
            #expect(try await client.administer(.post, item + "/targetApps", Self.apps).status == .noContent)
            #expect(try await client.administer(.post, item + "/assign", Self.assignment).status == .noContent)
            let change = try await client.administer(.patch, item, ["printBlocked": true])
            #expect(change.status == .noContent)
            #expect(change.body.readableBytes == 0)
            let read = try await client.administer(.get, item + "?$expand=apps,assignments").json
            #expect(read["printBlocked"] == true)
            #expect(read["saveAsBlocked"] == true)
            #expect(read["isAssigned"] == true)
            #expect(read["apps"]?.array?.first?["mobileAppIdentifier"]?["bundleId"]?.string == TestDevice.bundleID)
            #expect(read["assignments@odata.context"]?.string?.contains(id) == true)
            #expect(read["assignments"]?.array?.first?["target"]?["groupId"]?.string == TestService.group)
            let intended = try await service.service.administration.intendedPolicies(
                forUser: TestPerson.workerA.id, bundleID: TestDevice.bundleID, as: TestService.owner)
            #expect(intended.map(\.id) == [id])
            #expect(try await client.administer(.delete, item).status == .noContent)
            let gone = try await client.administer(.get, item)
            #expect(gone.status == .notFound)
            #expect(gone.json["error"]?["code"] == "ResourceNotFound")
        }
    }

    @Test func `v1_0 leaves out what only beta has, and beta shows it`() async throws {
        try await TestService().test { client in
            let (id, _) = try await created(client)
            let item = "/deviceAppManagement/iosManagedAppProtections/\(id)"
            try await client.administer(.patch, "/v1.0" + item, ["thirdPartyKeyboardsBlocked": true])
            let old = try await client.administer(.get, "/v1.0" + item).json
            let new = try await client.administer(.get, "/beta" + item).json
            #expect(old["thirdPartyKeyboardsBlocked"] == nil)
            #expect(old["appGroupType"] == nil)
            #expect(new["thirdPartyKeyboardsBlocked"] == true)
            #expect(new["appGroupType"] == "selectedPublicApps")
        }
    }

    @Test func `assignments carry the policy's id in their context, and their source in beta alone`() async throws {
        try await TestService().test { client in
            let (id, _) = try await created(client)
            let item = "deviceAppManagement/iosManagedAppProtections"
            try await client.administer(.post, "/beta/\(item)/\(id)/assign", Self.assignment)
            let beta = try await client.administer(.get, "/beta/\(item)/\(id)/assignments").json
            #expect(beta["@odata.context"]?.string?.hasSuffix("$metadata#\(item)('\(id)')/assignments") == true)
            #expect(beta["value"]?.array?.first?["source"] == "direct")
            let old = try await client.administer(.get, "/v1.0/\(item)/\(id)/assignments").json
            #expect(old["value"]?.array?.first?["source"] == nil)
            #expect(old["value"]?.array?.first?["target"]?["@odata.type"] == "#microsoft.graph.groupAssignmentTarget")
        }
    }

    @Test func `a page links to the next under the host that the client used`() async throws {
        try await TestService().test { client in
            for index in 0..<5 {
                try await client.administer(.post, Self.path, ["displayName": .string("P\(index)")])
            }
            var ids: [String] = []
            var next: String? = Self.path + "?$top=2&$count=true&$select=displayName"
            while let path = next {
                let page = try await client.administer(.get, path)
                #expect(page.json["@odata.count"] == 5)
                for entity in page.json["value"]?.array ?? [] {
                    #expect(Set(entity.object?.keys.map { $0 } ?? []) == ["id", "displayName", "@odata.type"])
                    ids.append(entity["id"]?.string ?? "")
                }
                let link = page.json["@odata.nextLink"]?.string
                #expect(link?.hasPrefix("http://localhost/v1.0/deviceAppManagement/") != false)
                next = link.map { String($0.dropFirst("http://localhost".count)) }
            }
            #expect(ids.count == 5)
            #expect(Set(ids).count == 5)
            #expect(try await client.administer(.get, Self.path + "/$count").body == .init(string: "5"))
            // SRV-OP-031
            let mixed = "/v1.0/deviceAppManagement/managedAppPolicies/$count"
            let named = "?$filter=displayName%20eq%20'P3'"
            for (path, count) in [(mixed, "5"), (mixed + named, "1")] {
                #expect(try await client.administer(.get, path).body == .init(string: count), "\(path)")
            }
        }
    }

    @Test func `versions guard reads and writes where the client asks for it`() async throws {
        try await TestService().test { client in
            let (id, answer) = try await created(client)
            let tag = try #require(answer.headers[.eTag])
            let item = Self.path + "/" + id
            #expect(try await client.administer(.get, item, headers: [.ifNoneMatch: tag]).status == .notModified)
            #expect(
                try await client.administer(.patch, item, ["printBlocked": true], headers: [.ifMatch: tag]).status
                    == .noContent)
            let stale = try await client.administer(.patch, item, ["printBlocked": false], headers: [.ifMatch: tag])
            #expect(stale.status == .preconditionFailed)
            for (action, body) in [("/assign", Self.assignment), ("/targetApps", Self.apps)] {
                let late = try await client.administer(.post, item + action, body, headers: [.ifMatch: tag])
                #expect(late.status == .preconditionFailed)
                #expect(try await client.administer(.post, item + action, body).status == .noContent)
            }
            let shown = try await client.administer(
                .patch, item, ["printBlocked": false], headers: [.prefer: "return=representation"])
            #expect(shown.status == .ok)
            #expect(shown.json["printBlocked"] == false)
            #expect(shown.headers[.preferenceApplied] == "return=representation")
        }
    }

    @Test func `an unacceptable policy names the bad member in Graph's envelope`() async throws {
        try await TestService().test { client in
            let answer = try await client.administer(
                .post, Self.path, ["displayName": "x", "saveAsBlocked": "yes"],
                headers: [.clientRequestID: "abc-1"])
            #expect(answer.status == .badRequest)
            let error = answer.json["error"]
            #expect(error?["code"] == "BadRequest")
            #expect(error?["innerError"]?["client-request-id"] == "abc-1")
            #expect(answer.headers[.clientRequestID] == "abc-1")
            #expect(error?["innerError"]?["request-id"]?.string == answer.headers[.requestID])
            #expect(error?["innerError"]?["date"]?.string?.hasSuffix("Z") == false)
            let targets = error?["details"]?.array?.compactMap { $0["target"]?.string } ?? []
            #expect(targets.contains("saveAsBlocked"))
        }
    }

    @Test func `collections that hold nothing here are empty lists, and other paths errors in the envelope`()
        async throws
    {
        try await TestService().test { client in
            let empty = "/beta/deviceAppManagement/mobileAppConfigurations"
            #expect(try await client.administer(.get, empty).json["value"] == [])
            #expect(try await client.administer(.post, empty, [:]).status == .notImplemented)
            let unknown = try await client.administer(.get, "/beta/deviceAppManagement/nothing")
            #expect(unknown.status == .notFound)
            #expect(unknown.json["error"]?["code"] == "ResourceNotFound")
            let method = try await client.administer(.put, Self.path, [:])
            #expect(method.status == .methodNotAllowed)
            #expect(method.headers[.allow] == "GET, POST")
            let option = try await client.administer(.get, Self.path + "?$apply=groupby(id)")
            #expect(option.json["error"]?["code"] == "BadRequest")
        }
    }

    @Test(arguments: [
        "/v1.0/users", "/V1.0/Users/", "/Beta//users", "/beta/users/?$count=true", "/v1.0/users?%24top=1",
        "//beta/users",
    ])
    func `a path is answered however it is spelt`(_ path: String) async throws {
        try await TestService().test { client in
            let answer = try await client.administer(.get, path)
            #expect(answer.status == .ok)
            #expect(answer.json["value"]?.array?.isEmpty == false)
        }
    }

    @Test func `the mixed collection shows the type of each and takes a typed document`() async throws {
        try await TestService().test { client in
            let mixed = "/beta/deviceAppManagement/managedAppPolicies"
            _ = try await created(client)
            let configuration = try await client.administer(
                .post, mixed,
                [
                    "@odata.type": "#microsoft.graph.targetedManagedAppConfiguration", "displayName": "C",
                    "customSettings": [["name": "k", "value": "v"]],
                ])
            #expect(configuration.status == .created)
            let all = try await client.administer(.get, mixed).json["value"]?.array ?? []
            #expect(
                Set(all.compactMap { $0["@odata.type"]?.string }) == [
                    "#microsoft.graph.iosManagedAppProtection", "#microsoft.graph.targetedManagedAppConfiguration",
                ])
            #expect(try await client.administer(.post, mixed, ["displayName": "untyped"]).status == .badRequest)
            let id = try #require(configuration.json["id"]?.string)
            #expect(try await client.administer(.get, Self.path + "/" + id).status == .notFound)
        }
    }

    @Test(arguments: ["", "&$orderby=displayName", "&$orderby=displayName%20desc,id"])
    func `what follows a page is seen also when the whole page was deleted`(options: String) async throws {
        try await TestService().test { client in
            var names: [String: String] = [:]
            for name in ["a", "b", "b", "c", "d"] {
                let answer = try await client.administer(.post, Self.path, ["displayName": .string(name)])
                names[try #require(answer.json["id"]?.string)] = name
            }
            var seen: [String] = []
            var link: String? = "\(Self.path)?$top=2\(options)"
            while let next = link {
                let page = try await client.administer(.get, next)
                let ids = (page.json["value"]?.array ?? []).compactMap { $0["id"]?.string }
                for id in ids {
                    #expect(try await client.administer(.delete, "\(Self.path)('\(id)')").status == .noContent)
                }
                seen += ids
                link = page.json["@odata.nextLink"]?.string.flatMap(URL.init(string:)).map {
                    "\($0.path())?\($0.query() ?? "")"
                }
            }
            #expect(seen.count == 5 && Set(seen) == Set(names.keys))
            if !options.isEmpty {
                let order = seen.compactMap { names[$0] }
                #expect(order == (options.contains("desc") ? order.sorted(by: >) : order.sorted()))
            }
        }
    }

    @Test func `an entry that the policy has already is a conflict and changes nothing`() async throws {
        let service = try await TestService()
        let policy = try await service.publishPolicy()
        let before = try await service.service.administration.policy(policy.id, as: TestService.owner)
        try await service.test { client in
            let path = "\(Self.path)('\(policy.id)')"
            let records = try await service.service.administration.auditRecords(
                .init(limit: 1_000), as: TestService.owner
            ).count
            let app = try #require(Self.apps["apps"]?.array?.first)
            let assignment = try #require(Self.assignment["assignments"]?.array?.first)
            #expect(try await client.administer(.post, path + "/apps", app).status == .conflict)
            #expect(try await client.administer(.post, path + "/assignments", assignment).status == .conflict)
            #expect(try await service.service.administration.policy(policy.id, as: TestService.owner) == before)
            let after = try await service.service.administration.auditRecords(
                .init(limit: 1_000), as: TestService.owner
            ).count
            #expect(after == records)
            // Who may not write is told that, not what the policy has.
            let reader = TestIssuer.administrationClaims(roles: ["reader"], at: service.clock.now)
            #expect(
                try await client.administer(.post, path + "/assignments", assignment, claims: reader).status
                    == .forbidden)
        }
    }

    @Test func `one target with two different filters is refused`() async throws {
        let service = try await TestService()
        let policy = try await service.publishPolicy()
        let now = service.clock.now
        try await service.service.administration.saveResource(
            AssignmentFilter(
                id: "f", displayName: "F", rule: "(app.osVersion -ge \"17\")", created: now, modified: now),
            isNew: true, as: TestService.owner)
        let target = PolicyAssignment.Target.group(TestService.group)
        await #expect(throws: ServiceError(.invalid, "")) {
            try await service.service.administration.assignPolicy(
                policy.id, to: [.init(target), .init(target, filterID: "f", filterMode: .include)],
                as: TestService.owner)
        }
        let same = try await service.service.administration.assignPolicy(
            policy.id, to: [.init(target), .init(target)], as: TestService.owner)
        #expect(same.assignments.count == 1)
    }
}
