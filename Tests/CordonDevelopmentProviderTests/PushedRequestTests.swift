import CordonTestSupport
import Foundation
import HTTPTypes
import Testing

@testable import CordonDevelopmentProvider

@Suite struct PushedRequestTests {
    private func push(
        _ run: ProviderTestRun, _ changes: [String: String] = [:], proof: String? = nil
    ) async throws -> ProviderResponse {
        var headers: HTTPFields = [:]
        if let proof { headers[try #require(HTTPField.Name("DPoP"))] = proof }
        return try await run.browser.post("/idp/par", run.authorization(changes), headers: headers)
    }

    private func authorize(
        _ run: ProviderTestRun, _ reference: String?, client: String = "fieldnotes"
    ) async throws -> ProviderResponse {
        try await run.browser.get("/idp/authorize", [("client_id", client), ("request_uri", reference ?? "")])
    }

    @Test func `a pushed request signs in by its reference, once`() async throws {
        try await ProviderFixture().run { run in
            let pushed = try await push(run)
            #expect(pushed.status == .created)
            #expect(pushed.json["expires_in"] as? Int == 60)
            let page = try await authorize(run, pushed.text("request_uri"))
            let code = try #require(try await run.browser.signIn(page).parameter("code"))
            let tokens = try await run.exchange(code)
            #expect(tokens.status == .ok)
            let again = try await authorize(run, pushed.text("request_uri"))
            #expect(again.status == .badRequest)
            #expect(again.location == nil)
        }
    }

    @Test func `a page that is loaded again goes on, for as long as a page is good, and ends with the sign-in`()
        async throws
    {
        let fixture = try ProviderFixture()
        try await fixture.run { run in
            let reference = try await push(run).text("request_uri")
            #expect(try await authorize(run, reference).status == .ok)
            // Longer than a reference is good that was never opened.
            fixture.clock.advance(by: 120)
            let again = try await authorize(run, reference)
            #expect(again.status == .ok)
            #expect(try await run.browser.signIn(again).parameter("code") != nil)
            #expect(try await authorize(run, reference).status == .badRequest)
        }
    }

    @Test func `a reference expires and belongs to its client`() async throws {
        let fixture = try ProviderFixture()
        try await fixture.run { run in
            let first = try await push(run).text("request_uri")
            #expect(try await authorize(run, first, client: "cordon-cli").status == .badRequest)
            #expect(try await authorize(run, first).status == .ok, "the stranger did not use it up")
            let second = try await push(run).text("request_uri")
            fixture.clock.advance(by: 60)
            let late = try await authorize(run, second)
            #expect(late.parameter("error") == "invalid_request_uri")
            #expect(late.location?.hasPrefix(ProviderFixture.redirect + "?") == true)
        }
    }

    @Test(arguments: [
        (["code_challenge_method": "plain"], "invalid_request"),
        (["redirect_uri": "https://example.test/"], "invalid_request"),
        (["client_id": "stranger"], "invalid_client"), (["resource": ProviderFixture.admin], "invalid_target"),
        (["request_uri": "urn:ietf:params:oauth:request_uri:x"], "invalid_request"),
    ])
    func `a request that is not correct is refused when it is pushed`(
        changes: [String: String], error: String
    ) async throws {
        try await ProviderFixture().run { run in
            let answer = try await push(run, changes)
            #expect(answer.error == error)
        }
    }

    @Test func `a proof binds the code to its key`() async throws {
        let uri = ProviderFixture.issuer + "/par"
        try await ProviderFixture().run { run in
            let now = run.fixture.clock.now
            let foreign = try await push(run, proof: try ProviderProofKey().proof(uri: uri, at: now))
            let page = try await authorize(run, foreign.text("request_uri"))
            let code = try #require(try await run.browser.signIn(page).parameter("code"))
            #expect(try await run.exchange(code).error == "invalid_dpop_proof")
            let named = ["dpop_jkt": ProviderProofKey().thumbprint]
            let differs = try await push(run, named, proof: try run.key.proof(uri: uri, at: now))
            #expect(differs.error == "invalid_dpop_proof")
        }
    }
}
