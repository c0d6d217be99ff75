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

@testable import CordonGraph
@testable import CordonServiceHTTP

/// SRV-OP-084, 116, SRV-RS-149…151: what tools ask the audit log for, and what they read of an event.
@Suite struct AuditEventTests {
    private static let path = "/v1.0/deviceManagement/auditEvents"

    /// A protection at eight, a configuration at nine, and at ten the protection is changed and deleted.
    private func recorded(
        _ body: @escaping @Sendable (TestService, TestClient, String) async throws -> Void
    ) async throws {
        let service = try await TestService()
        let owner = TestService.owner
        try await service.service.provisioning.saveUser(
            DirectoryUser(id: owner.id, userPrincipalName: owner.name, displayName: "Ada"), as: owner)
        try await service.test { client in
            let list = "/beta/deviceAppManagement/iosManagedAppProtections"
            let made = try await client.administer(.post, list, ["displayName": "Notes"])
            let id = try #require(made.json["id"]?.string)
            service.clock.advance(by: 3_600)
            var program = TestIssuer.administrationClaims(
                roles: ["DeviceManagementApps.ReadWrite.All"], at: service.clock.now)
            program["preferred_username"] = nil
            program["scp"] = nil
            program["idtyp"] = "app"
            program["oid"] = "oid-program"
            let configuration = try await client.administer(
                .post, "/beta/deviceAppManagement/targetedManagedAppConfigurations", ["displayName": "C"],
                claims: program)
            #expect(configuration.status == .created)
            service.clock.advance(by: 3_600)
            #expect(
                try await client.administer(.patch, "\(list)/\(id)", ["printBlocked": true]).status == .noContent)
            #expect(try await client.administer(.delete, "\(list)/\(id)").status == .noContent)
            try await body(service, client, id)
        }
    }

    private func events(_ client: TestClient, _ filter: String, _ more: String = "") async throws -> [JSONValue] {
        let escaped = try #require(filter.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
        let answer = try await client.administer(.get, "\(Self.path)?$filter=\(escaped)\(more)")
        #expect(answer.status == .ok)
        return answer.json["value"]?.array ?? []
    }

    @Test func `the questions that tools ask narrow the log`() async throws {
        try await recorded { service, client, id in
            let component = "componentName eq 'ManagedAppProtection'"
            func operations(_ filter: String) async throws -> [String] {
                try await events(client, filter).compactMap { $0["activityOperationType"]?.string }
            }
            #expect(try await operations(component) == ["Create", "Patch", "Delete"])
            #expect(try await operations("componentName eq 'MobileAppConfiguration'") == ["Create"])
            let window = "and activityDateTime gt 2027-01-15T08:00:00Z and activityDateTime le 2027-01-15T10:00:00Z"
            let notGet = "and activityOperationType ne 'Get'"
            #expect(try await operations("\(component) \(window) \(notGet)") == ["Patch", "Delete"])
            let earlier =
                "and activityDateTime gt 2027-01-15T07:59:59.999Z and activityDateTime le 2027-01-15T09:00:00Z"
            #expect(try await operations("\(component) \(earlier) \(notGet)") == ["Create"])
            let deleted = "\(component) and activityOperationType eq 'Delete'"
            let at = "and activityDateTime ge 2027-01-15T12:00:00+02:00"
            let after = "and activityDateTime gt 2027-01-15T12:00:00.0000000+02:00"
            #expect(try await operations("\(deleted) \(at)") == ["Delete"])
            #expect(try await operations("\(deleted) \(after)") == [])
            let newest = try await events(client, component, "&$orderby=activityDateTime%20desc&$top=1")
            #expect(newest.count == 1 && newest.first?["activityDateTime"] == "2027-01-15T10:00:00.000Z")
            let beta = try await client.administer(
                .get, "/beta/deviceManagement/auditEvents?$filter=activityOperationType%20eq%20'Delete'")
            #expect(beta.json["value"]?.array?.count == 1)
        }
    }

    @Test(arguments: [
        "$filter=activityTyp%20ne%20'x'", "$filter=activityDateTime%20gt%205", "$orderby=activityDateTim%20desc",
        "$filter=resources/any(r:r/nosuch%20ne%20'x')", "$filter=actor/userPrincipalName%20ne%205",
        "$skiptoken=\(GraphPlace(id: "oid-a", end: 1, values: []).text)",
    ])
    func `a question about what no event has is refused, not answered with the whole log`(
        _ query: String
    ) async throws {
        try await recorded { _, client, _ in
            let page = try await client.administer(.get, "\(Self.path)?\(query)")
            #expect(page.status == .badRequest)
            let count = try await client.administer(.get, "\(Self.path)/$count?\(query)")
            #expect(count.status == (query.hasPrefix("$skiptoken") ? .ok : .badRequest))
        }
    }

    @Test func `an event names who did what to what, a person by sign-in name and a program by its id`() async throws {
        try await recorded { service, client, id in
            let event = try #require(
                try await events(
                    client, "activityOperationType eq 'Patch' and resources/any(r:r/resourceId eq '\(id)')"
                )
                .first)
            #expect(
                Set(event.object?.keys.map { $0 } ?? []) == [
                    "@odata.type", "id", "displayName", "componentName", "activity", "activityDateTime",
                    "activityType", "activityOperationType", "activityResult", "category", "correlationId", "actor",
                    "resources",
                ])
            #expect(event["activityType"] == "policy.update" && event["activityResult"] == "Success")
            let correlation = event["correlationId"]?.string ?? ""
            #expect(correlation.wholeMatch(of: /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/) != nil)
            let person = event["actor"]
            #expect(person?["auditActorType"] == "ItPro" && person?["userPrincipalName"] == "ada@contoso.example")
            #expect(person?["userId"] == "oid-ada" && person?["applicationDisplayName"] == .null)
            let resource = try #require(event["resources"]?.array?.first)
            #expect(resource["resourceId"] == .string(id) && resource["auditResourceType"] == "ManagedAppProtection")
            let changed = (resource["modifiedProperties"]?.array ?? []).compactMap { $0["displayName"]?.string }
            // The setting that changed, the request that changed it, and the versions.
            #expect(Set(changed) == ["printBlocked", "before", "client", "request", "version"])
            let other = try #require(
                try await events(client, "componentName eq 'MobileAppConfiguration'").first?["actor"])
            #expect(other["auditActorType"] == "Application" && other["userPrincipalName"] == .null)
            #expect(other["applicationDisplayName"]?.string?.isEmpty == false)
            let number = try #require(event["id"]?.string)
            let one = try await client.administer(.get, "\(Self.path)/\(number)").json
            #expect(one["activityType"] == "policy.update" && one["@odata.type"] == "#microsoft.graph.auditEvent")
            let all = try await client.administer(.get, Self.path + "?$top=1000").json["value"]?.array ?? []
            #expect(all.allSatisfy { $0["resources"]?.array?.count == 1 }, "tools read the first without a look")
            #expect(try await client.administer(.get, Self.path + "/0").status == .notFound)
            #expect(try await client.administer(.get, Self.path + "/9999").status == .notFound)
        }
    }
}
