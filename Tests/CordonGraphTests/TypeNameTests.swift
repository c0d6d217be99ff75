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

/// SRV-RS-002, 146, SRV-OP-112: clients choose the class of an object by its `@odata.type`, with the `#`.
@Suite struct TypeNameTests {
    /// Every `@odata.type` in a value, however deep.
    private func names(in value: JSONValue) -> [String] {
        switch value {
        case .object(let members):
            members.flatMap { name, value in
                (name == "@odata.type" ? [value.string ?? ""] : []) + names(in: value)
            }
        case .array(let entries): entries.flatMap(names)
        default: []
        }
    }

    @Test func `every object of every list names its type`() async throws {
        let fixture = try await RouteFixture()
        let isNamed = { (name: String) in name.hasPrefix("#microsoft.graph.") }
        var (lists, objects) = (0, 0)
        // The service document is a list of names, not of entities.
        for route in fixture.routes
        where route.method == .get && route.pattern.last != "$count" && !route.pattern.isEmpty {
            let answer = try await fixture.answer(route, as: .owner)
            guard answer.status == .ok else { continue }
            #expect(names(in: answer.json).allSatisfy(isNamed), "\(route.name)")
            guard let entries = answer.json["value"]?.array else { continue }
            lists += 1
            for entry in entries where entry.object != nil {
                objects += 1
                #expect(entry["@odata.type"]?.string.map(isNamed) == true, "\(route.name)")
            }
        }
        #expect(lists > 40 && objects > 60, "\(lists) lists with \(objects) objects")
    }

    @Test func `a type is understood without the mark, wherever a body names one`() async throws {
        let service = try await TestService()
        try await service.test { client in
            let root = "/beta/deviceAppManagement/managedAppPolicies"
            let body: JSONValue = [
                "@odata.type": "microsoft.graph.targetedManagedAppConfiguration", "displayName": "C",
                "customSettings": [["@odata.type": "microsoft.graph.keyValuePair", "name": "k", "value": "v"]],
                "apps": [
                    [
                        "@odata.type": "microsoft.graph.managedMobileApp",
                        "mobileAppIdentifier": [
                            "@odata.type": "microsoft.graph.iosMobileAppIdentifier", "bundleId": "org.example.a",
                        ],
                    ]
                ],
                "assignments": [
                    [
                        "@odata.type": "microsoft.graph.targetedManagedAppPolicyAssignment",
                        "target": [
                            "@odata.type": "microsoft.graph.groupAssignmentTarget",
                            "groupId": .string(TestService.group),
                        ],
                    ]
                ],
            ]
            let made = try await client.administer(.post, root, body)
            #expect(made.status == .created)
            let id = try #require(made.json["id"]?.string)
            let read = try await client.administer(.get, "\(root)/\(id)?$expand=apps,assignments").json
            #expect(read["@odata.type"] == "#microsoft.graph.targetedManagedAppConfiguration")
            #expect(read["customSettings"]?.array?.first?["value"] == "v")
            let app = read["apps"]?.array?.first?["mobileAppIdentifier"]
            #expect(app?["@odata.type"] == "#microsoft.graph.iosMobileAppIdentifier")
            let target = read["assignments"]?.array?.first?["target"]
            #expect(target?["@odata.type"] == "#microsoft.graph.groupAssignmentTarget")
            #expect(target?["groupId"] == .string(TestService.group))
        }
    }
}
