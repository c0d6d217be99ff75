import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonService
import CordonTestSupport
import Foundation
import HTTPTypes
import HummingbirdTesting
import Testing

@testable import CordonGraph
@testable import CordonServiceHTTP

/// Subjects are unique at their provider only (OpenID Connect Core §2).
@Suite struct SeveralIssuersTests {
    private static let second = "https://partner.example.test"
    private static let mark = IssuerMark.text(of: second)

    private func claims(
        _ service: TestService, of issuer: String = second, _ changes: [String: JSONValue] = [:]
    ) -> [String: JSONValue] {
        var claims = TestIssuer.administrationClaims(roles: [], at: service.clock.now)
        claims["iss"] = .string(issuer)
        claims["sub"] = "boss"
        claims["oid"] = nil
        return claims.merging(changes) { $1 }
    }

    @Test func `a role of the configuration is for the first provider's person, group and role of that name`()
        async throws
    {
        let service = try await TestService()
        let rules = TokenRules(
            issuers: [TestIssuer.name, Self.second].map { .init(issuer: $0, tenant: TestService.tenant) },
            checkInAudience: "x", administrationAudiences: [ServiceServerConfiguration.usualAdministrationAudience])
        let clock = service.clock
        let verifier = AccessTokenVerifier(rules: rules, documents: service.issuer, now: { clock.now })
        var gate = service.graph.gate
        gate.roleMapping = [
            "user:boss": [.owner], "admins": [.policyAdministrator], "user:\(Self.mark)boss": [.reader],
            "\(Self.mark)admins": [.helpDesk],
        ]
        let asked = gate
        func roles(_ issuer: String, _ changes: [String: JSONValue] = [:]) async throws -> Set<AdministratorRole> {
            let text = try service.issuer.token(claims(service, of: issuer, changes))
            let token = try await verifier.verify(text, for: .administration)
            return try await asked.administrator(token, for: .readApps).roles
        }
        #expect(try await roles(TestIssuer.name) == [.owner])
        #expect(try await roles(Self.second) == [.reader])
        #expect(try await roles(Self.second, ["sub": "chief"]) == [])
        for claim in ["groups", "roles"] {
            #expect(try await roles(TestIssuer.name, ["sub": "x", claim: ["admins"]]) == [.policyAdministrator])
            #expect(try await roles(Self.second, ["sub": "x", claim: ["admins"]]) == [.helpDesk])
            let forged = JSONValue.array([.string(Self.mark + "admins")])
            #expect(try await roles(TestIssuer.name, ["sub": "x", claim: forged]) == [])
        }
        for name in [Self.mark + "boss", Self.mark.uppercased() + "boss"] {
            await #expect(throws: TokenRefusal(.malformed, "")) {
                try await roles(TestIssuer.name, ["sub": .string(name)])
            }
        }
    }

    @Test func `the audit log and roles of the organisation's own tell people of two providers apart`() async throws {
        let service = try await TestService(issuers: [TestIssuer.name, Self.second])
        try await service.test { client in
            let role: JSONValue = [
                "displayName": "Boss", "permissions": ["read", "writePolicies"], "members": ["user:boss"],
            ]
            #expect(try await client.administer(.put, "/admin/v1/roles/boss", role).status == .ok)
            let path = "/v1.0/deviceAppManagement/iosManagedAppProtections"
            let staff = claims(service, of: TestIssuer.name)
            #expect(try await client.administer(.get, path, claims: staff).status == .ok)
            #expect(try await client.administer(.get, path, claims: claims(service)).status == .forbidden)
            let owner = claims(service, of: Self.second, ["roles": ["owner"]])
            let made = try await client.administer(.post, path, ["displayName": "Theirs"], claims: owner)
            #expect(made.status == .created)
        }
        let records = try await service.service.administration.auditRecords(.init(limit: 1_000), as: TestService.owner)
        #expect(records.last?.actor.id == Self.mark + "boss")
    }

    @Test func `only the first provider's people check in, whatever another one calls its own`() async throws {
        let service = try await TestService(issuers: [TestIssuer.name, Self.second])
        _ = try await service.publishPolicy()
        try await service.test { client in
            let device = TestDevice()
            let registration = try await client.register(device).registrationID
            var claims = TestIssuer.checkInClaims(device.person, key: device.key.publicKey, at: service.clock.now)
            claims["iss"] = .string(Self.second)
            let changes = TestClient.Changes(token: try service.issuer.token(claims))
            let enrolling = try await client.send(
                .post, "/mam/v1/registrations", as: device, device.registration, changes)
            #expect(enrolling.status == .unauthorized && enrolling.problem == "access-token")
            let path = "/mam/v1/registrations/\(registration)/checkins"
            let request = device.checkIn(at: service.clock.now)
            let checkingIn = try await client.send(.post, path, as: device, request, changes)
            #expect(checkingIn.status == .unauthorized && checkingIn.problem == "access-token")
            #expect(try await client.send(.post, path, as: device, request).status == .ok)
        }
    }

    @Test func `the mark of a provider never changes`() {
        // printf %s https://partner.example.test | sha256sum | cut -c1-16
        #expect(IssuerMark.text(of: Self.second) == "~a52e9e6d2675a3c5~")
        #expect(IssuerMark.begins(Self.mark) && IssuerMark.begins(Self.mark + "x"))
        for word in ["", "~", "boss", String(Self.mark.dropLast()), "x" + Self.mark, "~0123456789abcdeg~x"] {
            #expect(!IssuerMark.begins(word), "\(word)")
        }
    }
}
