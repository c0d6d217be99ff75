import CordonTestSupport
import Foundation
import HTTPTypes
import Testing

@testable import CordonDevelopmentProvider

@Suite struct UserInfoAndRevocationTests {
    private let uri = ProviderFixture.issuer + "/userinfo"

    private func own(_ run: ProviderTestRun, proof: String?? = .none) async throws -> ProviderResponse {
        let code = try await run.code(["resource": "", "scope": "openid profile"])
        return try await run.exchange(code, proof: proof)
    }

    private func userInfo(
        _ run: ProviderTestRun, _ token: String?, scheme: String = "Bearer", proof: String? = nil
    ) async throws -> ProviderResponse {
        var headers: HTTPFields = [.authorization: "\(scheme) \(token ?? "")"]
        if let proof { headers[try #require(HTTPField.Name("DPoP"))] = proof }
        return try await run.browser.post("/idp/userinfo", [], headers: headers)
    }

    @Test func `userinfo tells who signed in`() async throws {
        try await ProviderFixture().run { run in
            let token = try await own(run, proof: .some(nil)).text("access_token")
            let answer = try await userInfo(run, token)
            #expect(answer.text("sub") == "oid-a")
            #expect(answer.text("preferred_username") == "ada@example.test")
            #expect(answer.text("tid") == "tenant-1")
        }
    }

    @Test func `userinfo refuses tokens that were made for a service`() async throws {
        try await ProviderFixture().run { run in
            let token = try await run.tokens().text("access_token")
            let proof = try run.key.proof(uri: uri, at: run.fixture.clock.now, accessToken: token)
            let answer = try await userInfo(run, token, scheme: "DPoP", proof: proof)
            #expect(answer.status == .unauthorized)
            #expect(answer.headers[.wwwAuthenticate]?.contains("invalid_token") == true)
        }
    }

    @Test func `a bound token needs a proof that names it`() async throws {
        try await ProviderFixture().run { run in
            let token = try await own(run).text("access_token")
            let now = run.fixture.clock.now
            #expect(try await userInfo(run, token).status == .unauthorized)
            #expect(try await userInfo(run, token, scheme: "DPoP").status == .unauthorized)
            let unnamed = try run.key.proof(uri: uri, at: now)
            #expect(try await userInfo(run, token, scheme: "DPoP", proof: unnamed).error == "invalid_dpop_proof")
            let foreign = try ProviderProofKey().proof(uri: uri, at: now, accessToken: token)
            #expect(try await userInfo(run, token, scheme: "DPoP", proof: foreign).status == .unauthorized)
            let right = try run.key.proof(uri: uri, at: now, accessToken: token)
            #expect(try await userInfo(run, token, scheme: "DPoP", proof: right).status == .ok)
        }
    }

    @Test func `an access token ends`() async throws {
        let fixture = try ProviderFixture()
        try await fixture.run { run in
            let token = try await own(run, proof: .some(nil)).text("access_token")
            fixture.clock.advance(by: 900)
            #expect(try await userInfo(run, token).error == "invalid_token")
        }
    }

    @Test(arguments: ["", "not.a.token", "eyJhbGciOiJub25lIn0.e30."])
    func `text that is not a token is refused`(token: String) async throws {
        try await ProviderFixture().run { run in
            let status = try await userInfo(run, token).status
            #expect(status == (token.isEmpty ? .badRequest : .unauthorized))
        }
    }

    @Test func `an ID token is no access token`() async throws {
        try await ProviderFixture().run { run in
            let token = try await own(run, proof: .some(nil)).text("id_token")
            #expect(try await userInfo(run, token).error == "invalid_token")
        }
    }

    @Test func `revoking a refresh token ends the grant`() async throws {
        try await ProviderFixture().run { run in
            let code = try await run.code(["resource": "", "scope": "openid offline_access"])
            let tokens = try await run.exchange(code, proof: .some(nil))
            let refresh = try #require(tokens.text("refresh_token"))
            #expect(try await userInfo(run, tokens.text("access_token")).status == .ok)
            let other = try await run.browser.post("/idp/revoke", [("client_id", "cordon-cli"), ("token", refresh)])
            #expect(other.error == "invalid_grant")
            let answer = try await run.browser.post("/idp/revoke", [("client_id", "fieldnotes"), ("token", refresh)])
            #expect(answer.status == .ok)
            #expect(try await run.refresh(refresh, proof: .some(nil)).error == "invalid_grant")
            #expect(try await userInfo(run, tokens.text("access_token")).error == "invalid_token")
            let again = try await run.browser.post("/idp/revoke", [("client_id", "fieldnotes"), ("token", refresh)])
            #expect(again.status == .ok)
        }
    }

    @Test func `revoking an access token ends that one`() async throws {
        try await ProviderFixture().run { run in
            let first = try await own(run, proof: .some(nil)).text("access_token")
            let second = try await own(run, proof: .some(nil)).text("access_token")
            _ = try await run.browser.post("/idp/revoke", [("client_id", "fieldnotes"), ("token", first ?? "")])
            #expect(try await userInfo(run, first).error == "invalid_token")
            #expect(try await userInfo(run, second).status == .ok)
        }
    }

    @Test func `revocation needs a client and forgives unknown tokens`() async throws {
        try await ProviderFixture().run { run in
            #expect(try await run.browser.post("/idp/revoke", [("token", "x")]).error == "invalid_client")
            #expect(try await run.browser.post("/idp/revoke", [("client_id", "fieldnotes")]).error == "invalid_request")
            let unknown = try await run.browser.post("/idp/revoke", [("client_id", "fieldnotes"), ("token", "x")])
            #expect(unknown.status == .ok)
        }
    }
}
