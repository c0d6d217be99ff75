import CordonTestSupport
import Foundation
import HTTPTypes
import Testing

@testable import CordonDevelopmentProvider

@Suite struct SignInPageTests {
    @Test(arguments: [
        ("ada@example.test", "wrong"), ("nobody@example.test", "correct horse"), ("ada@example.test", ""),
        ("", "correct horse"),
    ])
    func `a wrong name or password says the same and signs no one in`(name: String, password: String) async throws {
        try await ProviderFixture().run { run in
            let answer = try await run.browser.signIn(try await run.authorize(), as: name, password: password)
            #expect(answer.status == .badRequest)
            #expect(answer.body.contains("The name or the password is not correct."))
            #expect(try await run.authorize(["prompt": "none"]).parameter("error") == "login_required")
        }
    }

    @Test func `a disabled account cannot sign in`() async throws {
        var directory = try ProviderFixture.directory()
        directory.people[0].accountEnabled = false
        try await ProviderFixture(directory: directory).run { run in
            let answer = try await run.browser.signIn(try await run.authorize())
            #expect(answer.status == .badRequest)
        }
    }

    @Test func `too many wrong passwords must wait, even with the right one`() async throws {
        let fixture = try ProviderFixture()
        try await fixture.run { run in
            var page = try await run.authorize()
            for _ in 0..<5 {
                page = try await run.browser.signIn(page, as: "Ada@example.test", password: "wrong")
                #expect(page.status == .badRequest)
            }
            let refused = try await run.browser.signIn(page)
            #expect(refused.status == .tooManyRequests)
            let name = try #require(HTTPField.Name("Retry-After"))
            #expect(refused.headers[name] == "300")
            let other = try await run.browser.signIn(refused, as: "bob@example.test", password: "battery staple")
            #expect(other.parameter("code") != nil, "another person is not held up")
            fixture.clock.advance(by: 301)
            let later = try await run.browser.signIn(try await run.authorize(["prompt": "login"]))
            #expect(later.parameter("code") != nil)
        }
    }

    @Test func `parallel attempts do not get around the limit`() async throws {
        try await ProviderFixture().run { run in
            let page = try await run.authorize()
            let statuses = try await withThrowingTaskGroup(of: HTTPResponse.Status.self) { group in
                for number in 0..<20 {
                    group.addTask { try await run.browser.signIn(page, password: "wrong-\(number)").status }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(statuses.count { $0 == .badRequest } == 5)
            #expect(statuses.count { $0 == .tooManyRequests } == 15)
        }
    }

    @Test(arguments: ["csrf", "request"])
    func `a form without its token is refused`(missing: String) async throws {
        try await ProviderFixture().run { run in
            let page = try await run.authorize()
            let fields = ["request", "csrf"].filter { $0 != missing }.map { ($0, page.field($0) ?? "") }
            let answer = try await run.browser.post(
                "/idp/sign-in", fields + [("username", "ada@example.test"), ("password", "correct horse")])
            #expect(answer.status == .forbidden)
            #expect(answer.location == nil)
            #expect(await run.browser.cookies[BrowserSessions.sessionCookie] == nil)
        }
    }

    @Test func `a form with a wrong token is refused`() async throws {
        try await ProviderFixture().run { run in
            let page = try await run.authorize()
            let other = try await run.authorize()
            let answer = try await run.browser.post(
                "/idp/sign-in",
                [
                    ("request", page.field("request") ?? ""), ("csrf", other.field("csrf") ?? ""),
                    ("username", "ada@example.test"), ("password", "correct horse"),
                ])
            #expect(answer.status == .forbidden)
        }
    }

    @Test func `a form of another browser is refused`() async throws {
        try await ProviderFixture().run { run in
            let page = try await run.authorize()
            await run.browser.forgetCookies()
            _ = try await run.authorize()
            #expect(try await run.browser.signIn(page).status == .forbidden)
        }
    }

    @Test func `a form that another site sends is refused`() async throws {
        try await ProviderFixture().run { run in
            let page = try await run.authorize()
            let values = [("username", "ada@example.test"), ("password", "correct horse"), ("action", "sign-in")]
            let foreign = try await run.browser.submit(page, values, headers: [.origin: "https://example.test"])
            #expect(foreign.status == .forbidden)
            let own = try await run.browser.submit(page, values, headers: [.origin: "http://localhost:8080"])
            #expect(own.parameter("code") != nil)
        }
    }

    @Test func `a page that waited too long is refused`() async throws {
        let fixture = try ProviderFixture()
        try await fixture.run { run in
            let page = try await run.authorize()
            fixture.clock.advance(by: 601)
            #expect(try await run.browser.signIn(page).status == .forbidden)
        }
    }

    @Test func `a form is good once`() async throws {
        try await ProviderFixture().run { run in
            let page = try await run.authorize()
            #expect(try await run.browser.signIn(page).parameter("code") != nil)
            #expect(try await run.browser.signIn(page).status == .forbidden)
        }
    }

    @Test func `cancelling comes back as access denied`() async throws {
        try await ProviderFixture().run { run in
            let page = try await run.authorize()
            #expect(try await run.browser.submit(page, [("action", "cancel")]).parameter("error") == "access_denied")
        }
    }

    @Test(arguments: [
        "\"><script>alert(1)</script>", "\"\u{301} autofocus onfocus=alert(1) x=\"\u{301}", "'><img src=x>",
        "{{title}}",
        "`onmouseover=alert(1)",
    ])
    func `a login hint is text and never markup`(hint: String) async throws {
        try await ProviderFixture().run { run in
            let page = try await run.authorize(["login_hint": hint])
            let start = try #require(page.body.range(of: "name=\"username\" value=\""))
            // Scalar by scalar, as a browser reads: up to the quote that ends the attribute.
            let scalars = page.body[start.upperBound...].unicodeScalars
            let value = scalars.prefix { $0 != "\"" }
            #expect(!value.contains("<") && !value.contains(">"))
            #expect(String(scalars.dropFirst(value.count).prefix(24)) == "\" autocomplete=\"username")
            #expect(!page.body.contains("<script"))
        }
    }

    @Test func `a login hint fills the name in`() async throws {
        try await ProviderFixture().run { run in
            let page = try await run.authorize(["login_hint": "bob@example.test"])
            #expect(page.field("username") == "bob@example.test")
        }
    }

    @Test func `pages allow no script, no frame and no foreign form`() async throws {
        try await ProviderFixture().run { run in
            let page = try await run.authorize()
            let policy = page.headers[.contentSecurityPolicy] ?? ""
            #expect(policy.contains("default-src 'none'"))
            #expect(policy.contains("frame-ancestors 'none'"))
            #expect(policy.contains("form-action 'self' http://127.0.0.1:49152"))
            #expect(!policy.contains("unsafe"))
            #expect(page.headers[.cacheControl] == "no-store")
            #expect(page.headers[.xContentTypeOptions] == "nosniff")
        }
    }

    /// RFC 9700 §2.6, §4.2.4, §4.12 and §4.16.
    @Test func `no page and no redirect lets another origin read it, frame it or learn its address`() async throws {
        let fixture = try ProviderFixture()
        try await fixture.run { run in
            let foreign: HTTPFields = [.origin: "https://evil.example.test", .referer: "https://evil.example.test/a"]
            let name = ("username", "ada@example.test")
            let page = try await run.browser.get("/idp/authorize", run.authorization(), headers: foreign)
            let wrong = try await run.browser.submit(page, [name, ("password", "wrong"), ("action", "sign-in")])
            let error = try await run.authorize(["client_id": "stranger"])
            let device = try await run.browser.get("/idp/device", headers: foreign)
            let signedIn = try await run.browser.signIn(try await run.authorize())
            let consent = try await run.browser.get(
                "/idp/authorize", run.authorization(["prompt": "consent"]), headers: foreign)
            let refused = try await run.authorize(["response_type": "token"])
            let pages = [page, wrong, error, device, consent]
            #expect(pages.map(\.status) == [.ok, .badRequest, .badRequest, .ok, .ok])
            for page in pages {
                #expect(page.headers[.contentSecurityPolicy]?.contains("frame-ancestors 'none'") == true)
                #expect(page.headers[.xFrameOptions] == "DENY")
                #expect(page.headers[.referrerPolicy] == "same-origin")
                let elsewhere = page.body.matches(of: /(?:src|href)="([^"]*)"/).filter { $0.1.contains("//") }
                #expect(elsewhere.isEmpty, "a link or a part of a page from elsewhere")
            }
            // The form with the password is answered with 303, after which no browser sends it on.
            for answer in [signedIn, refused] { #expect(answer.status == .seeOther && answer.location != nil) }
            let asked = try await run.browser.preflight("/idp/authorize", headers: foreign)
            for answer in pages + [signedIn, refused, asked] {
                let opened = answer.headers.filter { $0.name.canonicalName.hasPrefix("access-control-") }
                #expect(opened.isEmpty, "\(opened)")
            }
        }
    }

    @Test func `cookies are out of reach of scripts and other sites`() async throws {
        try await ProviderFixture().run { run in
            let answer = try await run.browser.signIn(try await run.authorize())
            let cookie = try #require(answer.headers[values: .setCookie].first)
            for part in ["HttpOnly", "SameSite=Lax", "Path=/idp"] { #expect(cookie.contains(part)) }
        }
    }

    @Test func `a session known before the sign-in is not kept`() async throws {
        try await ProviderFixture().run { run in
            _ = try await run.code()
            let before = await run.browser.cookies[BrowserSessions.sessionCookie]
            _ = try await run.browser.signIn(try await run.authorize(["prompt": "login"]))
            let after = await run.browser.cookies[BrowserSessions.sessionCookie]
            #expect(before != nil && after != nil && before != after)
            await run.browser.setCookie(BrowserSessions.sessionCookie, try #require(before))
            #expect(try await run.authorize(["prompt": "none"]).parameter("error") == "login_required")
        }
    }

    @Test func `a session ends with its lifetime and with its person`() async throws {
        let fixture = try ProviderFixture()
        try await fixture.run { run in
            _ = try await run.code()
            var directory = await fixture.provider.directory
            directory.people[0].accountEnabled = false
            try await fixture.provider.replaceDirectory(directory)
            #expect(try await run.authorize(["prompt": "none"]).parameter("error") == "login_required")
            directory.people[0].accountEnabled = true
            try await fixture.provider.replaceDirectory(directory)
            #expect(
                try await run.authorize(["prompt": "none"]).parameter("error") == "login_required", "ended for good")
            _ = try await run.code()
            fixture.clock.advance(by: 8 * 3_600 - 1)
            #expect(try await run.authorize(["prompt": "none"]).parameter("code") != nil)
            fixture.clock.advance(by: 1)
            #expect(try await run.authorize(["prompt": "none"]).parameter("error") == "login_required")
        }
    }
}
