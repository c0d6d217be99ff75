import CordonBase
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

/// SRV-CI-016, 026, 084, 095 over HTTP.
@Suite struct OperatorRoutesTests {
    @Test func `a time-keeping system reports whether a person is at work`() async throws {
        let service = try await TestService()
        try await service.test { client in
            let path = "/admin/v1/users/\(TestPerson.workerA.name.replacing("@", with: "%40"))/workingTime"
            let nothing = try await client.administer(.get, path)
            #expect(nothing.status == .notFound)
            let body: JSONValue = [
                "status": "clockedIn", "asOf": "2027-01-15T07:00:00Z", "validUntil": "2027-01-15T17:00:00Z",
            ]
            #expect(try await client.administer(.put, path, body).status == .noContent)
            #expect(try await client.administer(.get, path).json == body)
            #expect(try await client.administer(.put, path, ["status": "asleep"]).status == .badRequest)
            let reader = TestIssuer.administrationClaims(roles: ["reader"], at: service.clock.now)
            #expect(try await client.administer(.put, path, body, claims: reader).status == .forbidden)
            let unknown = "/admin/v1/users/nobody/workingTime"
            #expect(try await client.administer(.put, unknown, body).status == .notFound)
        }
    }

    @Test func `the audit key is changed, the log goes on being sound, and a key that leaked is vouched for no more`()
        async throws
    {
        let service = try await TestService()
        try await service.test { client in
            func auditKeys() async throws -> [String: Bool] {
                let keys = try await client.administer(.get, "/admin/v1/keys").json.array ?? []
                return keys.filter { $0["role"] == "audit" }.reduce(into: [:]) { found, key in
                    found[key["id"]?.string ?? ""] = key["retires"]?.string == nil
                }
            }
            func export() async throws -> String {
                String(buffer: try await client.administer(.get, "/admin/v1/audit").body)
            }
            func faults(of log: String) -> [AuditFault] {
                var verifier = AuditLogVerifier()
                for line in log.split(separator: "\n") { verifier.read(String(line)) }
                return verifier.report().faults
            }
            func signer(of log: String) throws -> String? {
                let seal = try MessageCoding.decode(
                    AuditSeal.self, from: Data(try #require(log.split(separator: "\n").last).utf8))
                let head = seal.checkpoint.split(separator: ".").first.flatMap { Base64URL.decode($0) } ?? Data()
                return try JSONValue(parsing: head)["kid"]?.string
            }
            let first = try #require(try await auditKeys().keys.first)
            let before = try await export()
            #expect(try signer(of: before) == first)
            service.clock.advance(by: 1)
            let reader = TestIssuer.administrationClaims(roles: ["policyAdministrator"], at: service.clock.now)
            #expect(
                try await client.administer(.post, "/admin/v1/keys", ["role": "audit"], claims: reader).status
                    == .forbidden)
            #expect(try await client.administer(.post, "/admin/v1/keys", ["role": "root"]).status == .badRequest)
            let second = try await client.administer(.post, "/admin/v1/keys", ["role": "audit"])
            #expect(second.status == .created && second.json["role"] == "audit")
            let after = try await export()
            #expect(try signer(of: after) == second.json["id"]?.string)
            #expect(
                faults(of: after) == [] && after.contains(first), "earlier checkpoints are checked with the first key")
            #expect(try await auditKeys()[first] == false)
            service.clock.advance(by: 1)
            let third = try await client.administer(.post, "/admin/v1/keys", ["role": "audit", "emergency": true])
            #expect(third.status == .created)
            let last = try await export()
            #expect(try signer(of: last) == third.json["id"]?.string)
            #expect(faults(of: last) == [])
            let seal = try MessageCoding.decode(
                AuditSeal.self, from: Data(try #require(last.split(separator: "\n").last).utf8))
            let vouched = seal.keys.keys.map(\.thumbprint)
            #expect(vouched == [try #require(third.json["id"]?.string)])
            // What apps are told is as it was.
            let apps = try await client.client.execute(uri: "/mam/v1/keys", method: .get)
            #expect(!String(buffer: apps.body).contains(vouched[0]))
        }
    }

    @Test func `a new key is published a week before it signs, unless one leaked`() async throws {
        let service = try await TestService()
        try await service.test { client in
            let now = service.clock.now
            let soon = try await client.administer(
                .post, "/admin/v1/keys", ["activeFrom": .string(now.addingTimeInterval(60).formatted(.iso8601))])
            #expect(soon.status == .created)
            #expect(soon.json["activeFrom"]?.string == now.addingTimeInterval(7 * 86_400).formatted(.iso8601))
            let urgent = try await client.administer(.post, "/admin/v1/keys", ["emergency": true])
            #expect(urgent.json["activeFrom"]?.string == now.formatted(.iso8601))
            // A key that leaked would sign until then.
            let later: JSONValue = [
                "emergency": true, "activeFrom": .string(now.addingTimeInterval(8 * 86_400).formatted(.iso8601)),
            ]
            #expect(try await client.administer(.post, "/admin/v1/keys", later).status == .badRequest)
            let keys = try await client.administer(.get, "/admin/v1/keys")
            #expect(keys.json.array?.count == 5)
            #expect(!String(buffer: keys.body).contains("\"d\""))
            let published = try await client.client.execute(uri: "/mam/v1/keys", method: .get)
            #expect(published.status == .ok)
            let reader = TestIssuer.administrationClaims(roles: ["policyAdministrator"], at: now)
            #expect(try await client.administer(.post, "/admin/v1/keys", [:], claims: reader).status == .forbidden)
        }
    }

    @Test func `a refusal says what kind it is in its title, and what is missing and what to do in its detail`()
        async throws
    {
        let service = try await TestService()
        try await service.test { client in
            let reader = TestIssuer.administrationClaims(roles: ["reader"], at: service.clock.now)
            let refused = try await client.administer(.post, "/admin/v1/keys", [:], claims: reader)
            #expect(refused.status == .forbidden && refused.json["title"] == "The caller's roles do not allow this.")
            let detail = refused.json["detail"]?.string
            #expect(detail?.contains("do not include \(Permission.manageTenant.rawValue)") == true, "\(refused.json)")
            #expect(detail?.hasSuffix("Ask an owner for a role that includes this.") == true)
            let unknown = try await client.administer(.get, "/admin/v1/users/oid-x/data")
            #expect(unknown.status == .notFound && unknown.json["title"] == "There is nothing with this id.")
        }
    }

    @Test func `settings are read and replaced as a whole`() async throws {
        let service = try await TestService()
        try await service.test { client in
            var settings = try await client.administer(.get, "/admin/v1/settings").json.object ?? [:]
            #expect(settings["telemetry"] == "required")
            settings["telemetry"] = "off"
            #expect(try await client.administer(.put, "/admin/v1/settings", .object(settings)).status == .noContent)
            #expect(try await client.administer(.get, "/admin/v1/settings").json["telemetry"] == "off")
            for bad in ["", "one", "1.2.3-beta", "1.2.3.4.5", "v2"] {
                settings["minimumSDKVersion"] = .string(bad)
                let answer = try await client.administer(.put, "/admin/v1/settings", .object(settings))
                #expect(answer.status == .badRequest, "\(bad)")
                #expect(answer.json["detail"]?.string?.contains("minimumSDKVersion: needs one to four numbers") == true)
            }
            settings["minimumSDKVersion"] = "1.4"
            #expect(try await client.administer(.put, "/admin/v1/settings", .object(settings)).status == .noContent)
            settings["backOffSeconds"] = []
            #expect(try await client.administer(.put, "/admin/v1/settings", .object(settings)).status == .badRequest)
        }
    }

    @Test func `a person's data can be had and removed by an owner alone`() async throws {
        let service = try await TestService()
        try await service.test { client in
            let path = "/admin/v1/users/\(TestPerson.workerA.id)/data"
            let data = try await client.administer(.get, path)
            #expect(data.json["user"]?["userPrincipalName"]?.string == TestPerson.workerA.name)
            let other = TestIssuer.administrationClaims(roles: ["deviceAdministrator"], at: service.clock.now)
            #expect(try await client.administer(.get, path, claims: other).status == .forbidden)
            #expect(try await client.administer(.delete, path).status == .noContent)
            #expect(try await client.administer(.get, path).status == .notFound)
        }
    }
}
