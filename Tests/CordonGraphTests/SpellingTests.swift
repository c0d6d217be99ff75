import CordonPolicy
import CordonService
import Foundation
import HTTPTypes
import HummingbirdTesting
import Testing

@testable import CordonServiceHTTP

/// A misspelt member is refused with the one that was meant; what is merely unknown is kept (SRV-RS-011).
@Suite struct SpellingTests {
    private static let root = "/beta/deviceAppManagement"
    private static let protections = root + "/iosManagedAppProtections"
    private static let lenient: HTTPFields = [.prefer: "handling=lenient"]

    /// What a refusal says was meant, by the member that was sent.
    private func meant(_ answer: TestResponse) -> [String: String] {
        (answer.json["error"]?["details"]?.array ?? []).reduce(into: [:]) { meant, detail in
            meant[detail["target"]?.string ?? ""] =
                detail["message"]?.string?.split(separator: " ").last.map { String($0.dropLast()) }
        }
    }

    @Test(arguments: [
        ("printBloked", "printBlocked"), ("PrintBlocked", "printBlocked"), ("pirntBlocked", "printBlocked"),
        ("printBlockedd", "printBlocked"), ("priintBloked", "printBlocked"), ("pinRequierd", "pinRequired"),
        ("minimumPinLenght", "minimumPinLength"), ("displayname", "displayName"), ("assignment", "assignments"),
        ("App", "apps"), ("roleScopeTagId", "roleScopeTagIds"), ("keybordsRestricted", "keyboardsRestricted"),
    ])
    func `a misspelt setting is refused with the name that was meant`(sent: String, name: String) async throws {
        let service = try await TestService()
        let policy = try await service.publishPolicy()
        try await service.test { client in
            let made = try await client.administer(
                .post, Self.protections, ["displayName": "P", sent: true, "fromTheFuture": 1])
            #expect(made.status == .badRequest && meant(made) == [sent: name])
            #expect(made.json["error"]?["message"]?.string?.contains("did you mean \(name)?") == true)
            let changed = try await client.administer(.patch, "\(Self.protections)/\(policy.id)", [sent: true])
            #expect(changed.status == .badRequest && meant(changed) == [sent: name])
            #expect(
                try await service.service.administration.policies(of: Set(PolicyKind.allCases), as: TestService.owner)
                    == [policy])
        }
    }

    @Test func `a client that prefers lenient handling keeps the misspelt member, and may write it back`() async throws
    {
        try await TestService().test { client in
            let made = try await client.administer(
                .post, Self.protections, ["displayName": "P", "printBloked": true], headers: Self.lenient)
            #expect(made.status == .created && made.headers[.preferenceApplied] == "handling=lenient")
            #expect(made.json["printBloked"] == true)
            let item = "\(Self.protections)/\(made.json["id"]?.string ?? "")"
            let back = try await client.administer(.patch, item, ["printBloked": false, "description": "d"])
            #expect(back.status == .noContent && back.headers[.preferenceApplied] == nil)
            let both = try await client.administer(
                .patch, item, ["pinRequird": true],
                headers: [.prefer: "return=representation, Handling = \"lenient\"; x=1"])
            #expect(both.status == .ok && both.json["pinRequird"] == true)
            #expect(both.headers[.preferenceApplied] == "return=representation, handling=lenient")
            let strict = try await client.administer(
                .patch, item, ["saveAsBloked": true], headers: [.prefer: "handling=strict"])
            #expect(strict.status == .badRequest)
        }
    }

    @Test func `what Graph has, and what is near nothing, is no misspelling`() async throws {
        let near = [
            "minimumRequiredOsVersion", "maximumRequiredOsVersion", "roleScopeTags", "settings", "version", "id",
            "isAssigned", "isasigned", "@odata.typ", "assignments@odata.contex", "x-unknown", "tag", "notes", "kind",
            "keyboardsRestricted", "targetedDeviceName", "",
        ]
        for name in near { #expect(AppProtectionPolicy.memberMeant(by: name) == nil || name.contains("@"), "\(name)") }
        try await TestService().test { client in
            var document: [String: JSONValue] = ["displayName": "P"]
            for name in near
            where !["version", "id"].contains(name) && !name.contains("@") && !name.contains("Version") {
                document[name] = .null
            }
            let made = try await client.administer(.post, Self.protections, .object(document))
            #expect(made.status == .created, "\(made.json)")
        }
    }

    @Test func `thousands of members that are not known are refused at once, by whatever way they come`() async throws {
        let service = try await TestService()
        let policy = try await service.publishPolicy()
        var members: [String: JSONValue] = ["displayName": "P", "printBloked": true]
        for number in 0..<12_000 { members["unknown\(number)"] = 1 }
        let document = JSONValue.object(members)
        try await service.test { client in
            for headers in [[:], Self.lenient] as [HTTPFields] {
                let made = try await client.administer(.post, Self.protections, document, headers: headers)
                let changed = try await client.administer(
                    .patch, "\(Self.protections)/\(policy.id)", document, headers: headers)
                for answer in [made, changed] {
                    #expect(answer.status == .badRequest && meant(answer) == [:], "no name was looked for")
                    let message = answer.json["error"]?["message"]?.string
                    #expect(message?.contains("at most 100 members that are not known here") == true)
                }
            }
            let target: JSONValue = ["target": document]
            let assigned = try await client.administer(
                .post, "\(Self.protections)/\(policy.id)/assign", ["assignments": [target]])
            #expect(assigned.status == .badRequest)
            #expect(
                assigned.json["error"]?["details"]?.array?.first?["message"] == "a target has at most 20 members")
        }
        #expect(
            try await service.service.administration.policies(of: Set(PolicyKind.allCases), as: TestService.owner)
                == [policy])
    }

    @Test func `lint names the same member`() throws {
        let policy = try AppProtectionPolicy(graphJSON: ["displayName": "P", "printBloked": true, "fromAfar": 1])
        let messages = PolicyLint.findings(in: policy).filter { $0.code == "unknown-property" }.map(\.message)
        #expect(
            messages.sorted() == [
                "not known here: kept, but without effect",
                "not known here: kept, but without effect; did you mean printBlocked?",
            ])
    }

    @Test func `a configuration, a filter of a target and other resources are looked at as well`() async throws {
        let service = try await TestService()
        let policy = try await service.publishPolicy()
        let group: JSONValue = .string(TestService.group)
        let target: JSONValue = [
            "target": [
                "@odata.type": "#microsoft.graph.groupAssignmentTarget", "groupId": group,
                "deviceAndAppManagementAssignmentFilterId": "f", "deviceAndAppManagementAssignmentFilterTyp": "include",
            ]
        ]
        let cases: [(HTTPRequest.Method, String, JSONValue, [String: String])] = [
            (
                .post, Self.root + "/targetedManagedAppConfigurations",
                ["displayName": "C", "customSetings": [["name": "a", "value": "b"]]],
                ["customSetings": "customSettings"]
            ),
            (
                .post, Self.protections + "/\(policy.id)/assign", ["assignments": [target]],
                [
                    "assignments[0].target.deviceAndAppManagementAssignmentFilterTyp":
                        "deviceAndAppManagementAssignmentFilterType"
                ]
            ),
            (
                .post, Self.protections + "/\(policy.id)/assignments", target,
                [
                    "assignments[0].target.deviceAndAppManagementAssignmentFilterTyp":
                        "deviceAndAppManagementAssignmentFilterType"
                ]
            ),
            (
                .post, Self.protections + "/\(policy.id)/targetApps", ["apps": [], "appGruopType": "allApps"],
                ["appGruopType": "appGroupType"]
            ),
            (
                .post, "/beta/deviceManagement/assignmentFilters",
                ["displayName": "F", "rule": "(app.deviceModel -eq \"x\")", "platfrom": "x", "payloads": []],
                ["platfrom": "platform"]
            ),
            (
                .post, "/beta/deviceAppManagement/mobileApps",
                ["displayName": "A", "bundleId": "org.example.a", "cordonAppGroup": [], "notes": ""],
                ["cordonAppGroup": "cordonAppGroups"]
            ),
            (.post, "/v1.0/groups", ["displayName": "G", "membershiprule": "x"], ["membershiprule": "membershipRule"]),
        ]
        try await service.test { client in
            for (method, path, body, wanted) in cases {
                let answer = try await client.administer(method, path, body)
                #expect(answer.status == .badRequest && meant(answer) == wanted, "\(path) \(answer.json)")
            }
            // A setting of a protection is none of a configuration, however it is spelt.
            let other = try await client.administer(
                .post, Self.root + "/targetedManagedAppConfigurations", ["displayName": "C", "printBloked": true])
            #expect(other.status == .created)
        }
    }

    @Test func `a client that asks for strict handling has every unknown member refused`() async throws {
        let service = try await TestService()
        let strict: HTTPFields = [.prefer: "handling=strict"]
        try await service.test { client in
            let far: JSONValue = ["displayName": "P", "fromTheFuture": 1]
            let refused = try await client.administer(.post, Self.protections, far, headers: strict)
            #expect(refused.status == .badRequest)
            #expect(refused.json["error"]?["details"]?.array?.first?["target"] == "fromTheFuture")
            let known: JSONValue = ["displayName": "P", "printBlocked": true, "appGroupType": "allApps"]
            #expect(try await client.administer(.post, Self.protections, known, headers: strict).status == .created)
            #expect(try await client.administer(.post, Self.protections, far).status == .created)
        }
    }

    @Test func `an assignment to a group that does not exist is refused, and names it`() async throws {
        let service = try await TestService()
        let policy = try await service.publishPolicy()
        try await service.test { client in
            for type in ["groupAssignmentTarget", "exclusionGroupAssignmentTarget"] {
                let entry: JSONValue = [
                    "target": ["@odata.type": .string("#microsoft.graph.\(type)"), "groupId": "nope"]
                ]
                let cases: [(HTTPRequest.Method, String, JSONValue)] = [
                    (.post, Self.protections + "/\(policy.id)/assign", ["assignments": [entry]]),
                    (.post, Self.protections + "/\(policy.id)/assignments", entry),
                    (.patch, Self.protections + "/\(policy.id)", ["assignments": [entry]]),
                    (.post, Self.protections, ["displayName": "P", "assignments": [entry]]),
                    (
                        .post, Self.root + "/targetedManagedAppConfigurations",
                        ["displayName": "C", "assignments": [entry]]
                    ),
                ]
                for (method, path, body) in cases {
                    for headers in [[:], Self.lenient] as [HTTPFields] {
                        let answer = try await client.administer(method, path, body, headers: headers)
                        #expect(answer.status == .badRequest, "\(path)")
                        let details = answer.json["error"]?["details"]?.array ?? []
                        #expect(details.first?["message"] == "no group has the id nope", "\(path)")
                        #expect(answer.json["error"]?["message"]?.string?.contains("nope") == true)
                    }
                }
            }
            #expect(
                try await service.service.administration.policies(of: Set(PolicyKind.allCases), as: TestService.owner)
                    == [policy])
        }
    }

    @Test func `an assignment whose group left the directory does not stand in the way of other changes`() async throws
    {
        let service = try await TestService()
        let policy = try await service.publishPolicy()
        let gone = DirectoryGroup(id: "GONE", displayName: "Gone")
        try await service.service.provisioning.saveGroup(gone, as: TestService.owner)
        let both = [PolicyAssignment(.group(TestService.group)), PolicyAssignment(.exclusionGroup("gone"))]
        _ = try await service.service.administration.assignPolicy(policy.id, to: both, as: TestService.owner)
        try await service.storage.write(TestService.tenant) { transaction in
            try transaction.remove(GroupEntry.self, "gone")
        }
        let changed = try await service.service.administration.updatePolicy(
            policy.id, changes: ["printBlocked": true], ifVersion: nil, as: TestService.owner)
        #expect(changed.assignments.count == 2)
        let same = try await service.service.administration.assignPolicy(policy.id, to: both, as: TestService.owner)
        #expect(same.assignments.map(\.target) == both.map(\.target))
    }
}
