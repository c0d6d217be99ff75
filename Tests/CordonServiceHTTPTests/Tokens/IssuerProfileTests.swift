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

    @Test func `the audience is where the profile says, and in the first of the claims that is there`() async throws {
        let wanted = JSONValue.string(ServiceServerConfiguration.usualAdministrationAudience)
        let byClient: (inout IssuerProfile) -> Void = { $0.audienceClaims = ["client_id"] }
        #expect(try await verified(byClient, ["aud": nil, "client_id": wanted]).clientID == wanted.string)
        for changes in [["aud": wanted, "client_id": "other"], ["aud": wanted, "client_id": nil]]
            as [[String: JSONValue?]]
        {
            await #expect(throws: TokenRefusal(.wrongAudience, "")) { try await verified(byClient, changes) }
        }
        let either: (inout IssuerProfile) -> Void = { $0.audienceClaims = ["aud", "client_id"] }
        _ = try await verified(either, ["aud": nil, "client_id": wanted])
        await #expect(throws: TokenRefusal(.wrongAudience, "")) {
            try await verified(either, ["aud": "other", "client_id": wanted])
        }
    }

    @Test func `a scope counts without what the provider writes before it, and no other does`() async throws {
        let changes: [String: JSONValue?] = [
            "scp": nil, "scope": "cordon/User.Read.All shop/Group.Read.All /x cordon/",
        ]
        let found = try await verified({ $0.scopePrefixes = ["cordon/"] }, changes)
        #expect(found.scopes.isSuperset(of: ["User.Read.All"]) && !found.scopes.contains("Group.Read.All"))
        #expect(try await !verified({ _ in }, changes).scopes.contains("User.Read.All"))
    }

    @Test func `the time of a sign-in is a number or a text, where the profile says`() async throws {
        let now = Int64(clock.now.timeIntervalSince1970)
        for (value, moment) in [
            (.integer(now - 60), now - 60), (.string(clock.now.addingTimeInterval(-60).formatted(.iso8601)), now - 60),
            ("2027-01-15T07:59:00.500Z", 1_800_000_000 - 60), ("2027-01-15T08:59:00+01:00", 1_800_000_000 - 60),
        ] as [(JSONValue, Int64)] {
            for name in ["auth_time", "https://example.test/signed_in"] {
                var changes: [String: JSONValue?] = ["auth_time": JSONValue?.none]
                changes.updateValue(value, forKey: name)
                let token = try await verified({ $0.signedInClaim = name }, changes)
                #expect(token.authenticated.map { Int64($0.timeIntervalSince1970) } == moment, "\(value)")
            }
        }
        for value in ["yesterday", "2027-01-15", "", "1800000000", "2028-01-15T08:00:00Z", true, []] as [JSONValue] {
            await #expect(throws: TokenRefusal.self, "\(value)") { try await verified({ _ in }, ["auth_time": value]) }
        }
    }

    @Test func `access tokens of another issuer than the discovery document's are taken by that name alone`()
        async throws
    {
        let other: (inout IssuerProfile) -> Void = { $0.tokenIssuer = "http://login.example.test/services/trust" }
        let token = try await verified(other, ["iss": "http://login.example.test/services/trust"])
        #expect(token.issuer == TestIssuer.name, "as the configuration names it")
        // ID tokens name the issuer of the discovery document.
        await #expect(throws: TokenRefusal(.untrustedIssuer, "")) { try await verified(other, [:]) }
    }

    @Test func `a profile that leaves out what has to be there is refused`() {
        for change in [
            { $0.audienceClaims = [] }, { $0.tokenIssuer = "" }, { $0.scopePrefixes = ["a/", ""] },
        ] as [(inout IssuerProfile) -> Void] {
            var profile = IssuerProfile()
            change(&profile)
            #expect(profile.flaw != nil)
        }
        #expect(IssuerProfile().flaw == nil)
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
