import CordonBase
import CordonProtocol
import CordonTestSupport
import Crypto
import CryptoExtras
import Foundation
import HTTPTypes
import Testing

@testable import CordonDevelopmentProvider

/// SRV-OP-017: a client that signs in place of sending a secret (RFC 7523).
@Suite struct ClientAssertionTests {
    private let key = SoftwareSigningKey()
    private static let request = [("grant_type", "client_credentials"), ("resource", ProviderFixture.admin)]

    private func fixture() throws -> ProviderFixture {
        let job = IdentityProviderClient(
            id: "signing-job", displayName: "Signing job", grants: [.clientCredentials],
            resources: [ProviderFixture.admin], applicationRoles: ["DeviceManagementApps.Read.All"],
            keys: [key.publicKey], secret: nil)
        return try ProviderFixture { $0.clients.append(job) }
    }

    private func assertion(
        _ changes: [String: Any?] = [:], header: [String: Any?] = [:], signedBy signer: SoftwareSigningKey? = nil,
        at now: Date
    ) throws -> String {
        let time = Int(now.timeIntervalSince1970)
        var claims: [String: Any] = [
            "iss": "signing-job", "sub": "signing-job", "aud": ProviderFixture.tokenURI, "iat": time,
            "exp": time + 300, "jti": UUID().uuidString,
        ]
        for (name, value) in changes { claims[name] = value }
        var members: [String: Any] = ["alg": "ES256", "typ": "JWT", "kid": key.publicKey.keyID]
        for (name, value) in header { members[name] = value }
        let text = try [members, claims].map { Base64URL.encode(try JSONSerialization.data(withJSONObject: $0)) }
            .joined(separator: ".")
        return text + "." + Base64URL.encode(try (signer ?? key).signature(for: Data(text.utf8)))
    }

    private func form(_ assertion: String) -> [(String, String)] {
        Self.request + [("client_assertion_type", ClientAssertion.type), ("client_assertion", assertion)]
    }

    @Test func `a client that signs gets its token, for the issuer as for the token end point`() async throws {
        try await fixture().run { run in
            for audience in [ProviderFixture.tokenURI, ProviderFixture.issuer] as [String] {
                let text = try assertion(["aud": audience], at: run.fixture.clock.now)
                let answer = try await run.token(form(text), proof: .some(nil))
                let claims = ProviderTestRun.claims(answer.text("access_token"))
                #expect(claims["sub"] as? String == "signing-job")
                #expect(claims["roles"] as? [String] == ["DeviceManagementApps.Read.All"])
            }
            let listed = try assertion(
                ["aud": ["https://a.example", ProviderFixture.issuer]], at: run.fixture.clock.now)
            #expect(try await run.token(form(listed), proof: .some(nil)).status == .ok)
        }
    }

    @Test func `an assertion is good once`() async throws {
        try await fixture().run { run in
            let text = try assertion(at: run.fixture.clock.now)
            #expect(try await run.token(form(text), proof: .some(nil)).status == .ok)
            let again = try await run.token(form(text), proof: .some(nil))
            #expect(again.status == .unauthorized && again.error == "invalid_client")
        }
    }

    @Test func `an assertion that is not this client's, not for this provider or not of now is refused`() async throws {
        try await fixture().run { run in
            let now = run.fixture.clock.now
            let time = Int(now.timeIntervalSince1970)
            let bad = [
                try assertion(signedBy: SoftwareSigningKey(), at: now),
                try assertion(["iss": "nightly"], at: now),
                try assertion(["iss": "nightly", "sub": "nightly"], at: now),
                try assertion(["iss": "nobody", "sub": "nobody"], at: now),
                try assertion(["aud": "https://other.example/token"], at: now),
                try assertion(["exp": time], at: now), try assertion(["exp": time + 3_600], at: now),
                try assertion(["nbf": time + 300], at: now), try assertion(["iat": time + 300], at: now),
                try assertion(["jti": nil], at: now), try assertion(["exp": nil], at: now),
                try assertion(header: ["alg": "none"], at: now), try assertion(header: ["alg": "HS256"], at: now),
                try assertion(header: ["crit": ["x"]], at: now), try assertion(header: ["kid": "other"], at: now),
                try assertion(header: ["typ": "at+jwt"], at: now), "x.y.z", "",
            ]
            for text in bad {
                let answer = try await run.token(form(text), proof: .some(nil))
                #expect(answer.status == .unauthorized && answer.error == "invalid_client", "\(answer.body)")
            }
            // The control: the same form with a good one.
            #expect(try await run.token(form(try assertion(at: now)), proof: .some(nil)).status == .ok)
        }
    }

    /// A client with an RSA key, as one with a certificate is, and its private half.
    private func certified() throws -> (ProviderFixture, _RSA.Signing.PrivateKey) {
        let key = try _RSA.Signing.PrivateKey(keySize: .bits2048)
        let parts = try key.publicKey.getKeyPrimitives()
        var job = IdentityProviderClient(
            id: "signing-job", displayName: "Certified job", grants: [.clientCredentials],
            resources: [ProviderFixture.admin], applicationRoles: ["DeviceManagementApps.Read.All"], secret: nil)
        job.rsaKeys = [try RSAClientKey(modulus: parts.modulus, exponent: parts.publicExponent)]
        let client = job
        return (try ProviderFixture { $0.clients.append(client) }, key)
    }

    /// An assertion as azure-identity makes it: the certificate's thumbprint in place of a key id.
    private func assertion(
        _ algorithm: String, _ padding: _RSA.Signing.Padding, signedBy key: _RSA.Signing.PrivateKey, at now: Date
    ) throws -> String {
        let time = Int(now.timeIntervalSince1970)
        let header: [String: Any] = ["alg": algorithm, "typ": "JWT", "x5t": "mQkFrmnmO_thumbprint"]
        let claims: [String: Any] = [
            "iss": "signing-job", "sub": "signing-job", "aud": ProviderFixture.tokenURI, "exp": time + 600,
            "iat": time, "jti": UUID().uuidString,
        ]
        let text = try [header, claims].map { Base64URL.encode(try JSONSerialization.data(withJSONObject: $0)) }
            .joined(separator: ".")
        let signature = try key.signature(for: SHA256.hash(data: Data(text.utf8)), padding: padding)
        return text + "." + Base64URL.encode(signature.rawRepresentation)
    }

    @Test func `a client with a certificate signs with its RSA key, padded in either way`() async throws {
        let (fixture, key) = try certified()
        try await fixture.run { run in
            let now = run.fixture.clock.now
            for (algorithm, padding) in [("RS256", .insecurePKCS1v1_5), ("PS256", .PSS)]
                as [(String, _RSA.Signing.Padding)]
            {
                let text = try assertion(algorithm, padding, signedBy: key, at: now)
                let answer = try await run.token(form(text), proof: .some(nil))
                #expect(answer.status == .ok, "\(algorithm) \(answer.body)")
                #expect(ProviderTestRun.claims(answer.text("access_token"))["sub"] as? String == "signing-job")
            }
        }
    }

    @Test func `another RSA key, another padding, or the other kind of key is refused`() async throws {
        let (fixture, key) = try certified()
        try await fixture.run { run in
            let now = run.fixture.clock.now
            let stranger = try _RSA.Signing.PrivateKey(keySize: .bits2048)
            let bad = [
                try assertion("RS256", .insecurePKCS1v1_5, signedBy: stranger, at: now),
                try assertion("PS256", .insecurePKCS1v1_5, signedBy: key, at: now),
                try assertion("RS256", .PSS, signedBy: key, at: now),
                try assertion("RS512", .insecurePKCS1v1_5, signedBy: key, at: now),
                try assertion("ES256", .insecurePKCS1v1_5, signedBy: key, at: now),
                try self.assertion(at: now),
            ]
            for text in bad {
                let answer = try await run.token(form(text), proof: .some(nil))
                #expect(answer.status == .unauthorized && answer.error == "invalid_client", "\(answer.body)")
            }
        }
    }

    @Test func `an RSA key is kept as its JWK, and a short or private one is refused`() throws {
        let key = try _RSA.Signing.PrivateKey(keySize: .bits2048).publicKey.getKeyPrimitives()
        var client = IdentityProviderClient(
            id: "job", displayName: "Job", grants: [.clientCredentials], resources: [], keys: [self.key.publicKey],
            secret: nil)
        client.rsaKeys = [try RSAClientKey(modulus: key.modulus, exponent: key.publicExponent, keyID: "k")]
        let text = try JSONEncoder().encode(client)
        #expect(try JSONDecoder().decode(IdentityProviderClient.self, from: text) == client)
        #expect(throws: ProgramError.self) {
            try RSAClientKey(modulus: Data(repeating: 0xC1, count: 128), exponent: Data([1, 0, 1]))
        }
        let n = Base64URL.encode(key.modulus)
        let secret = Data(#"{"kty":"RSA","n":"\#(n)","e":"AQAB","d":"AQ"}"#.utf8)
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(RSAClientKey.self, from: secret) }
    }

    @Test func `one way of authentication at a time, and none is not enough`() async throws {
        try await fixture().run { run in
            let now = run.fixture.clock.now
            let both = form(try assertion(at: now)) + [("client_secret", ProviderFixture.secret)]
            #expect(try await run.token(both, proof: .some(nil)).error == "invalid_request")
            let another = form(try assertion(at: now)) + [("client_id", "nightly")]
            #expect(try await run.token(another, proof: .some(nil)).error == "invalid_request")
            let untyped = Self.request + [("client_assertion", try assertion(at: now))]
            #expect(try await run.token(untyped, proof: .some(nil)).error == "invalid_request")
            let none = Self.request + [("client_id", "signing-job")]
            #expect(try await run.token(none, proof: .some(nil)).error == "invalid_client")
        }
    }

    @Test func `a client's keys are kept in its configuration`() throws {
        let client = IdentityProviderClient(
            id: "job", displayName: "Job", grants: [.clientCredentials], resources: [], keys: [key.publicKey],
            secret: nil)
        let back = try JSONDecoder().decode(IdentityProviderClient.self, from: JSONEncoder().encode(client))
        #expect(back == client && back.isConfidential)
    }
}
