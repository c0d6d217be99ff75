import CordonBase
import CordonIdentity
import CordonProtocol
import CordonSignIn
import CordonTesting
import CryptoExtras
import Foundation
import HTTPTypes
import JWTKit
import Testing

/// ID tokens signed by JWTKit, as an independent signer, with the kinds of keys that providers use.
@Suite struct IDTokenKeyTests {
    let fixture: SignInFixture

    init() throws { fixture = try SignInFixture() }

    private struct Claims: JWTPayload {
        var iss = "https://id.contoso.example"
        var sub = "sub-worker-a"
        var aud = ["cordon-app"]
        var iat: Double
        var exp: Double
        var nonce: String?

        func verify(using algorithm: some JWTAlgorithm) async throws {}
    }

    /// Signs in at a provider whose ID token and key set are replaced.
    private func signIn(
        keySet: String, sign: @escaping @Sendable (Claims) async throws -> String
    ) async throws -> SignInResult {
        try await signIns { (keySet, sign) }()
    }

    /// What signs in, each time with the ID token and the key set of then.
    private func signIns(
        _ replaced: @escaping @Sendable () -> (keySet: String, sign: @Sendable (Claims) async throws -> String)
    ) throws -> () async throws -> SignInResult {
        let now = fixture.time.now.timeIntervalSince1970
        let pages = PageRecorder()
        let provider = fixture.provider
        let transport = RewritingTransport(inner: provider.transport) { path, body in
            if path == "/keys" { return Data(replaced().keySet.utf8) }
            guard path == "/token", var answer = try JSONSerialization.jsonObject(with: body) as? [String: Any] else {
                return body
            }
            let nonce = await pages.queries.last?["nonce"]
            answer["id_token"] = try await replaced().sign(Claims(iat: now, exp: now + 600, nonce: nonce))
            return try JSONSerialization.data(withJSONObject: answer)
        }
        let browser = BrowserLauncher { page, _ in
            await pages.add(page)
            return await provider.visit(page, as: .worker)
        }
        let client = try fixture.client(transport: transport)
        return { try await client.signIn(SignInFixture.request, browser: browser) }
    }

    @Test(arguments: ["RS256", "RS512", "PS256"])
    func `RSA keys verify, also without an algorithm of their own`(algorithm: String) async throws {
        let rsa = try Insecure.RSA.PrivateKey(pem: _RSA.Signing.PrivateKey(keySize: .bits2048).pemRepresentation)
        let keys = JWTKeyCollection()
        switch algorithm {
        case "RS256": await keys.add(rsa: rsa, digestAlgorithm: .sha256, kid: "r1")
        case "RS512": await keys.add(rsa: rsa, digestAlgorithm: .sha512, kid: "r1")
        default: await keys.add(pss: rsa, digestAlgorithm: .sha256, kid: "r1")
        }
        let (modulus, exponent) = try rsa.publicKey.getKeyPrimitives()
        let set = Self.set(
            #"{"kty":"RSA","kid":"r1","use":"sig","n":"\#(Self.text(modulus))","e":"\#(Self.text(exponent))"}"#)
        let result = try await signIn(keySet: set) { try await keys.sign($0, kid: "r1") }
        #expect(result.account.id == "sub-worker-a")
    }

    @Test func `an ES384 key verifies`() async throws {
        let key = ES384PrivateKey()
        let keys = await JWTKeyCollection().add(ecdsa: key, kid: "e1")
        let parameters = try #require(key.parameters)
        let set = Self.set(
            #"{"kty":"EC","crv":"P-384","kid":"e1","x":"\#(Self.plain(parameters.x))","y":"\#(Self.plain(parameters.y))"}"#
        )
        _ = try await signIn(keySet: set) { try await keys.sign($0, kid: "e1") }
    }

    @Test func `an EdDSA key verifies`() async throws {
        let key = try EdDSA.PrivateKey(curve: .ed25519)
        let keys = await JWTKeyCollection().add(eddsa: key, kid: "d1")
        let set = Self.set(
            #"{"kty":"OKP","crv":"Ed25519","kid":"d1","alg":"EdDSA","x":"\#(Self.text(key.publicKey.rawRepresentation))"}"#
        )
        _ = try await signIn(keySet: set) { try await keys.sign($0, kid: "d1") }
    }

    @Test(arguments: [
        #"{"kty":"oct","kid":"e1","k":"AAAA"}"#, #"{"kty":"EC","crv":"secp256k1","kid":"x","x":"AA","y":"AA"}"#,
        #"{"kty":"RSA","kid":"broken","n":"!!","e":"AQAB"}"#, #"{}"#, #"{"kty":5}"#,
    ])
    func `an unusable key in the set does not spoil the good one`(other: String) async throws {
        let key = ES256PrivateKey()
        let keys = await JWTKeyCollection().add(ecdsa: key, kid: "e1")
        let good = try Self.p256(key, members: #""kid":"e1""#)
        _ = try await signIn(keySet: Self.set(other, good)) { try await keys.sign($0, kid: "e1") }
    }

    @Test(arguments: [
        #""kid":"e1","use":"enc""#, #""kid":"e1","alg":"ES384""#, #""kid":"E1""#,
    ])
    func `a key for another use, algorithm or name does not verify`(members: String) async throws {
        let key = ES256PrivateKey()
        let keys = await JWTKeyCollection().add(ecdsa: key, kid: "e1")
        let set = Self.set(try Self.p256(key, members: members))
        let error = await failure { try await signIn(keySet: set) { try await keys.sign($0, kid: "e1") } }
        #expect(error?.fault == .invalidIDToken)
    }

    @Test(arguments: ["k1", nil])
    func `a new key under the id of the one before, or under none, verifies at once`(id: String?) async throws {
        let current = Locked(ES256PrivateKey())
        let signIn = try signIns {
            let key = current.withLock { $0 }
            let name = id.map { JWKIdentifier(string: $0) }
            let members = id.map { #""kid":"\#($0)""# } ?? #""alg":"ES256""#
            return (
                Self.set((try? Self.p256(key, members: members)) ?? ""),
                { try await JWTKeyCollection().add(ecdsa: key, kid: name).sign($0, kid: name) }
            )
        }
        _ = try await signIn()
        current.withLock { $0 = ES256PrivateKey() }
        _ = try await signIn()
        // Not one moment later, but for the pause between two fetches.
        current.withLock { $0 = ES256PrivateKey() }
        #expect(await failure { try await signIn() }?.fault == .invalidIDToken)
        fixture.time.advance(.seconds(31))
        _ = try await signIn()
    }

    @Test func `two keys under one id verify nothing`() async throws {
        let key = ES256PrivateKey()
        let keys = await JWTKeyCollection().add(ecdsa: key, kid: "e1")
        let set = Self.set(
            try Self.p256(key, members: #""kid":"e1""#), try Self.p256(ES256PrivateKey(), members: #""kid":"e1""#))
        let error = await failure { try await signIn(keySet: set) { try await keys.sign($0, kid: "e1") } }
        #expect(error?.fault == .invalidIDToken)
    }

    @Test func `a header with a key of its own or critical extensions is not believed`() async throws {
        let key = ES256PrivateKey()
        let stranger = ES256PrivateKey()
        let keys = await JWTKeyCollection().add(ecdsa: stranger, kid: "e1")
        let set = Self.set(try Self.p256(key, members: #""kid":"e1""#))
        var embedding = JWTHeader()
        embedding.kid = "e1"
        embedding.jku = "https://id.attacker.example/keys"
        let header = embedding
        let error = await failure {
            try await signIn(keySet: set) { try await keys.sign($0, kid: "e1", header: header) }
        }
        #expect(error?.fault == .invalidIDToken)
        let own = await JWTKeyCollection().add(ecdsa: key, kid: "e1")
        var critical = JWTHeader()
        critical.crit = ["b64"]
        let criticalHeader = critical
        let second = await failure {
            try await signIn(keySet: set) { try await own.sign($0, kid: "e1", header: criticalHeader) }
        }
        #expect(second?.fault == .invalidIDToken)
    }

    private static func set(_ keys: String...) -> String { #"{"keys":[\#(keys.joined(separator: ","))]}"# }

    private static func p256(_ key: ES256PrivateKey, members: String) throws -> String {
        let parameters = try #require(key.publicKey.parameters)
        return #"{"kty":"EC","crv":"P-256","x":"\#(plain(parameters.x))","y":"\#(plain(parameters.y))",\#(members)}"#
    }

    private static func text(_ bytes: some DataProtocol) -> String { Base64URL.encode(bytes) }

    /// JWTKit gives coordinates in padded base 64.
    private static func plain(_ padded: String) -> String {
        padded.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
}
