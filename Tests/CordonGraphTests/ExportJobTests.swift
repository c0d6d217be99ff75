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

/// SRV-OP-085, SRV-RS-152: a report from the request to the file, and its end.
@Suite struct ExportJobTests {
    private static let path = "/beta/deviceManagement/reports/exportJobs"

    private func file(_ job: JSONValue, _ client: TestClient) async throws -> TestResponse {
        let url = try #require(job["url"]?.string)
        #expect(url.hasPrefix("http://localhost/beta/"))
        return try await client.administer(.get, String(url.dropFirst("http://localhost".count)))
    }

    private func enrolled(
        _ body: @escaping @Sendable (TestService, TestClient) async throws -> Void
    ) async throws {
        let service = try await TestService()
        _ = try await service.publishPolicy()
        try await service.test { client in
            let device = TestDevice()
            try await client.confirm(try await client.register(device), on: device)
            try await body(service, client)
        }
    }

    @Test func `a report is asked for, found completed and fetched as CSV, until its time is over`() async throws {
        try await enrolled { service, client in
            let made = try await client.administer(
                .post, Self.path,
                [
                    "reportName": "MAMAppProtectionStatus", "format": "csv",
                    "localizationType": "replaceLocalizableValues",
                    "select": ["Policy", "Email", "AppProtectionStatus"], "filter": .null,
                ])
            #expect(made.status == .created)
            let id = try #require(made.json["id"]?.string)
            let job = try await client.administer(.get, "\(Self.path)('\(id)')").json
            let members: Set<String> = [
                "@odata.type", "@odata.context", "id", "reportName", "filter", "select", "format", "localizationType",
                "status", "url", "requestDateTime", "expirationDateTime", "snapshotId", "search",
            ]
            #expect(Set(job.object?.keys.map { $0 } ?? []) == members)
            #expect(job["status"] == "completed" && job["reportName"] == "MAMAppProtectionStatus")
            #expect(job["requestDateTime"] == "2027-01-15T08:00:00.000Z")
            #expect(job["expirationDateTime"] == "2027-01-15T09:00:00.000Z")
            let answer = try await file(job, client)
            #expect(answer.headers[.contentType]?.hasPrefix("text/csv") == true)
            #expect(
                String(buffer: answer.body)
                    == "Policy,Email,AppProtectionStatus\r\nNotes,worker-a@contoso.example,Protected\r\n")
            service.clock.advance(by: 3_600)
            #expect(try await client.administer(.get, "\(Self.path)/\(id)").status == .notFound)
            #expect(try await file(job, client).status == .notFound)
            #expect(try await client.administer(.get, Self.path).json["value"] == [])
        }
    }

    @Test func `a caller has a share of the reports, is told when to ask again, and takes none of another's`()
        async throws
    {
        let service = try await TestService()
        try await service.test { client in
            @Sendable func ask(as person: String) async throws -> TestResponse {
                var claims = TestIssuer.administrationClaims(roles: ["reader"], at: service.clock.now)
                claims.merge(["sub": .string(person), "oid": .string(person)]) { $1 }
                return try await client.administer(
                    .post, Self.path, ["reportName": "MAMAppProtectionStatus"], claims: claims)
            }
            // More than the service kept for all readers together before each had a share.
            var statuses: [HTTPResponse.Status] = []
            for _ in 0..<6 {
                try await withThrowingTaskGroup(of: HTTPResponse.Status.self) { group in
                    for _ in 0..<10 { group.addTask { try await ask(as: "oid-greedy").status } }
                    for try await status in group { statuses.append(status) }
                }
            }
            #expect(
                statuses.count { $0 == .created } == ExportJob.share && Set(statuses) == [.created, .tooManyRequests])
            service.clock.advance(by: 3_500)
            let refused = try await ask(as: "oid-greedy")
            #expect(refused.status == .tooManyRequests && refused.headers[.retryAfter] == "100")
            #expect(refused.json["error"]?["message"]?.string?.contains("ends at 2027-01-15T09:00:00Z") == true)
            #expect(try await ask(as: "oid-other").status == .created)
            service.clock.advance(by: 100)
            #expect(try await ask(as: "oid-greedy").status == .created)
        }
    }

    @Test func `a report as JSON has every column of its kind`() async throws {
        try await enrolled { service, client in
            for (name, count) in [("MAMAppProtectionStatus", 21), ("MAMAppConfigurationStatus", 18)] {
                let job = try await client.administer(
                    .post, Self.path, ["reportName": .string(name), "format": "json"])
                let values = try await file(job.json, client).json["values"]?.array ?? []
                #expect(values.map { $0.object?.count } == [count], "\(name)")
                #expect(values.first?["User"]?.string == TestPerson.workerA.name)
            }
        }
    }

    @Test(
        arguments: [
            ["reportName": "MAMAppNothing"], [:], ["reportName": "MAMAppProtectionStatus", "format": "pdf"],
            ["reportName": "MAMAppProtectionStatus", "select": ["Password"]], ["reportName": 1],
            ["reportName": "MAMAppProtectionStatus", "select": ["Policy", "Email", "Policy"]],
            ["reportName": "MAMAppProtectionStatus", "select": "Policy"],
            ["reportName": "MAMAppProtectionStatus", "select": [1]],
            ["reportName": "MAMAppProtectionStatus", "filter": "(Platform eq 'iOS')"],
            ["reportName": "MAMAppProtectionStatus", "search": "ada"],
        ] as [JSONValue])
    func `a report that is not made is refused`(_ body: JSONValue) async throws {
        try await TestService().test { client in
            let answer = try await client.administer(.post, Self.path, body)
            #expect(answer.status == .badRequest)
            #expect(answer.json["error"]?["details"]?.array?.isEmpty == false)
            #expect(try await client.administer(.get, Self.path).json["value"] == [])
        }
    }
}
