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

@Suite struct AuditRoutesTests {
    @Test func `the audit log is exported as lines of JSON to those who may read it`() async throws {
        let service = try await TestService()
        _ = try await service.publishPolicy()
        try await service.test { client in
            let answer = try await client.administer(.get, "/admin/v1/audit")
            #expect(answer.status == .ok)
            #expect(answer.headers[.contentType] == "application/jsonl")
            let lines = String(buffer: answer.body).split(separator: "\n")
            #expect(lines.count > 3)
            for line in lines { #expect((try? JSONValue(parsing: Data(line.utf8))) != nil) }
            let claims = TestIssuer.administrationClaims(roles: ["helpDesk"], at: service.clock.now)
            #expect(try await client.administer(.get, "/admin/v1/audit", claims: claims).status == .forbidden)
            #expect(try await client.client.execute(uri: "/admin/v1/audit", method: .get).status == .unauthorized)
        }
    }

    @Test func `the history is exported as lines of JSON that end in the audit log`() async throws {
        let service = try await TestService()
        _ = try await service.publishPolicy()
        try await service.test { client in
            _ = try await client.register(TestDevice())
            service.clock.advance(by: 60)
            let answer = try await client.administer(.get, "/admin/v1/history")
            #expect(answer.status == .ok && answer.headers[.contentType] == "application/jsonl")
            let lines = try String(buffer: answer.body).split(separator: "\n").map {
                try JSONValue(parsing: Data($0.utf8))
            }
            let kinds = Set(lines.compactMap { $0["type"]?.string })
            #expect(kinds == ["history", "document", "version", "registration", "delivery", "audit"])
            #expect(lines.last?["checkpoint"]?.string != nil)
            let claims = TestIssuer.administrationClaims(roles: ["helpDesk"], at: service.clock.now)
            #expect(try await client.administer(.get, "/admin/v1/history", claims: claims).status == .forbidden)
        }
    }

    @Test func `allowed accounts are set, read and lifted`() async throws {
        let service = try await TestService()
        try await service.test { client in
            let path = "/admin/v1/allowedAccounts"
            let accounts: JSONValue = ["accounts": [["id": "oid-a", "userPrincipalName": "worker-a@contoso.example"]]]
            let set = try await client.administer(.put, path, accounts)
            #expect(set.status == .noContent)
            #expect(try await client.administer(.get, path).json["accounts"] == accounts["accounts"])
            #expect(try await client.administer(.put, path, ["accounts": .null]).status == .noContent)
            #expect(try await client.administer(.get, path).json["accounts"]?.array == nil)
        }
    }
}
