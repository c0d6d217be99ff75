import CordonTestSupport
import Foundation
import HTTPTypes
import Testing

@testable import CordonDevelopmentProvider

@Suite struct AuthorizationEndpointTests {
    @Test func `a sign-in answers with code, state and issuer`() async throws {
        try await ProviderFixture().run { run in
            let page = try await run.authorize()
            #expect(page.status == .ok)
            let answer = try await run.browser.signIn(page)
            #expect(answer.status == .seeOther)
            #expect(answer.location?.hasPrefix(ProviderFixture.redirect + "?code=") == true)
            #expect(answer.parameter("state") == "state-1")
            #expect(answer.parameter("iss") == ProviderFixture.issuer)
        }
    }

    @Test func `a second app of a signed-in browser needs no page`() async throws {
        try await ProviderFixture().run { run in
            _ = try await run.code()
            let answer = try await run.authorize(["client_id": "cordon-cli"])
            #expect(answer.parameter("code") != nil)
        }
    }

    @Test(arguments: [
        "http://127.0.0.1:49152/other", "http://127.0.0.1:49152/callback/", "http://127.0.0.1:49152/callback?x=1",
        "http://localhost:49152/callback", "https://127.0.0.1:49152/callback", "http://127.0.0.1.example.test/callback",
        "http://127.0.0.1:80@example.test/callback", "http://127.0.0.1:0/callback", "http://127.0.0.1:99999/callback",
        "http://127.0.0.2:49152/callback", "https://example.test/callback", "javascript:alert(1)",
    ])
    func `a redirect that is not registered gets a page and no redirect`(uri: String) async throws {
        try await ProviderFixture().run { run in
            let answer = try await run.authorize(["redirect_uri": uri])
            #expect(answer.status == .badRequest)
            #expect(answer.location == nil)
        }
    }

    @Test(arguments: ["http://127.0.0.1/callback", "http://127.0.0.1:1/callback", "http://[::1]:65535/callback"])
    func `a loopback redirect may have any port`(uri: String) async throws {
        try await ProviderFixture().run { run in
            let answer = try await run.browser.signIn(try await run.authorize(["redirect_uri": uri]))
            #expect(answer.location?.hasPrefix(uri + "?code=") == true)
        }
    }

    @Test func `a redirect that is no loopback address must match its port`() async throws {
        try await ProviderFixture().run { run in
            let wrong = try await run.authorize([
                "client_id": "nightly", "redirect_uri": "https://console.example.test:444/callback",
            ])
            #expect(wrong.status == .badRequest)
        }
    }

    @Test func `an unknown client gets a page and no redirect`() async throws {
        try await ProviderFixture().run { run in
            let answer = try await run.authorize(["client_id": "stranger"])
            #expect(answer.status == .badRequest)
            #expect(answer.location == nil)
        }
    }

    @Test(arguments: [
        (["code_challenge": ""], "invalid_request"), (["code_challenge_method": "plain"], "invalid_request"),
        (["code_challenge_method": ""], "invalid_request"), (["code_challenge": "short"], "invalid_request"),
        (["response_type": "token"], "unsupported_response_type"),
        (["response_type": "code id_token"], "unsupported_response_type"),
        (["response_mode": "fragment"], "invalid_request"), (["prompt": "none login"], "invalid_request"),
        (["prompt": "create"], "invalid_request"), (["max_age": "-1"], "invalid_request"),
        (["request": "a.b.c"], "request_not_supported"), (["request_uri": "urn:x"], "request_uri_not_supported"),
        (["resource": "urn:example:elsewhere"], "invalid_target"),
        (["resource": ProviderFixture.admin], "invalid_target"),
        (["scope": "openid"], "invalid_scope"), (["scope": "", "resource": ""], "invalid_scope"),
        (["id_token_hint": "not.a.token"], "invalid_request"), (["dpop_jkt": "short"], "invalid_request"),
        (["prompt": "none"], "login_required"),
    ])
    func `a request that is not correct redirects with its error`(
        changes: [String: String], error: String
    ) async throws {
        try await ProviderFixture().run { run in
            let answer = try await run.authorize(changes)
            #expect(answer.parameter("error") == error)
            #expect(answer.parameter("state") == "state-1")
            #expect(answer.parameter("iss") == ProviderFixture.issuer)
            #expect(answer.parameter("code") == nil)
        }
    }

    @Test func `a parameter given twice is an error`() async throws {
        try await ProviderFixture().run { run in
            let answer = try await run.browser.get(
                "/idp/authorize", run.authorization(more: [("nonce", "nonce-2")]))
            #expect(answer.parameter("error") == "invalid_request")
            let twice = try await run.browser.get(
                "/idp/authorize", run.authorization(more: [("redirect_uri", "https://example.test/")]))
            #expect(twice.location == nil)
        }
    }

    @Test func `prompt none answers from the session and never shows a page`() async throws {
        try await ProviderFixture().run { run in
            _ = try await run.code()
            #expect(try await run.authorize(["prompt": "none"]).parameter("code") != nil)
            let other = try await run.authorize(["prompt": "none", "login_hint": "bob@example.test"])
            #expect(other.parameter("error") == "login_required")
        }
    }

    @Test func `prompt login asks again although a person is signed in`() async throws {
        try await ProviderFixture().run { run in
            _ = try await run.code()
            let page = try await run.authorize(["prompt": "login"])
            #expect(page.status == .ok)
            #expect(page.field("username") != nil)
            let skipped = try await run.browser.post(
                "/idp/decision",
                [("request", page.field("request") ?? ""), ("csrf", page.field("csrf") ?? ""), ("action", "allow")])
            #expect(skipped.location == nil, "the sign-in cannot be skipped by another form")
            #expect(try await run.browser.signIn(page).parameter("code") != nil)
        }
    }

    @Test func `prompt consent asks and a refusal comes back as access denied`() async throws {
        try await ProviderFixture().run { run in
            let page = try await run.browser.signIn(try await run.authorize(["prompt": "consent"]))
            #expect(page.status == .ok)
            #expect(page.body.contains("mam.checkin"))
            #expect(try await run.browser.submit(page, [("action", "deny")]).parameter("error") == "access_denied")
            let again = try await run.authorize(["prompt": "consent"])
            #expect(try await run.browser.submit(again, [("action", "allow")]).parameter("code") != nil)
        }
    }

    @Test func `prompt select_account lets another person sign in`() async throws {
        try await ProviderFixture().run { run in
            _ = try await run.code()
            let page = try await run.authorize(["prompt": "select_account"])
            #expect(page.body.contains("ada@example.test"))
            let form = try await run.browser.submit(page, [("action", "switch")])
            let answer = try await run.browser.signIn(form, as: "bob@example.test", password: "battery staple")
            let tokens = try await run.exchange(try #require(answer.parameter("code")))
            #expect(ProviderTestRun.claims(tokens.text("id_token"))["sub"] as? String == "oid-b")
        }
    }

    @Test func `an old session does not meet max_age`() async throws {
        let fixture = try ProviderFixture()
        try await fixture.run { run in
            _ = try await run.code()
            fixture.clock.advance(by: 100)
            #expect(try await run.authorize(["prompt": "none", "max_age": "101"]).parameter("code") != nil)
            #expect(
                try await run.authorize(["prompt": "none", "max_age": "100"]).parameter("error") == "login_required")
            #expect(try await run.authorize(["max_age": "0"]).status == .ok)
        }
    }

    @Test func `the person of an ID token hint must be the one who signs in`() async throws {
        try await ProviderFixture().run { run in
            let hint = try #require(try await run.tokens().text("id_token"))
            #expect(try await run.authorize(["prompt": "none", "id_token_hint": hint]).parameter("code") != nil)
            await run.browser.forgetCookies()
            let page = try await run.authorize(["id_token_hint": hint])
            let answer = try await run.browser.signIn(page, as: "bob@example.test", password: "battery staple")
            #expect(answer.parameter("error") == "login_required")
        }
    }

    @Test func `a request may come as a form`() async throws {
        try await ProviderFixture().run { run in
            let page = try await run.browser.post("/idp/authorize", run.authorization())
            #expect(try await run.browser.signIn(page).parameter("code") != nil)
        }
    }
}
