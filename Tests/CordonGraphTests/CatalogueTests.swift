import CordonBase
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

/// SRV-OP-082, 083, 086, SRV-RS-009, 013, 137, 145, 147, 148, 156, 176: what stands beside policies.
@Suite struct CatalogueTests {
    private static let root = "/beta/deviceAppManagement"

    private func names(_ client: TestClient, _ path: String) async throws -> [String] {
        let answer = try await client.administer(.get, path)
        #expect(answer.status == .ok, "\(path)")
        return (answer.json["value"]?.array ?? []).compactMap { $0["displayName"]?.string }
    }

    @Test func `a filter is read back with every member, and none of devices is taken`() async throws {
        let service = try await TestService()
        try await service.test { client in
            let path = "/beta/deviceManagement/assignmentFilters"
            let sent: [String: JSONValue] = [
                "displayName": "Phones", "description": "of the ward", "platform": "iOSMobileApplicationManagement",
                "rule": "(app.deviceModel -eq \"iPhone15,2\")", "assignmentFilterManagementType": "apps",
                "roleScopeTags": ["0"],
            ]
            let made = try await client.administer(.post, path, .object(sent))
            #expect(made.status == .created, "\(made.json)")
            let id = try #require(made.json["id"]?.string)
            service.clock.advance(by: 60)
            #expect(
                try await client.administer(.patch, "\(path)/\(id)", ["description": "elsewhere"]).status.code < 300)
            let read = try await client.administer(.get, "\(path)/\(id)").json
            for (member, value) in sent where member != "description" { #expect(read[member] == value, "\(member)") }
            #expect(read["description"] == "elsewhere" && read["payloads"] == [])
            #expect(read["evaluationMode"] == "checkinTimeEvaluation")
            #expect(read["createdDateTime"] == made.json["createdDateTime"])
            #expect(read["lastModifiedDateTime"] != made.json["lastModifiedDateTime"])
            let ofDevices: JSONValue = [
                "displayName": "Devices", "rule": "(app.deviceModel -eq \"x\")",
                "assignmentFilterManagementType": "devices",
            ]
            #expect(try await client.administer(.post, path, ofDevices).status == .badRequest)
        }
    }

    @Test func `apps are found by kind and by where they come from`() async throws {
        try await TestService().test { client in
            let path = Self.root + "/mobileApps"
            let lob: JSONValue = [
                "@odata.type": "#microsoft.graph.managedIOSLobApp", "displayName": "Own", "bundleId": "org.example.own",
                "publisher": "Us",
            ]
            let store: JSONValue = [
                "@odata.type": "microsoft.graph.managedIOSStoreApp", "displayName": "Bought",
                "bundleId": "org.example.bought",
            ]
            for body in [lob, store] {
                let made = try await client.administer(.post, path, body)
                #expect(made.status == .created && made.json["bundleId"] == body["bundleId"])
            }
            #expect(try await names(client, path + "?$filter=isof('microsoft.graph.managedIOSLobApp')") == ["Own"])
            #expect(try await names(client, path + "?$filter=isof('microsoft.graph.managedIOSStoreApp')") == ["Bought"])
            let managed = try await names(client, path + "?$filter=isof('microsoft.graph.managedApp')")
            #expect(Set(managed) == ["Bought", "Own"])
            #expect(try await names(client, path + "/graph.managedIOSLobApp") == ["Own"])
            #expect(try await names(client, path + "?$filter=appAvailability%20eq%20'lineOfBusiness'") == ["Own"])
            #expect(try await names(client, path + "?$filter=appAvailability%20eq%20'global'") == ["Bought"])
            #expect(try await names(client, path + "?$search=%22bou%22") == ["Bought"])
            let item = path + "/ORG.EXAMPLE.OWN"
            #expect(try await client.administer(.patch, item, ["publisher": .null]).status == .noContent)
            let read = try await client.administer(.get, item).json
            #expect(read["publisher"] == .null && read["displayName"] == "Own")
            #expect(read["@odata.type"] == "#microsoft.graph.managedIOSLobApp")
            #expect(try await client.administer(.patch, item, ["displayName": .null]).status == .badRequest)
            let mac: JSONValue = ["@odata.type": "#microsoft.graph.macOSLobApp", "displayName": "M", "bundleId": "m"]
            #expect(try await client.administer(.post, path, mac).status == .badRequest)
        }
    }

    @Test func `a policy of a named set is among those of a person once the catalogue has an app of the set`()
        async throws
    {
        let service = try await TestService()
        let administration = service.service.administration
        let policy = try await administration.createPolicy(
            .iosManagedAppProtection, document: ["displayName": "Core"], as: TestService.owner)
        _ = try await administration.targetApps(
            [], group: .allCoreMicrosoftApps, ofPolicy: policy.id, as: TestService.owner)
        _ = try await administration.assignPolicy(
            policy.id, to: [PolicyAssignment(.group(TestService.group))], as: TestService.owner)
        try await service.test { client in
            let path = "/beta/users/\(TestPerson.workerA.id)/getManagedAppPolicies"
            #expect(try await names(client, path) == [])
            for (bundle, groups) in [("org.example.plain", []), ("org.example.core", [AppGroup.allCoreMicrosoftApps])] {
                let app = CatalogueApp(bundleID: bundle, displayName: bundle, groups: Set(groups))
                try await administration.saveResource(app, isNew: true, as: TestService.owner)
            }
            // Nobody has such an app yet.
            #expect(try await names(client, path) == ["Core"])
        }
    }

    @Test func `what stands beside policies is changed and removed at the version that was read alone`() async throws {
        let bodies: [(String, JSONValue)] = [
            ("deviceManagement/roleScopeTags", ["displayName": "West"]),
            ("deviceManagement/assignmentFilters", ["displayName": "New", "rule": "(app.osVersion -ge \"17\")"]),
            (
                "deviceAppManagement/mobileApps",
                [
                    "displayName": "Notes", "bundleId": "org.example.notes",
                    "cordonAppGroups": ["allMicrosoftApps", "allCoreMicrosoftApps"],
                ]
            ),
        ]
        try await TestService().test { client in
            for (list, body) in bodies {
                let made = try await client.administer(.post, "/beta/" + list, body)
                let item = "/beta/\(list)/\(try #require(made.json["id"]?.string))"
                let read = try await client.administer(.get, item)
                let tag = try #require(read.headers[.eTag])
                #expect(read.json["@odata.etag"]?.string == tag && made.headers[.eTag] == tag, "\(list)")
                func change(_ method: HTTPRequest.Method, at tag: String) async throws -> HTTPResponse.Status {
                    let body: JSONValue? = method == .patch ? ["displayName": "Other"] : nil
                    return try await client.administer(method, item, body, headers: [.ifMatch: tag]).status
                }
                #expect(try await change(.patch, at: tag) == .noContent, "\(list)")
                #expect(try await change(.patch, at: tag) == .preconditionFailed, "\(list)")
                #expect(try await change(.delete, at: tag) == .preconditionFailed, "\(list)")
                let now = try await client.administer(.get, item)
                #expect(now.json["displayName"] == "Other", "\(list)")
                #expect(try await change(.delete, at: try #require(now.headers[.eTag])) == .noContent, "\(list)")
            }
        }
    }

    @Test func `null unsets what a tag and a filter say, absent leaves it`() async throws {
        try await TestService().test { client in
            let bodies: [(String, JSONValue)] = [
                ("roleScopeTags", ["displayName": "West", "description": "Beyond the river"]),
                (
                    "assignmentFilters",
                    [
                        "displayName": "New", "description": "From 17", "rule": "(app.osVersion -ge \"17\")",
                        "roleScopeTags": ["west"],
                    ]
                ),
            ]
            for (list, body) in bodies {
                let path = "/beta/deviceManagement/\(list)"
                let id = try #require(try await client.administer(.post, path, body).json["id"]?.string)
                let item = "\(path)/\(id)"
                #expect(try await client.administer(.patch, item, ["displayName": "Other"]).status == .noContent)
                let kept = try await client.administer(.get, item).json
                #expect(kept["displayName"] == "Other" && kept["description"] == body["description"])
                #expect(kept["roleScopeTags"] == body["roleScopeTags"])
                let unset: JSONValue = ["description": .null, "roleScopeTags": .null]
                #expect(try await client.administer(.patch, item, unset).status == .noContent)
                let after = try await client.administer(.get, item).json
                #expect(after["description"] == "" && after["displayName"] == "Other")
                if list == "assignmentFilters" {
                    #expect(after["roleScopeTags"] == ["0"] && after["rule"] == body["rule"])
                }
                #expect(try await client.administer(.patch, item, ["displayName": .null]).status == .badRequest)
            }
        }
    }

    @Test func `of two changes of a filter at once none is lost, and one that is removed meanwhile stays so`()
        async throws
    {
        let storage = MeanwhileStorage()
        let service = try await TestService(storage: storage)
        try await service.test { client in
            let path = "/beta/deviceManagement/assignmentFilters"
            let body: JSONValue = ["displayName": "Phones", "rule": "(app.deviceModel -eq \"a\")"]
            let id = try #require(try await client.administer(.post, path, body).json["id"]?.string)
            let (item, admin) = ("\(path)/\(id)", service.service.administration)
            storage.meanwhile(after: [AssignmentFilter].self) {
                var other = try await admin.resource(AssignmentFilter.self, id, as: TestService.owner)
                other.rule = "(app.deviceModel -eq \"b\")"
                try await admin.saveResource(other, isNew: false, as: TestService.owner)
            }
            #expect(try await client.administer(.patch, item, ["description": "D"]).status == .noContent)
            let both = try await client.administer(.get, item).json
            #expect(both["description"] == "D" && both["rule"] == "(app.deviceModel -eq \"b\")")
            storage.meanwhile(after: [AssignmentFilter].self) {
                try await admin.removeResource(AssignmentFilter.self, id, as: TestService.owner)
            }
            #expect(try await client.administer(.patch, item, ["description": "E"]).status == .notFound)
            #expect(storage.hasRun)
            #expect(try await client.administer(.get, item).status == .notFound)
        }
    }

    @Test func `apps of other platforms are echoed as they were named`() async throws {
        try await TestService().test { client in
            let identifiers: [JSONValue] = [
                ["@odata.type": "#microsoft.graph.macAppIdentifier", "bundleId": "org.example.Mac"],
                ["@odata.type": "#microsoft.graph.windowsAppIdentifier", "windowsAppId": "Example.App_1"],
                ["@odata.type": "#microsoft.graph.androidMobileAppIdentifier", "packageId": "org.example.droid"],
            ]
            let apps = identifiers.map { JSONValue.object(["mobileAppIdentifier": $0]) }
            let made = try await client.administer(
                .post, Self.root + "/targetedManagedAppConfigurations", ["displayName": "C", "apps": .array(apps)])
            let id = try #require(made.json["id"]?.string)
            let path = "\(Self.root)/targetedManagedAppConfigurations/\(id)/apps"
            let read = try await client.administer(.get, path).json["value"]?.array ?? []
            #expect(read.map { $0["mobileAppIdentifier"] } == identifiers)
            let wrong: JSONValue = [
                "mobileAppIdentifier": ["@odata.type": "#microsoft.graph.fooAppIdentifier", "id": "x"]
            ]
            #expect(try await client.administer(.post, path, wrong).status == .badRequest)
        }
    }

    @Test func `v1_0 answers also the places that only beta names`() async throws {
        try await TestService().test { client in
            let path = "/v1.0/deviceAppManagement/iosManagedAppProtections"
            let places: JSONValue = ["sharePoint", "photoLibrary", "iManage", "egnyte"]
            let made = try await client.administer(
                .post, path, ["displayName": "P", "saveAsBlocked": true, "allowedDataStorageLocations": places])
            let id = try #require(made.json["id"]?.string)
            #expect(made.json["allowedDataStorageLocations"] == places)
            #expect(try await client.administer(.get, "\(path)/\(id)").json["allowedDataStorageLocations"] == places)
        }
    }

    @Test func `a collection of another management assigns no person, and all devices assign every person`()
        async throws
    {
        let service = try await TestService()
        let policy = try await service.publishPolicy()
        try await service.test { client in
            let item = "\(Self.root)/iosManagedAppProtections/\(policy.id)"
            func body(_ type: String) -> JSONValue {
                [
                    "assignments": [
                        ["target": ["@odata.type": .string("#microsoft.graph." + type), "collectionId": "c"]]
                    ]
                ]
            }
            let refused = try await client.administer(
                .post, item + "/assign", body("configurationManagerCollectionAssignmentTarget"))
            #expect(refused.status == .badRequest)
            let named = refused.json["error"]?["details"]?.array?.first?["target"]
            #expect(named == "assignments[0].target")
            let all = try await client.administer(.post, item + "/assign", body("allDevicesAssignmentTarget"))
            #expect(all.status == .noContent)
            let record = try await service.service.administration.auditRecords(
                .init(limit: 1_000), as: TestService.owner
            ).last
            #expect(record?.action == "policy.assign" && record?.details["allDevices"] != nil)
        }
    }

    @Test func `what this service does not have is an empty list, and writing it says so`() async throws {
        // SRV-OP-049, SRV-RS-112
        try await TestService().test { client in
            let path = Self.root + "/targetedManagedAppConfigurations"
            let id = try #require(try await client.administer(.post, path, ["displayName": "C"]).json["id"]?.string)
            #expect(try await client.administer(.get, "\(path)/\(id)/settings").json["value"] == [])
            #expect(try await client.administer(.get, "\(path)/\(id)/settings/$count").body == .init(string: "0"))
            #expect(try await client.administer(.get, "\(path)/A_none/settings").status == .notFound)
            for action in ["\(path)/\(id)/settings", "\(path)/\(id)/changeSettings"] {
                let answer = try await client.administer(.post, action, [:])
                #expect(answer.status == .notImplemented && answer.json["error"]?["code"] == "NotImplemented")
            }
            for list in ["windowsManagedAppProtections", "windowsInformationProtectionPolicies"] {
                #expect(try await client.administer(.get, "\(Self.root)/\(list)").json["value"] == [])
                #expect(try await client.administer(.post, "\(Self.root)/\(list)", [:]).status == .notImplemented)
            }
        }
    }

    @Test func `names and descriptions have an end`() async throws {
        // SRV-RS-017, 018
        try await TestService().test { client in
            let path = Self.root + "/iosManagedAppProtections"
            func made(_ name: Int, _ description: Int) async throws -> TestResponse {
                try await client.administer(
                    .post, path,
                    [
                        "displayName": .string(String(repeating: "n", count: name)),
                        "description": .string(String(repeating: "d", count: description)),
                    ])
            }
            #expect(try await made(200, 10_000).status == .created)
            for (name, description, member) in [
                (201, 0, "displayName"), (0, 0, "displayName"), (1, 10_001, "description"),
            ] {
                let answer = try await made(name, description)
                #expect(answer.status == .badRequest)
                #expect(answer.json["error"]?["details"]?.array?.map { $0["target"]?.string } == [member])
            }
        }
    }
}
