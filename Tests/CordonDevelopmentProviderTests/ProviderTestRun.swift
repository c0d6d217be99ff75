import CordonBase
import CordonProtocol
import CordonTestSupport
import Crypto
import Foundation
import HTTPTypes
import Testing

@testable import CordonDevelopmentProvider

/// One browser and one app in front of a provider.
struct ProviderTestRun: Sendable {
    let fixture: ProviderFixture
    let browser: ProviderBrowser
    let key = ProviderProofKey()
    /// 32 bytes in base64url, as RFC 7636 recommends.
    let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"

    var challenge: String { Base64URL.encode(Data(SHA256.hash(data: Data(verifier.utf8)))) }

    /// Parameters of an authorization request; each can be replaced, or removed with an empty text.
    func authorization(_ changes: [String: String] = [:], more: [(String, String)] = []) -> [(String, String)] {
        var parameters = [
            "client_id": "fieldnotes", "response_type": "code", "redirect_uri": ProviderFixture.redirect,
            "scope": "openid profile offline_access mam.checkin", "resource": ProviderFixture.checkIn,
            "state": "state-1", "nonce": "nonce-1", "code_challenge": challenge, "code_challenge_method": "S256",
        ]
        parameters.merge(changes) { _, new in new }
        return parameters.filter { !$0.value.isEmpty }.map { ($0.key, $0.value) } + more
    }

    func authorize(_ changes: [String: String] = [:]) async throws -> ProviderResponse {
        try await browser.get("/idp/authorize", authorization(changes))
    }

    /// Signs in and returns the code.
    func code(_ changes: [String: String] = [:]) async throws -> String {
        var answer = try await authorize(changes)
        if answer.status == .ok { answer = try await browser.signIn(answer) }
        return try #require(answer.parameter("code"), "no code: \(answer.status) \(answer.location ?? answer.body)")
    }

    func proof(at uri: String = ProviderFixture.tokenURI) throws -> String {
        try key.proof(uri: uri, at: fixture.clock.now)
    }

    /// A token request; `proof` of nil sends none, the default sends a good one.
    func token(
        _ parameters: [(String, String)], proof: String?? = .none, headers: HTTPFields = [:]
    ) async throws -> ProviderResponse {
        var headers = headers
        let value: String? = if case .some(let given) = proof { given } else { try self.proof() }
        if let value { headers[try #require(HTTPField.Name("DPoP"))] = value }
        return try await browser.post("/idp/token", parameters, headers: headers)
    }

    func exchange(
        _ code: String, _ changes: [String: String] = [:], proof: String?? = .none
    ) async throws -> ProviderResponse {
        var parameters = [
            "grant_type": "authorization_code", "code": code, "client_id": "fieldnotes",
            "redirect_uri": ProviderFixture.redirect, "code_verifier": verifier,
        ]
        parameters.merge(changes) { _, new in new }
        return try await token(parameters.filter { !$0.value.isEmpty }.map { ($0.key, $0.value) }, proof: proof)
    }

    func refresh(
        _ token: String?, _ changes: [String: String] = [:], proof: String?? = .none
    ) async throws -> ProviderResponse {
        var parameters = [
            "grant_type": "refresh_token", "refresh_token": token ?? "none", "client_id": "fieldnotes",
        ]
        parameters.merge(changes) { _, new in new }
        return try await self.token(parameters.map { ($0.key, $0.value) }, proof: proof)
    }

    /// The whole way: sign in, exchange, tokens.
    func tokens(_ changes: [String: String] = [:]) async throws -> ProviderResponse {
        let answer = try await exchange(try await code(changes))
        #expect(answer.status == .ok, "\(answer.body)")
        return answer
    }

    /// The claims of a JWT, unverified.
    static func claims(_ token: String?) -> [String: Any] { part(token, 1) }

    static func header(_ token: String?) -> [String: Any] { part(token, 0) }

    private static func part(_ token: String?, _ index: Int) -> [String: Any] {
        let parts = (token ?? "").split(separator: ".").map(String.init)
        guard parts.count == 3, let bytes = Base64URL.decode(parts[index]) else { return [:] }
        return (try? JSONSerialization.jsonObject(with: bytes)) as? [String: Any] ?? [:]
    }
}
