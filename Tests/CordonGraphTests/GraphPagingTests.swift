import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonService
import Foundation
import HTTPTypes
import HummingbirdTesting
import NIOCore
import Testing

@testable import CordonServiceHTTP

/// SRV-OP-010, 011, 055, 063, 065: pages of lists whose entries have no ids, and what `$select` leaves.
@Suite struct GraphPagingTests {
    /// Every entry of a list, page by page; nil when the pages do not end.
    private func entries(_ client: TestClient, _ path: String) async throws -> [JSONValue]? {
        var found: [JSONValue] = []
        var link: String? = path
        for _ in 0..<20 {
            guard let next = link else { return found }
            let page = try await client.administer(.get, next)
            #expect(page.status == .ok)
            found += page.json["value"]?.array ?? []
            link = page.json["@odata.nextLink"]?.string.map { String($0.dropFirst("http://localhost".count)) }
        }
        return nil
    }

    @Test func `a list of texts is paged through, each entry once`() async throws {
        let service = try await TestService()
        let ids = (0..<5).map { "oid-p\($0)" }
        for id in ids {
            try await service.service.provisioning.saveUser(
                DirectoryUser(id: id, userPrincipalName: "\(id)@contoso.example", displayName: id),
                as: TestService.owner)
            try await service.service.administration.blockUser(id, as: TestService.owner)
        }
        try await service.test { client in
            let path = "/beta/users/getManagedAppBlockedUsers()?$top=2"
            let blocked = try await entries(client, path)
            #expect(blocked?.compactMap(\.string) == ids)
            // Who was on the page before may be unblocked meanwhile: no person after them is left out.
            let first = try await client.administer(.get, path)
            try await service.service.administration.unblockUser(ids[1], as: TestService.owner)
            let link = try #require(first.json["@odata.nextLink"]?.string)
            let second = try await client.administer(.get, String(link.dropFirst("http://localhost".count)))
            #expect(second.json["value"] == [.string(ids[2]), .string(ids[3])])
        }
    }

    @Test func `a list of objects without ids is paged through, each once`() async throws {
        try await TestService().test { client in
            let path = "/v1.0/users/\(TestPerson.workerA.id)/getManagedAppDiagnosticStatuses()"
            let whole = try await client.administer(.get, path).json["value"]?.array ?? []
            #expect(whole.count > 4)
            #expect(try await entries(client, path + "?$top=2") == whole)
        }
    }

    @Test func `what was asked for by expanding is answered whatever was selected`() async throws {
        let service = try await TestService()
        let policy = try await service.publishPolicy()
        try await service.test { client in
            let list = "/beta/deviceAppManagement/iosManagedAppProtections"
            let options = "?$select=displayName&$expand=apps,assignments"
            let one = try await client.administer(.get, "\(list)/\(policy.id)\(options)").json
            let first = try await client.administer(.get, list + options).json["value"]?.array?.first ?? .null
            for entity in [one, first] {
                let names = Set(entity.object?.keys.map { $0 } ?? [])
                #expect(
                    names.subtracting(["@odata.context", "@odata.etag"]) == [
                        "@odata.type", "id", "displayName", "apps", "apps@odata.context", "assignments",
                        "assignments@odata.context",
                    ])
                #expect(entity["apps"]?.array?.count == 1 && entity["assignments"]?.array?.count == 1)
            }
        }
    }
}
