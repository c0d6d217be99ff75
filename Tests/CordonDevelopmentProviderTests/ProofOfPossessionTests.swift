import CordonBase
import CordonProtocol
import CordonTestSupport
import Crypto
import Foundation
import HTTPTypes
import Testing

@testable import CordonDevelopmentProvider

@Suite struct ProofOfPossessionTests {
    private let uri = ProviderFixture.tokenURI

    @Test func `tokens of the check-in resource need a proof`() async throws {
        try await ProviderFixture().run { run in
            let code = try await run.code()
            #expect(try await run.exchange(code, proof: .some(nil)).error == "invalid_dpop_proof")
            #expect(try await run.exchange(code).status == .ok, "the code was not used up")
        }
    }

    @Test func `a proof is good once`() async throws {
        try await ProviderFixture().run { run in
            let proof = try run.proof()
            let first = try await run.exchange(try await run.code(), proof: proof)
            #expect(first.status == .ok)
            #expect(try await run.refresh(first.text("refresh_token"), proof: proof).error == "invalid_dpop_proof")
            #expect(try await run.refresh(first.text("refresh_token")).status == .ok)
        }
    }

    /// Ways to make a proof that must not be accepted.
    enum Flaw: String, CaseIterable {
        case method, address, query, host, tooOld, tooEarly, type, algorithmNone, algorithmSymmetric, foreignKey
        case noKey, privateKey, noIdentifier, noTime, critical, notAToken, longIdentifier
    }

    @Test(arguments: Flaw.allCases)
    func `a proof with a flaw is refused`(flaw: Flaw) async throws {
        try await ProviderFixture().run { run in
            let code = try await run.code()
            let answer = try await run.exchange(code, proof: try proof(run, flaw))
            #expect(answer.status == .badRequest)
            #expect(answer.error == "invalid_dpop_proof")
            #expect(try await run.exchange(code).status == .ok, "the code was not used up")
        }
    }

    private func proof(_ run: ProviderTestRun, _ flaw: Flaw) throws -> String {
        let now = run.fixture.clock.now
        let key = run.key
        return switch flaw {
        case .method: try key.proof(method: "GET", uri: uri, at: now)
        case .address: try key.proof(uri: ProviderFixture.issuer + "/userinfo", at: now)
        case .query: try key.proof(uri: uri + "/extra", at: now)
        case .host: try key.proof(uri: "http://example.test/idp/token", at: now)
        case .tooOld: try key.proof(uri: uri, at: now - 300)
        case .tooEarly: try key.proof(uri: uri, at: now + 61)
        case .type: try key.proof(uri: uri, at: now, header: ["typ": "JWT"])
        case .algorithmNone: try key.proof(uri: uri, at: now, header: ["alg": "none"])
        case .algorithmSymmetric: try key.proof(uri: uri, at: now, header: ["alg": "HS256"])
        case .foreignKey: try key.proof(uri: uri, at: now, signedBy: P256.Signing.PrivateKey())
        case .noKey: try key.proof(uri: uri, at: now, header: ["jwk": "none"])
        case .privateKey:
            try key.proof(
                uri: uri, at: now,
                header: [
                    "jwk": [
                        "kty": "EC", "crv": "P-256", "x": key.point.x,
                        "y": key.point.y,
                        "d": Base64URL.encode(key.key.rawRepresentation),
                    ]
                ])
        case .noIdentifier: try key.proof(uri: uri, at: now, claims: ["jti": NSNull()])
        case .noTime: try key.proof(uri: uri, at: now, claims: ["iat": NSNull()])
        case .critical: try key.proof(uri: uri, at: now, header: ["crit": ["exp"]])
        case .notAToken: "one.two"
        case .longIdentifier: try key.proof(uri: uri, at: now, id: String(repeating: "j", count: 257))
        }
    }

    @Test(arguments: [
        "HTTP://LOCALHOST:8080/idp/token", "http://localhost:8080/idp/token?x=1", "http://localhost:8080/idp/token#x",
    ])
    func `an address is compared after normalization`(written: String) async throws {
        try await ProviderFixture().run { run in
            let proof = try run.key.proof(uri: written, at: run.fixture.clock.now)
            let answer = try await run.exchange(try await run.code(), proof: proof)
            #expect(answer.status == .ok)
        }
    }

    @Test func `a code that was bound to a key is no good with another`() async throws {
        try await ProviderFixture().run { run in
            let bound = ["dpop_jkt": ProviderProofKey().thumbprint]
            let foreign = try await run.exchange(try await run.code(bound))
            #expect(foreign.error == "invalid_dpop_proof")
            let own = ["dpop_jkt": run.key.thumbprint]
            let answer = try await run.exchange(try await run.code(own))
            #expect(answer.status == .ok)
        }
    }

    @Test func `a refresh token of a public client is no good without its key`() async throws {
        try await ProviderFixture().run { run in
            let token = try await run.tokens().text("refresh_token")
            #expect(try await run.refresh(token, proof: .some(nil)).error == "invalid_dpop_proof")
            let stolen = try ProviderProofKey().proof(uri: uri, at: run.fixture.clock.now)
            #expect(try await run.refresh(token, proof: stolen).error == "invalid_grant")
            #expect(try await run.refresh(token).status == .ok, "the thief did not use it up")
        }
    }

    @Test func `a nonce is demanded where the configuration says so`() async throws {
        let fixture = try ProviderFixture { $0.requiresProofNonce = true }
        try await fixture.run { run in
            let code = try await run.code()
            let first = try await run.exchange(code)
            #expect(first.error == "use_dpop_nonce")
            let name = try #require(HTTPField.Name("DPoP-Nonce"))
            let nonce = try #require(first.headers[name])
            let wrong = try run.key.proof(uri: uri, at: fixture.clock.now, nonce: "guessed")
            #expect(try await run.exchange(code, proof: wrong).error == "use_dpop_nonce")
            fixture.clock.advance(by: 20)
            let right = try run.key.proof(uri: uri, at: fixture.clock.now, nonce: nonce)
            let tokens = try await run.exchange(code, proof: right)
            #expect(tokens.status == .ok)
            fixture.clock.advance(by: 600)
            let late = try run.key.proof(uri: uri, at: fixture.clock.now, nonce: nonce)
            #expect(try await run.refresh(tokens.text("refresh_token"), proof: late).error == "use_dpop_nonce")
        }
    }

    @Test func `a full table of seen proofs refuses instead of forgetting`() async throws {
        let fixture = try ProviderFixture { $0.capacity = 10 }
        try await fixture.run { run in
            let first = try run.proof()
            #expect(try await run.refresh("none", proof: first).error == "invalid_grant")
            for _ in 0..<9 { #expect(try await run.refresh("none").error == "invalid_grant") }
            #expect(try await run.refresh("none").error == "temporarily_unavailable")
            #expect(try await run.refresh("none", proof: first).error == "invalid_dpop_proof")
        }
    }
}
