import CordonBase
import CordonPolicy
import CordonProtocol
import CordonService
import CordonSignatures
import CordonTestSupport
import CordonTesting
import Crypto
import CryptoExtras
import Foundation
import HTTPTypes
import HummingbirdTesting
import Testing

@testable import CordonServiceHTTP

/// What providers do that no recipe is about: it works, or the log says what to change at the provider.
@Suite struct ForeignProviderTests {
    private let issuer = TestIssuer()
    private let clock = SettableClock()
    private let log = LogRecorder()

    private func verifier(_ profile: IssuerProfile = IssuerProfile()) -> AccessTokenVerifier {
        let clock = clock
        return AccessTokenVerifier(
            rules: TokenRules(
                issuers: [.init(issuer: TestIssuer.name, tenant: TestService.tenant, profile: profile)],
                checkInAudience: ServiceServerConfiguration.usualCheckInAudience,
                administrationAudiences: [ServiceServerConfiguration.usualAdministrationAudience]),
            documents: issuer, logger: log.logger, now: { clock.now })
    }

    private func claims(_ changes: [String: JSONValue?] = [:]) -> [String: JSONValue] {
        var claims = TestIssuer.administrationClaims(at: clock.now)
        for (name, value) in changes { claims[name] = value }
        return claims
    }

    /// A token whose header has these members alone.
    private func token(
        header: [String: JSONValue], _ changes: [String: JSONValue?] = [:], signature: (Data) throws -> Data
    ) throws -> String {
        try SignedText.make(
            header: Data(JSONValue.object(header).text().utf8),
            payload: Data(JSONValue.object(claims(changes)).text().utf8), signature: signature)
    }

    private func unnamed(by key: SoftwareSigningKey, _ changes: [String: JSONValue?] = [:]) throws -> String {
        try token(header: ["alg": "ES256", "typ": "at+jwt"], changes) { try key.signature(for: $0) }
    }

    private func isAccepted(_ text: String, by verifier: AccessTokenVerifier) async -> Bool {
        (try? await verifier.verify(text, for: .administration)) != nil
    }

    // MARK: Signatures

    @Test func `tokens are taken in every algorithm of the key that the provider publishes`() async throws {
        let rsa = try _RSA.Signing.PrivateKey(keySize: .bits2048)
        let numbers = try rsa.publicKey.getKeyPrimitives()
        let (p384, p521) = (P384.Signing.PrivateKey(), P521.Signing.PrivateKey())
        let edwards = Curve25519.Signing.PrivateKey()
        func half(_ point: Data, _ isFirst: Bool) -> JSONValue {
            .string(Base64URL.encode(isFirst ? point.prefix(point.count / 2) : point.suffix(point.count / 2)))
        }
        let (point384, point521) = (p384.publicKey.rawRepresentation, p521.publicKey.rawRepresentation)
        issuer.publish([
            [
                "kty": "RSA", "kid": "rsa", "n": .string(Base64URL.encode(numbers.modulus)),
                "e": .string(Base64URL.encode(numbers.publicExponent)),
            ],
            ["kty": "EC", "crv": "P-384", "kid": "384", "x": half(point384, true), "y": half(point384, false)],
            ["kty": "EC", "crv": "P-521", "kid": "521", "x": half(point521, true), "y": half(point521, false)],
            [
                "kty": "OKP", "crv": "Ed25519", "kid": "ed",
                "x": .string(Base64URL.encode(edwards.publicKey.rawRepresentation)),
            ],
        ])
        let verifier = verifier()
        let signers: [(algorithm: String, kid: String, sign: (Data) throws -> Data)] = [
            (
                "RS256", "rsa",
                { try rsa.signature(for: SHA256.hash(data: $0), padding: .insecurePKCS1v1_5).rawRepresentation }
            ),
            (
                "RS512", "rsa",
                { try rsa.signature(for: SHA512.hash(data: $0), padding: .insecurePKCS1v1_5).rawRepresentation }
            ),
            ("PS256", "rsa", { try rsa.signature(for: SHA256.hash(data: $0), padding: .PSS).rawRepresentation }),
            ("PS384", "rsa", { try rsa.signature(for: SHA384.hash(data: $0), padding: .PSS).rawRepresentation }),
            ("ES384", "384", { try p384.signature(for: $0).rawRepresentation }),
            ("ES512", "521", { try p521.signature(for: $0).rawRepresentation }),
            ("EdDSA", "ed", { try edwards.signature(for: $0) }),
        ]
        // By its name of RFC 9864.
        let named: [String: JSONValue] = ["alg": "Ed25519", "typ": "at+jwt", "kid": "ed"]
        #expect(await isAccepted(try token(header: named) { try edwards.signature(for: $0) }, by: verifier))
        for signer in signers {
            let header: [String: JSONValue] = [
                "alg": .string(signer.algorithm), "typ": "at+jwt", "kid": .string(signer.kid),
            ]
            let good = try token(header: header, signature: signer.sign)
            #expect(await isAccepted(good, by: verifier), "\(signer.algorithm)")
            // The control: the same signature under another algorithm's name, and another one's signature under this name.
            for other in signers where other.algorithm != signer.algorithm {
                var wrong = header
                wrong["alg"] = .string(other.algorithm)
                #expect(!(await isAccepted(try token(header: wrong, signature: signer.sign), by: verifier)))
                #expect(!(await isAccepted(try token(header: header, signature: other.sign), by: verifier)))
            }
        }
        // A key that says its one algorithm is used for no other.
        issuer.publish([
            [
                "kty": "RSA", "kid": "own", "alg": "PS256", "n": .string(Base64URL.encode(numbers.modulus)),
                "e": .string(Base64URL.encode(numbers.publicExponent)),
            ]
        ])
        clock.advance(by: IssuerKeys.longestAge + 1)
        for (index, isGood) in [(2, true), (0, false)] {
            let header: [String: JSONValue] = [
                "alg": .string(signers[index].algorithm), "typ": "at+jwt", "kid": "own",
            ]
            #expect(await isAccepted(try token(header: header, signature: signers[index].sign), by: verifier) == isGood)
        }
    }

    @Test func `a token that names no key is verified with those that fit`() async throws {
        let (other, stranger, verifier) = (SoftwareSigningKey(), SoftwareSigningKey(), verifier())
        #expect(await isAccepted(try unnamed(by: issuer.key), by: verifier))
        #expect(!(await isAccepted(try unnamed(by: stranger, ["jti": "1"]), by: verifier)))
        // While the provider changes its key both are published, also where it names neither.
        issuer.publish(
            [issuer.key, other].map { key in
                var members = TestIssuer.json(key.publicKey).object ?? [:]
                members["kid"] = nil
                return .object(members)
            })
        clock.advance(by: IssuerKeys.longestAge + 1)
        for key in [issuer.key, other] { #expect(await isAccepted(try unnamed(by: key, ["jti": "2"]), by: verifier)) }
        #expect(!(await isAccepted(try unnamed(by: stranger, ["jti": "3"]), by: verifier)))
        #expect(log.lines.last?.contains("tells them apart by no id") == true)
    }

    @Test func `a new key under the id of the one before counts as soon as a token shows it, and the old one no more`()
        async throws
    {
        let (verifier, next) = (verifier(), SoftwareSigningKey())
        let id = JSONValue.string(issuer.key.publicKey.keyID)
        let old = try issuer.token(claims())
        #expect(await isAccepted(old, by: verifier))
        var renamed = TestIssuer.json(next.publicKey).object ?? [:]
        renamed["kid"] = id
        issuer.publish([.object(renamed)])
        clock.advance(by: IssuerKeys.shortestPause + 1)
        let new = try issuer.token(claims(["jti": "new"]), header: ["kid": id], signedBy: next)
        #expect(await isAccepted(new, by: verifier))
        #expect(!(await isAccepted(try issuer.token(claims(["jti": "old"])), by: verifier)))
    }

    @Test func `tokens that no key signed have the keys fetched once in half a minute`() async throws {
        let verifier = verifier()
        #expect(await isAccepted(try issuer.token(claims()), by: verifier))
        clock.advance(by: IssuerKeys.shortestPause + 1)
        for number in Int64(0)..<20 {
            let forged = try issuer.token(claims(["jti": .integer(number)]), signedBy: SoftwareSigningKey())
            #expect(!(await isAccepted(forged, by: verifier)))
        }
        #expect(issuer.fetches.withLock { $0 } == 2)
    }

    @Test func `two keys under one id are both tried, and no more than four`() async throws {
        let keys = (0..<6).map { _ in SoftwareSigningKey() }
        issuer.publish(
            keys.map { key in
                var members = TestIssuer.json(key.publicKey).object ?? [:]
                members["kid"] = "one"
                return .object(members)
            })
        let verifier = verifier()
        for (index, key) in keys.enumerated() {
            let text = try issuer.token(claims(["jti": .integer(Int64(index))]), header: ["kid": "one"], signedBy: key)
            #expect(await isAccepted(text, by: verifier) == (index < IssuerKeys.mostTried))
        }
    }

    // MARK: What the log says

    /// Tokens of providers that are set up otherwise, and words of the line that says so.
    static let refused: [(name: String, changes: [String: JSONValue?], header: [String: JSONValue], words: [String])] =
        [
            ("a shared secret", [:], ["alg": "HS256"], ["algorithm is not accepted", "HS256"]),
            ("an ID token's type", [:], ["typ": "JWT"], ["not of type at+jwt"]),
            ("an unknown key", [:], ["kid": "another"], ["no key with the token's key id", "2048"]),
            ("critical extensions", [:], ["crit": ["b64"], "b64": false], ["critical extensions"]),
            ("a slash too many", ["iss": .string(TestIssuer.name + "/")], [:], ["spelt otherwise", "slash"]),
            ("a clock behind", ["nbf": 1_800_000_100], [:], ["not valid yet", "clocks"]),
            ("a clock ahead", ["iat": 1_800_000_100], [:], ["of the future", "clocks"]),
            ("another audience", ["aud": ["account", "web"]], [:], ["another service"]),
            ("roles as objects", ["roles": [["name": "owner"]]], [:], ["claim roles is of the wrong kind"]),
            ("a time as text", ["exp": "2027-01-15"], [:], ["claim exp is of the wrong kind"]),
            ("another tenant", ["tid": "other"], [:], ["another organisation"]),
            (
                "nobody", ["sub": JSONValue?.none, "oid": JSONValue?.none], [:],
                ["names neither a person nor a program"]
            ),
        ]

    @Test(arguments: refused.indices) func `a token that is refused says why in the log`(_ index: Int) async throws {
        let (name, changes, header, words) = Self.refused[index]
        #expect(!(await isAccepted(try issuer.token(claims(changes), header: header), by: verifier())), "\(name)")
        let line = log.lines.last ?? ""
        for word in words { #expect(line.contains(word), "\(name): \(line)") }
    }

    @Test(arguments: [
        ("2YotnFZFEjr1zCsicMWpAA", "opaque"), ("ya29.a0AfH6SMBx", "opaque"), ("a.b.c.d.e", "encrypted"),
        ("a.b.c", "not a signed JWT"), ("", "opaque"),
    ])
    func `a text that is no signed token is called what it is`(text: String, word: String) async throws {
        let refusal = await #expect(throws: TokenRefusal.self) {
            try await verifier().verify(text, for: .administration)
        }
        #expect(log.lines.last?.contains(word) == true, "\(log.lines)")
        // Another sign-in does not help, and the reader is told who knows more.
        #expect(refusal?.hint.contains("operator") == true)
    }

    @Test func `an explanation says which settings a token of another form needs`() async throws {
        var claims = claims(["iss": .string(TestIssuer.name), "token_use": "access"])
        claims["aud"] = nil
        let text = try issuer.token(claims, header: ["typ": "JWT"])
        let explained = await verifier().explain(text)
        #expect(explained.refusal == nil && explained.facts?.claims.contains("token_use") == true)
        let told = explained.administration?.refusals.joined(separator: "\n") ?? ""
        for word in ["put JWT into tokenTypes", "token_use", "aud must name api://cordon/administration"] {
            #expect(told.contains(word), "\(told)")
        }
        // What ID tokens have too is never proposed.
        #expect(!told.contains("preferred_username") && !told.contains("may be aud"))
        // The proposal is one that works.
        var profile = IssuerProfile()
        profile.tokenTypes = ["JWT"]
        profile.accessTokenClaims = ["token_use"]
        profile.audienceClaims = ["client_id"]
        profile.administrationAudiences = [claims["client_id"]?.string ?? ""]
        #expect(await isAccepted(text, by: verifier(profile)))

        let other = await verifier().explain(try issuer.token(self.claims(["iss": "http://other.example.test\u{1B}"])))
        let words = other.refusal ?? ""
        #expect(words.contains("by its own word http://other.example.test?") && words.contains("tokenIssuer"))
        #expect(other.facts == nil, "what it says counts for nothing")
    }

    // MARK: Claims

    @Test func `the client is told by whichever claim the provider has`() async throws {
        for name in ["client_id", "azp", "appid", "cid"] {
            var changes: [String: JSONValue?] = ["client_id": JSONValue?.none]
            changes[name] = "console"
            let token = try await verifier().verify(try issuer.token(claims(changes)), for: .administration)
            #expect(token.clientID == "console" && !token.isApplication, "\(name)")
        }
        // RFC 9068's own claim before others'.
        let both = try await verifier().verify(
            try issuer.token(claims(["client_id": "console", "azp": "gateway"])), for: .administration)
        #expect(both.clientID == "console")
    }

    @Test func `roles below other claims are found, and a pointer to nothing gives none`() async throws {
        var profile = IssuerProfile()
        profile.roleClaims = ["/resource_access/cordon/roles", "https://example.test/roles"]
        let nested: [String: JSONValue?] = [
            "roles": JSONValue?.none,
            "resource_access": ["cordon": ["roles": ["reader"]], "other": ["roles": ["owner"]]],
            "https://example.test/roles": ["helpDesk"],
        ]
        let found = try await verifier(profile).verify(try issuer.token(claims(nested)), for: .administration)
        #expect(found.roles == ["reader", "helpDesk"])
        profile.roleClaims = ["resource_access.cordon.roles"]
        let dotted = try await verifier(profile).verify(try issuer.token(claims(nested)), for: .administration)
        #expect(dotted.roles.isEmpty)
    }

    @Test func `groups that the provider left out are said to be so, and never count`() async throws {
        let service = try await TestService(logger: log.logger)
        try await service.test { client in
            for changes in [
                ["_claim_names": ["groups": "src1"], "_claim_sources": ["src1": ["endpoint": "https://graph.test/x"]]],
                ["hasgroups": true],
            ] as [[String: JSONValue]] {
                var claims = TestIssuer.administrationClaims(roles: [], at: service.clock.now)
                claims.merge(changes) { $1 }
                let answer = try await client.administer(.get, "/v1.0/groups", claims: claims)
                #expect(answer.status == .forbidden)
                let told = log.lines.filter { $0.contains("too many for a token") }
                #expect(told.count == 1 && told[0].contains("(issuer \(TestIssuer.name))"), "\(log.lines)")
            }
            // A person who has a role anyway has it.
            var claims = TestIssuer.administrationClaims(at: service.clock.now)
            claims["hasgroups"] = true
            #expect(try await client.administer(.get, "/v1.0/groups", claims: claims).status == .ok)
        }
        let explained = await verifier().explain(
            try issuer.token(claims(["roles": JSONValue?.none, "hasgroups": true])))
        #expect(explained.facts?.lacksGroups == true)
    }
}
