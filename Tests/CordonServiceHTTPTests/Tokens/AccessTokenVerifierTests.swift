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

@Suite struct AccessTokenVerifierTests {
    let issuer = TestIssuer()
    let clock = SettableClock()
    let device = TestDevice()

    private var verifier: AccessTokenVerifier {
        let clock = clock
        return AccessTokenVerifier(
            rules: TokenRules(
                issuers: [.init(issuer: TestIssuer.name, tenant: TestService.tenant)],
                checkInAudience: ServiceServerConfiguration.usualCheckInAudience,
                administrationAudiences: [ServiceServerConfiguration.usualAdministrationAudience]),
            documents: issuer, now: { clock.now })
    }

    private func claims(_ changes: [String: JSONValue?] = [:]) -> [String: JSONValue] {
        var claims = TestIssuer.checkInClaims(.workerA, key: device.key.publicKey, at: clock.now)
        for (name, value) in changes { claims[name] = value }
        return claims
    }

    @Test func `a good check-in token tells person, tenant and key`() async throws {
        let token = try await verifier.verify(try issuer.token(claims()), for: .checkIn)
        #expect(token.account?.id == "oid-a")
        #expect(token.tenant == TestService.tenant)
        #expect(token.keyThumbprint == device.key.publicKey.thumbprint)
        #expect(token.scopes == ["mam.checkin"])
    }

    @Test
    func
        `a token that was verified is refused as any other while a clock that was set back makes it one of the future`()
        async throws
    {
        let verifier = verifier
        let token = try issuer.token(claims())
        _ = try await verifier.verify(token, for: .checkIn)
        clock.advance(by: -86_400)
        await #expect(throws: TokenRefusal(.expired, "")) { try await verifier.verify(token, for: .checkIn) }
        clock.advance(by: 86_400)
        _ = try await verifier.verify(token, for: .checkIn)
    }

    @Test func `a token that lives longer than the operator allows is refused, and one that does not say how long`()
        async throws
    {
        let clock = clock
        let verifier = AccessTokenVerifier(
            rules: TokenRules(
                issuers: [.init(issuer: TestIssuer.name, tenant: TestService.tenant)],
                checkInAudience: ServiceServerConfiguration.usualCheckInAudience, administrationAudiences: [],
                longestCheckInToken: 900),
            documents: issuer, now: { clock.now })
        let now = Int64(clock.now.timeIntervalSince1970)
        for (changes, isGood) in [
            (["iat": .integer(now), "exp": .integer(now + 900)], true),
            (["iat": .integer(now), "exp": .integer(now + 901)], false),
            (["iat": nil, "exp": .integer(now + 60)], false),
        ] as [([String: JSONValue?], Bool)] {
            let text = try issuer.token(claims(changes))
            if isGood {
                _ = try await verifier.verify(text, for: .checkIn)
            } else {
                await #expect(throws: TokenRefusal(.tooLong, "")) { try await verifier.verify(text, for: .checkIn) }
            }
        }
    }

    @Test func `without being told, a token of an hour is taken and one of a day is not`() async throws {
        let service = try await TestService()
        _ = try await service.publishPolicy()
        try await service.test { client in
            let device = TestDevice()
            let now = Int64(service.clock.now.timeIntervalSince1970)
            for (life, status) in [(3_600, HTTPResponse.Status.created), (86_400, .unauthorized)] {
                var claims = TestIssuer.checkInClaims(
                    device.person, key: device.key.publicKey, at: service.clock.now)
                claims["iat"] = .integer(now)
                claims["exp"] = .integer(now + Int64(life))
                var changes = TestClient.Changes()
                changes.token = try service.issuer.token(claims)
                let answer = try await client.send(
                    .post, "/mam/v1/registrations", as: device, device.registration, changes)
                #expect(answer.status == status, "\(life)")
            }
        }
    }

    static let attacks: [(name: String, changes: [String: JSONValue?], code: TokenRefusal.Code)] = [
        ("another issuer", ["iss": "https://evil.example.test"], .untrustedIssuer),
        ("an issuer with a slash more", ["iss": .string(TestIssuer.name + "/")], .untrustedIssuer),
        ("another audience", ["aud": "https://other.example.test"], .wrongAudience),
        ("the administration's audience", ["aud": "api://cordon/administration"], .wrongAudience),
        ("both audiences", ["aud": ["api://cordon/check-in", "api://cordon/administration"]], .wrongAudience),
        ("no audience", ["aud": JSONValue?.none], .wrongAudience),
        ("expired", ["exp": 1_799_999_000], .expired),
        ("not valid yet", ["nbf": 1_800_000_500], .expired),
        ("made in the future", ["iat": 1_800_000_031], .expired),
        ("of a sign-in in the future", ["auth_time": 1_800_000_031], .expired),
        ("of a sign-in in thirty years", ["auth_time": 2_750_000_000], .expired),
        ("no expiry", ["exp": JSONValue?.none], .malformed),
        ("without the scope", ["scope": "openid profile"], .insufficientScope),
        ("not bound to a key", ["cnf": JSONValue?.none], .unprovedKey),
        ("of another tenant", ["tid": "fabrikam"], .wrongTenant),
        ("of nobody", ["sub": JSONValue?.none, "oid": JSONValue?.none], .malformed),
        ("of an application", ["idtyp": "app"], .malformed),
    ]

    @Test(arguments: attacks.indices)
    func `a check-in token with a wrong claim is refused`(_ index: Int) async throws {
        let attack = Self.attacks[index]
        let text = try issuer.token(claims(attack.changes))
        await #expect(throws: TokenRefusal(attack.code, ""), "\(attack.name)") {
            try await verifier.verify(text, for: .checkIn)
        }
    }

    @Test(arguments: [
        "\u{212A}im", "e\u{301}va", "éva", "a\u{0}b", "a\nb", "a\u{202E}b", "a\u{200B}b", " ada", "ada ", "\u{1F642}",
    ])
    func `an id with other characters than ids have is no one's, on either side`(id: String) async throws {
        var administration = TestIssuer.administrationClaims(at: clock.now)
        for (name, good) in [("sub", "auth0|1"), ("oid", "cn=Ada Lovelace,ou=x")] {
            let mine = name == "oid" ? [:] : ["oid": JSONValue?.none]
            for (value, isGood) in [(id, false), (good, true)] {
                var changes: [String: JSONValue?] = mine
                changes.updateValue(JSONValue.string(value), forKey: name)
                for (claim, change) in changes { administration[claim] = change }
                let tokens: [(TokenAudience, String)] = [
                    (.administration, try issuer.token(administration)),
                    (.checkIn, try issuer.token(claims(changes))),
                ]
                for (side, text) in tokens {
                    do throws(TokenRefusal) {
                        let token = try await verifier.verify(text, for: side)
                        #expect(isGood && token.subject.rawValue == value, "\(name) \(side)")
                    } catch {
                        #expect(!isGood && error.reason.contains("printable ASCII"), "\(name) \(side): \(error.reason)")
                    }
                }
            }
        }
    }

    @Test func `what was made or signed in more than half a minute ahead of the clock is refused on both sides`()
        async throws
    {
        let now = Int64(clock.now.timeIntervalSince1970)
        for claim in ["iat", "auth_time"] {
            for (ahead, isGood) in [(30, true), (31, false), (315_360_000, false)] as [(Int64, Bool)] {
                var administration = TestIssuer.administrationClaims(at: clock.now)
                administration[claim] = .integer(now + ahead)
                let tokens: [(TokenAudience, String)] = [
                    (.administration, try issuer.token(administration)),
                    (.checkIn, try issuer.token(claims([claim: .integer(now + ahead)]))),
                ]
                for (side, text) in tokens {
                    let token = try? await verifier.verify(text, for: side)
                    #expect((token != nil) == isGood, "\(claim) \(ahead) \(side)")
                }
            }
        }
    }

    @Test func `a token that says it never ends ends in a year`() async throws {
        let text = try issuer.token(claims(["exp": try JSONValue(parsing: Data("1e300".utf8))]))
        let token = try await verifier.verify(text, for: .checkIn)
        #expect(token.expires.timeIntervalSince(clock.now) <= 366 * 86_400)
    }

    static let headers: [(name: String, changes: [String: JSONValue])] = [
        ("algorithm none", ["alg": "none"]), ("a symmetric algorithm", ["alg": "HS256"]),
        ("an ID token's type", ["typ": "JWT"]), ("another type", ["typ": "dpop+jwt"]),
        ("critical extensions", ["crit": ["exp"]]), ("another algorithm than the key's", ["alg": "RS256"]),
    ]

    @Test(arguments: headers.indices)
    func `a token with a wrong header is refused before its signature matters`(_ index: Int) async throws {
        let text = try issuer.token(claims(), header: Self.headers[index].changes)
        await #expect(throws: TokenRefusal(.malformed, ""), "\(Self.headers[index].name)") {
            try await verifier.verify(text, for: .checkIn)
        }
    }

    @Test func `a token without a signature is refused`() async throws {
        let parts = try issuer.token(claims(), header: ["alg": "none"]).split(separator: ".")
        await #expect(throws: TokenRefusal(.malformed, "")) {
            try await verifier.verify(parts[0] + "." + parts[1] + ".", for: .checkIn)
        }
    }

    @Test func `a token signed by another key under a known id is refused`() async throws {
        let text = try issuer.token(claims(), signedBy: SoftwareSigningKey())
        await #expect(throws: TokenRefusal(.wrongSignature, "")) { try await verifier.verify(text, for: .checkIn) }
    }

    @Test func `a token with a changed payload is refused`() async throws {
        let good = try issuer.token(claims()).split(separator: ".")
        let other = try issuer.token(claims(["oid": "oid-b"])).split(separator: ".")
        await #expect(throws: TokenRefusal(.wrongSignature, "")) {
            try await verifier.verify([good[0], other[1], good[2]].joined(separator: "."), for: .checkIn)
        }
    }

    @Test func `a check-in token opens no administration, and the other way round`() async throws {
        let checkIn = try issuer.token(claims())
        let administration = try issuer.token(TestIssuer.administrationClaims(at: clock.now))
        await #expect(throws: TokenRefusal(.wrongAudience, "")) {
            try await verifier.verify(checkIn, for: .administration)
        }
        await #expect(throws: TokenRefusal(.wrongAudience, "")) {
            try await verifier.verify(administration, for: .checkIn)
        }
        #expect(try await verifier.verify(administration, for: .administration).roles == ["owner"])
    }

    @Test func `scope may be a list and the audience one of several of this side`() async throws {
        let text = try issuer.token(
            claims(["scope": ["openid", "mam.checkin"], "aud": ["x:y", "api://cordon/check-in"]]))
        #expect(try await verifier.verify(text, for: .checkIn).scopes.contains("mam.checkin"))
    }
}
