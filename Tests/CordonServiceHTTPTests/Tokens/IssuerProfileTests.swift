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

/// Where the claims of a provider are.
@Suite struct IssuerProfileTests {
    private let issuer = TestIssuer()
    private let clock = SettableClock()

    private func verified(
        _ change: (inout IssuerProfile) -> Void, _ changes: [String: JSONValue?]
    ) async throws -> AccessToken {
        var profile = IssuerProfile()
        change(&profile)
        let clock = clock
        let verifier = AccessTokenVerifier(
            rules: TokenRules(
                issuers: [.init(issuer: TestIssuer.name, tenant: TestService.tenant, profile: profile)],
                checkInAudience: ServiceServerConfiguration.usualCheckInAudience,
                administrationAudiences: [ServiceServerConfiguration.usualAdministrationAudience]),
            documents: issuer, now: { clock.now })
        var claims = TestIssuer.administrationClaims(roles: [], at: clock.now)
        for (name, value) in changes { claims[name] = value }
        return try await verifier.verify(try issuer.token(claims), for: .administration)
    }

    @Test func `a claim inside another is found by its pointer, and an object's names are roles`() async throws {
        let nested = try await verified(
            { $0.roleClaims = ["/realm_access/roles", "/a~1b/m~0n"] },
            ["realm_access": ["roles": ["reader"]], "a/b": ["m~n": ["owner": ["org": "x"]]]])
        #expect(nested.roles == ["reader", "owner"])
        let absent = try await verified({ $0.roleClaims = ["/realm_access/roles"] }, ["realm_access": "text"])
        #expect(absent.roles == [])
    }

    @Test func `an audience or a scope is never the name of an object's member`() async throws {
        for claim in ["aud", "scp"] {
            await #expect(throws: TokenRefusal(.malformed, "")) {
                try await verified({ _ in }, [claim: ["api://cordon/administration": true]])
            }
        }
    }

    @Test func `the organisation is looked at where the profile says, or nowhere`() async throws {
        await #expect(throws: TokenRefusal(.wrongTenant, "")) { try await verified({ _ in }, ["tid": "other"]) }
        await #expect(throws: TokenRefusal(.wrongTenant, "")) {
            try await verified({ $0.tenantClaim = "org" }, ["org": "other"])
        }
        let free = try await verified({ $0.tenantClaim = nil }, ["tid": "other"])
        #expect(free.tenant == TestService.tenant)
    }

    @Test func `a provider without programs has none, whatever its tokens say`() async throws {
        let changes: [String: JSONValue?] = ["idtyp": "app"]
        #expect(try await verified({ _ in }, changes).isApplication)
        #expect(try await !verified({ $0.programs = .none }, changes).isApplication)
        #expect(try await !verified({ $0.programs = .claim("kind", value: "job") }, changes).isApplication)
        #expect(try await verified({ $0.programs = .claim("kind", value: "job") }, ["kind": "job"]).isApplication)
    }

    @Test func `a sequence that readers of JSON could not tell from its neighbour is refused`() async throws {
        let service = try await TestService()
        _ = try await service.publishPolicy()
        try await service.test { client in
            let device = TestDevice()
            let path = "/mam/v1/registrations/\(try await client.register(device).registrationID)/checkins"
            let end = Int64(1) << 52
            for (sequence, status) in [(end, HTTPResponse.Status.badRequest), (-1, .badRequest), (end - 1, .ok)] {
                let answer = try await client.send(
                    .post, path, as: device, device.checkIn(sequence, at: service.clock.now))
                #expect(answer.status == status, "\(sequence)")
            }
        }
    }
}
