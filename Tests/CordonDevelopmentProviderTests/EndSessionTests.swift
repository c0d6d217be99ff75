import CordonTestSupport
import Foundation
import HTTPTypes
import Testing

@testable import CordonDevelopmentProvider

@Suite struct EndSessionTests {
    private func isSignedIn(_ run: ProviderTestRun) async throws -> Bool {
        try await run.authorize(["prompt": "none"]).parameter("code") != nil
    }

    @Test func `an app that shows its ID token signs out at once and comes back`() async throws {
        let fixture = try ProviderFixture()
        try await fixture.run { run in
            let hint = try #require(try await run.tokens().text("id_token"))
            fixture.clock.advance(by: 3_600)
            let answer = try await run.browser.get(
                "/idp/logout",
                [
                    ("id_token_hint", hint), ("post_logout_redirect_uri", ProviderFixture.redirect),
                    ("state", "a state & more"),
                ])
            #expect(answer.location == ProviderFixture.redirect + "?state=a%20state%20%26%20more")
            #expect(try await isSignedIn(run) == false)
        }
    }

    @Test(arguments: [
        "https://example.test/", "http://127.0.0.1:49152/elsewhere", "javascript:alert(1)", "//example.test",
        "http://127.0.0.1:80@example.test/callback",
    ])
    func `no browser is sent to an address that is not registered`(uri: String) async throws {
        try await ProviderFixture().run { run in
            let hint = try #require(try await run.tokens().text("id_token"))
            let answer = try await run.browser.get(
                "/idp/logout", [("id_token_hint", hint), ("post_logout_redirect_uri", uri)])
            #expect(answer.status == .badRequest)
            #expect(answer.location == nil)
            #expect(!answer.body.contains("example.test"))
        }
    }

    @Test func `a redirect without a client is refused`() async throws {
        try await ProviderFixture().run { run in
            let answer = try await run.browser.get(
                "/idp/logout", [("post_logout_redirect_uri", ProviderFixture.redirect)])
            #expect(answer.status == .badRequest)
        }
    }

    @Test func `without a hint the person is asked`() async throws {
        try await ProviderFixture().run { run in
            _ = try await run.code()
            let page = try await run.browser.get(
                "/idp/logout",
                [("client_id", "fieldnotes"), ("post_logout_redirect_uri", ProviderFixture.redirect)])
            #expect(page.status == .ok)
            #expect(try await isSignedIn(run), "another site cannot sign a person out")
            #expect(try await run.browser.submit(page, [("action", "deny")]).location == nil)
            #expect(try await isSignedIn(run))
            let again = try await run.browser.get(
                "/idp/logout",
                [("client_id", "fieldnotes"), ("post_logout_redirect_uri", ProviderFixture.redirect)])
            let answer = try await run.browser.submit(again, [("action", "allow")])
            #expect(answer.location == ProviderFixture.redirect)
            #expect(try await isSignedIn(run) == false)
        }
    }

    @Test func `a hint of another person, of another client or forged ends nothing`() async throws {
        try await ProviderFixture().run { run in
            let hint = try #require(try await run.tokens().text("id_token"))
            let client = try await run.browser.get(
                "/idp/logout", [("id_token_hint", hint), ("client_id", "cordon-cli")])
            #expect(client.status == .badRequest)
            let forged = try await run.browser.get(
                "/idp/logout", [("id_token_hint", String(hint.dropLast(4)) + "AAAA")])
            #expect(forged.status == .badRequest)
            #expect(try await isSignedIn(run))
            await run.browser.forgetCookies()
            _ = try await run.browser.signIn(
                try await run.authorize(), as: "bob@example.test", password: "battery staple")
            let other = try await run.browser.get("/idp/logout", [("id_token_hint", hint)])
            #expect(other.body.contains("bob@example.test"))
            #expect(try await isSignedIn(run))
        }
    }

    @Test func `signing out with no one signed in still comes back`() async throws {
        try await ProviderFixture().run { run in
            let answer = try await run.browser.post(
                "/idp/logout",
                [("client_id", "fieldnotes"), ("post_logout_redirect_uri", ProviderFixture.redirect)])
            #expect(answer.location == ProviderFixture.redirect)
        }
    }
}
