import CordonBase
import CordonProtocol
import Foundation
import HTTPTypes
import JWTKit
import Testing

@testable import CordonDevelopmentProvider

@Suite struct DiscoveryTests {
    @Test(arguments: [
        "/idp/.well-known/openid-configuration", "/idp/.well-known/oauth-authorization-server",
        "/.well-known/oauth-authorization-server/idp", "/.well-known/openid-configuration/idp",
    ])
    func `metadata is where the standards look for it`(path: String) async throws {
        try await ProviderFixture().run { run in
            let answer = try await run.browser.get(path)
            #expect(answer.text("issuer") == ProviderFixture.issuer)
            for name in [
                "authorization_endpoint", "token_endpoint", "userinfo_endpoint", "jwks_uri",
                "device_authorization_endpoint", "revocation_endpoint", "end_session_endpoint",
            ] {
                #expect(answer.text(name)?.hasPrefix(ProviderFixture.issuer + "/") == true, "\(name)")
            }
            #expect(answer.json["code_challenge_methods_supported"] as? [String] == ["S256"])
            #expect(answer.json["dpop_signing_alg_values_supported"] as? [String] == ["ES256"])
            #expect(answer.json["id_token_signing_alg_values_supported"] as? [String] == ["ES256"])
            #expect(answer.json["authorization_response_iss_parameter_supported"] as? Bool == true)
            #expect(answer.json["response_types_supported"] as? [String] == ["code"])
        }
    }

    @Test func `every endpoint that metadata names answers`() async throws {
        try await ProviderFixture().run { run in
            let metadata = try await run.browser.get("/idp/.well-known/openid-configuration").json
            for (name, value) in metadata where name.hasSuffix("_endpoint") || name == "jwks_uri" {
                let path = URLComponents(string: value as? String ?? "")?.path ?? ""
                let get = try await run.browser.get(path).status
                let post = try await run.browser.post(path, []).status
                #expect(get != .notFound || post != .notFound, "\(name)")
            }
        }
    }

    struct Claims: JWTPayload {
        let aud: AudienceClaim
        let exp: ExpirationClaim
        func verify(using algorithm: some JWTAlgorithm) async throws {}
    }

    @Test func `another library verifies the tokens with the published keys`() async throws {
        try await ProviderFixture().run { run in
            let tokens = try await run.tokens()
            let published = try await run.browser.get("/idp/keys").body
            #expect(!published.contains("\"d\""))
            let keys = try await JWTKeyCollection().add(jwksJSON: published)
            let access = try await keys.verify(try #require(tokens.text("access_token")), as: Claims.self)
            #expect(access.aud.value == [ProviderFixture.checkIn])
            let identity = try await keys.verify(try #require(tokens.text("id_token")), as: Claims.self)
            #expect(identity.aud.value == ["fieldnotes"])
            let stranger = try ProviderFixture()
            let others = try await JWTKeyCollection().add(
                jwksJSON: String(decoding: stranger.provider.keySet, as: UTF8.self))
            await #expect(throws: (any Error).self) {
                try await others.verify(tokens.text("access_token") ?? "", as: Claims.self)
            }
        }
    }

    @Test func `a name that is not this machine is refused`() {
        for host in ["127.0.0.1", "127.255.0.3", "localhost", "LOCALHOST", "::1", "[::1]"] {
            #expect(throws: Never.self) { try DevelopmentIdentityProvider.refuseUnlessLoopback(host: host) }
        }
        for host in [
            "0.0.0.0", "::", "192.168.1.4", "127.0.0.1.example.test", "127.0.0", "127.1", "example.test", "",
            "localhost.example.test", "127.0.0.256", "127.0.0.+1",
        ] {
            #expect(throws: ProgramError(.notLoopback, reason: "", place: "", hint: ""), "\(host)") {
                try DevelopmentIdentityProvider.refuseUnlessLoopback(host: host)
            }
        }
        #expect(Loopback.host(ofAuthority: "[::1]:8080") == "[::1]")
        #expect(Loopback.host(ofAuthority: "localhost:8080") == "localhost")
    }
}
