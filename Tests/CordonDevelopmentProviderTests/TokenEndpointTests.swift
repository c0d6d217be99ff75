import CordonBase
import CordonProtocol
import CordonTestSupport
import Crypto
import Foundation
import HTTPTypes
import Testing

@testable import CordonDevelopmentProvider

@Suite struct TokenEndpointTests {
    @Test func `an access token has the profile of RFC 9068 and one audience`() async throws {
        let fixture = try ProviderFixture()
        try await fixture.run { run in
            let answer = try await run.tokens()
            let token = answer.text("access_token")
            let claims = ProviderTestRun.claims(token)
            #expect(ProviderTestRun.header(token)["typ"] as? String == "at+jwt")
            #expect(ProviderTestRun.header(token)["alg"] as? String == "ES256")
            #expect(claims["iss"] as? String == ProviderFixture.issuer)
            #expect(claims["sub"] as? String == "oid-a")
            #expect(claims["oid"] as? String == "oid-a")
            #expect(claims["tid"] as? String == "tenant-1")
            #expect(claims["aud"] as? String == ProviderFixture.checkIn)
            #expect(claims["client_id"] as? String == "fieldnotes")
            #expect(claims["scope"] as? String == "mam.checkin")
            #expect(claims["preferred_username"] as? String == "ada@example.test")
            #expect((claims["cnf"] as? [String: String])?["jkt"] == run.key.thumbprint)
            #expect(claims["roles"] == nil && claims["scp"] == nil)
            let issued = try #require(claims["iat"] as? Int)
            #expect(issued == Int(fixture.clock.now.timeIntervalSince1970))
            #expect(try #require(claims["exp"] as? Int) - issued <= 900)
            #expect(answer.text("token_type") == "DPoP")
            #expect(answer.json["expires_in"] as? Int == 900)
            #expect(answer.text("scope") == "openid profile offline_access mam.checkin")
            #expect(answer.headers[.cacheControl] == "no-store")
        }
    }

    @Test func `an ID token names client, nonce and sign-in`() async throws {
        let fixture = try ProviderFixture()
        try await fixture.run { run in
            let answer = try await run.tokens()
            let claims = ProviderTestRun.claims(answer.text("id_token"))
            #expect(claims["aud"] as? String == "fieldnotes")
            #expect(claims["nonce"] as? String == "nonce-1")
            #expect(claims["sub"] as? String == "oid-a")
            #expect(claims["name"] as? String == "Ada")
            #expect(claims["auth_time"] as? Int == Int(fixture.clock.now.timeIntervalSince1970))
            let hash = SHA256.hash(data: Data((answer.text("access_token") ?? "").utf8))
            #expect(claims["at_hash"] as? String == Base64URL.encode(Data(hash).prefix(16)))
        }
    }

    @Test func `a token for the admin API carries roles and scp`() async throws {
        try await ProviderFixture().run { run in
            let code = try await run.code([
                "client_id": "cordon-cli", "resource": ProviderFixture.admin,
                "scope": "openid DeviceManagementApps.Read.All mam.checkin Policy.Read.All",
            ])
            let answer = try await run.exchange(code, ["client_id": "cordon-cli"], proof: .some(nil))
            let claims = ProviderTestRun.claims(answer.text("access_token"))
            #expect(claims["aud"] as? String == ProviderFixture.admin)
            #expect(claims["roles"] as? [String] == ["Managed apps Wipe"])
            #expect(claims["scp"] as? String == "DeviceManagementApps.Read.All")
            #expect(claims["scope"] as? String == "DeviceManagementApps.Read.All")
            #expect(answer.text("scope") == "openid DeviceManagementApps.Read.All", "unknown scopes are left out")
            #expect(answer.text("token_type") == "Bearer")
            #expect(answer.text("refresh_token") == nil, "offline_access was not asked for")
        }
    }

    @Test func `a resource named in front of a scope becomes the audience`() async throws {
        try await ProviderFixture().run { run in
            let code = try await run.code([
                "client_id": "cordon-cli", "resource": "", "scope": "openid https://graph.microsoft.com/.default",
            ])
            let answer = try await run.exchange(code, ["client_id": "cordon-cli"])
            let claims = ProviderTestRun.claims(answer.text("access_token"))
            #expect(claims["aud"] as? String == "https://graph.microsoft.com")
            #expect((claims["scp"] as? String)?.contains("DeviceManagementApps.ReadWrite.All") == true)
        }
    }

    @Test func `of several granted resources a token is for one`() async throws {
        try await ProviderFixture().run { run in
            let page = try await run.browser.get(
                "/idp/authorize",
                run.authorization(
                    [
                        "client_id": "cordon-cli",
                        "scope": "openid offline_access mam.checkin DeviceManagementApps.Read.All",
                    ], more: [("resource", ProviderFixture.admin)]))
            let code = try #require(try await run.browser.signIn(page).parameter("code"))
            let vague = try await run.exchange(code, ["client_id": "cordon-cli"])
            #expect(vague.error == "invalid_target")
            let first = try await run.exchange(code, ["client_id": "cordon-cli", "resource": ProviderFixture.checkIn])
            let claims = ProviderTestRun.claims(first.text("access_token"))
            #expect(claims["aud"] as? String == ProviderFixture.checkIn)
            #expect(claims["scope"] as? String == "mam.checkin")
            let second = try await run.refresh(
                first.text("refresh_token"), ["client_id": "cordon-cli", "resource": ProviderFixture.admin])
            #expect(ProviderTestRun.claims(second.text("access_token"))["aud"] as? String == ProviderFixture.admin)
        }
    }

    @Test func `a resource that was not granted is refused`() async throws {
        try await ProviderFixture().run { run in
            let code = try await run.code(["client_id": "cordon-cli"])
            let answer = try await run.exchange(code, ["client_id": "cordon-cli", "resource": ProviderFixture.admin])
            #expect(answer.error == "invalid_target")
        }
    }

    @Test func `a code is good once and its replay revokes what came of it`() async throws {
        try await ProviderFixture().run { run in
            let code = try await run.code()
            let first = try await run.exchange(code)
            #expect(first.status == .ok)
            #expect(try await run.exchange(code).error == "invalid_grant")
            #expect(try await run.refresh(first.text("refresh_token")).error == "invalid_grant")
        }
    }

    @Test(arguments: [
        (["code_verifier": "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXX"], "invalid_grant"),
        (["code_verifier": ""], "invalid_request"), (["code_verifier": "short"], "invalid_grant"),
        (["redirect_uri": "http://127.0.0.1:49153/callback"], "invalid_grant"),
        (["redirect_uri": ""], "invalid_request"),
        (["client_id": "cordon-cli"], "invalid_grant"), (["client_id": ""], "invalid_client"),
        (["client_id": "stranger"], "invalid_client"), (["code": "guessed"], "invalid_grant"),
        (["grant_type": "password"], "unsupported_grant_type"), (["grant_type": ""], "invalid_request"),
        (["grant_type": "client_credentials"], "unauthorized_client"),
        (["client_secret": "a public client has none"], "invalid_client"),
    ])
    func `an exchange that is not correct gets no token`(changes: [String: String], error: String) async throws {
        try await ProviderFixture().run { run in
            let answer = try await run.exchange(try await run.code(), changes)
            #expect(answer.error == error)
            #expect(answer.text("access_token") == nil)
        }
    }

    @Test func `of twenty parallel exchanges of one code one succeeds`() async throws {
        try await ProviderFixture().run { run in
            let code = try await run.code()
            let good = try await withThrowingTaskGroup(of: Bool.self) { group in
                for _ in 0..<20 { group.addTask { try await run.exchange(code).status == .ok } }
                return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
            }
            #expect(good == 1)
        }
    }

    @Test func `a wrong verifier uses the code up`() async throws {
        try await ProviderFixture().run { run in
            let code = try await run.code()
            let wrong = String(repeating: "a", count: 43)
            #expect(try await run.exchange(code, ["code_verifier": wrong]).error == "invalid_grant")
            #expect(try await run.exchange(code).error == "invalid_grant")
        }
    }

    @Test func `a code expires`() async throws {
        let fixture = try ProviderFixture()
        try await fixture.run { run in
            let code = try await run.code()
            fixture.clock.advance(by: 60)
            #expect(try await run.exchange(code).error == "invalid_grant")
        }
    }

    @Test func `a parameter given twice is refused`() async throws {
        try await ProviderFixture().run { run in
            let code = try await run.code()
            let answer = try await run.token([
                ("grant_type", "authorization_code"), ("client_id", "fieldnotes"), ("code", code), ("code", code),
                ("redirect_uri", ProviderFixture.redirect), ("code_verifier", run.verifier),
            ])
            #expect(answer.error == "invalid_request")
        }
    }

    @Test func `only forms are read`() async throws {
        try await ProviderFixture().run { run in
            let answer = try await run.browser.post(
                "/idp/token", [("grant_type", "refresh_token")], headers: [.contentType: "application/json"])
            #expect(answer.status == .unsupportedMediaType)
            #expect(answer.error == "invalid_request")
        }
    }
}
