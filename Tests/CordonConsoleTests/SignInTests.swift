import CordonBase
import CordonConsole
import CordonService
import CordonTestSupport
import Foundation
import HTTPTypes
import Testing

@Suite struct SignInTests {
    @Test func `a person who is not signed in comes back to the page that they asked for`() async throws {
        try await ConsoleFixture().test { browser in
            let page = try await browser.signIn(ConsoleFixture.ada, at: "/console/people?search=w")
            #expect(page.status == .ok)
            #expect(page.path == "/console/people?search=w")
            #expect(page.text.contains("<h1>People</h1>"))
            #expect(page.text.contains("ada@contoso.example"))
        }
    }

    @Test func `the session's cookie is closed to scripts and other sites, and the store shows nothing of it`()
        async throws
    {
        let fixture = try await ConsoleFixture()
        try await fixture.test { browser in
            fixture.provider.use(ConsoleFixture.ada)
            try await browser.get("/console")
            #expect(browser.jar.keys.sorted() == ["cordon-console"])
            let secret = try #require(browser.jar["cordon-console"])
            let text = try await fixture.storage.read(ConsoleFixture.tenant) { reader in
                try reader.records(ConsoleSessionRecord.self).map {
                    "\($0.id) \(String(decoding: $0.sealed, as: UTF8.self))"
                }
            }
            #expect(text.count == 1)
            #expect(!text[0].contains(secret))
            #expect(!text[0].contains("oid-ada"))
            #expect(!text[0].contains("token"))
        }
    }

    @Test func `a provider's answer to another browser's request starts no session`() async throws {
        let fixture = try await ConsoleFixture()
        try await fixture.test { browser in
            fixture.provider.use(ConsoleFixture.ada)
            let page = try await browser.get("/console/signed-in?code=x&state=y&iss=\(fixture.provider.issuer)")
            #expect(page.status == .badRequest)
            #expect(page.text.contains("This sign-in is not known here any more."))
            #expect(browser.jar.isEmpty)
        }
    }

    @Test(arguments: [
        "https://evil.example/", "//evil.example", "/console/..//evil", "/consolex", "/console/\\evil", "/admin/v1/me",
    ])
    func `after signing in, an address outside the console is not followed`(next: String) async throws {
        try await ConsoleFixture().test { browser in
            let encoded = next.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
            let page = try await browser.signIn(ConsoleFixture.ada, at: "/console/sign-in?next=\(encoded)")
            #expect(page.path.hasPrefix("/console"))
            #expect(!page.path.hasPrefix("/consolex"))
        }
    }

    @Test(arguments: [
        "https://login.example.test:65536/token", "http://127.0.0.1:99999/token", "http://login.example.test/token",
        "token",
    ])
    func
        `a provider that names an address for tokens that no request may be sent to ends the sign-in, and nothing else`(
            address: String
        ) async throws
    {
        let fixture = try await ConsoleFixture()
        try await fixture.test { browser in
            fixture.provider.tokenEndpoint.withLock { $0 = address }
            let page = try await browser.signIn(ConsoleFixture.ada)
            #expect(page.status == .badGateway)
            #expect(try await browser.get("/healthz").status == .ok)
        }
    }

    @Test func `a cancelled sign-in is reported as cancelled, and the next one leads to the page that was asked for`()
        async throws
    {
        try await ConsoleFixture().test { browser in
            let asked = "/console/people?search=w"
            let page = try await browser.signIn(nil, at: asked)
            #expect(page.status == .forbidden)
            #expect(page.text.contains("The sign-in was not finished."))
            let link = try #require(page.text.firstMatch(of: /href="(\/console\/sign-in[^"]*)"/)).1
            #expect(try await browser.signIn(ConsoleFixture.ada, at: Browser.unescape(link)).path == asked)
        }
    }

    @Test func `a sign-in for which the provider does not answer leads to the page that was asked for, too`()
        async throws
    {
        let fixture = try await ConsoleFixture()
        try await fixture.test { browser in
            fixture.provider.isReachable.withLock { $0 = false }
            let page = try await browser.signIn(ConsoleFixture.ada, at: "/console/people?search=w")
            #expect(page.status == .serviceUnavailable)
            #expect(page.text.contains("href=\"/console/sign-in?next=%2Fconsole%2Fpeople%3Fsearch%3Dw\""))
        }
    }

    @Test func `who cancels proving anew that it is them is asked to prove it the next time, too`() async throws {
        try await ConsoleFixture().test { browser in
            try await browser.signIn(ConsoleFixture.ada)
            let page = try await browser.signIn(nil, at: "/console/sign-in?fresh=1&next=%2Fconsole%2Fpeople")
            #expect(page.text.contains("href=\"/console/sign-in?fresh=1&amp;next=%2Fconsole%2Fpeople\""))
        }
    }

    @Test func `signing out ends the session for every copy of its cookie`() async throws {
        try await ConsoleFixture().test { browser in
            try await browser.signIn(ConsoleFixture.ada)
            let copy = browser.copy()
            let page = try await browser.post("/console/sign-out", [])
            #expect(page.text.contains("Signed out"))
            try browser.fixture().provider.use(nil)
            let after = try await copy.get("/console")
            #expect(after.text.contains("The sign-in was not finished."))
        }
    }

    @Test func `what was filled in outlives the session, for the same person alone`() async throws {
        let fixture = try await ConsoleFixture()
        try await fixture.test { browser in
            try await browser.signIn(ConsoleFixture.ada)
            let page = try await browser.get("/console/policies/new")
            let other = browser.copy()
            fixture.clock.advance(by: 901)
            let ended = try await browser.submit(
                page, to: "/console/policies/new", [("name", "Field & <workers>"), ("level", "level3")])
            #expect(ended.text.contains("What you filled in is kept for you."))
            let link = try #require(ended.text.firstMatch(of: /href="(\/console\/sign-in[^"]*)"/)).1
            let kept = try await browser.get(Browser.unescape(link))
            #expect(kept.path == "/console/policies/new")
            #expect(kept.text.contains("value=\"Field &amp; &lt;workers&gt;\""))
            #expect(kept.text.contains("value=\"level3\" checked"))
            let policies = try await fixture.service.administration.policies(
                of: [.iosManagedAppProtection], as: ConsoleFixture.owner)
            #expect(policies.isEmpty)
            fixture.provider.use(ConsoleFixture.hedy)
            let foreign = try await other.get("/console/policies/new")
            #expect(!foreign.text.contains("Field &amp;"))
        }
    }

    @Test func `pages forbid scripts and styles in their text, frames and foreign forms`() async throws {
        try await ConsoleFixture().test { browser in
            let page = try await browser.signIn(ConsoleFixture.ada)
            let policy = try #require(page.headers[.contentSecurityPolicy])
            #expect(policy.contains("default-src 'none'"))
            #expect(policy.contains("frame-ancestors 'none'"))
            #expect(!policy.contains("unsafe"))
            #expect(!page.text.contains("<style"))
            #expect(!page.text.contains("style=\""))
            #expect(!page.text.contains(/<script(?! src="\/console\/assets\/console.js" defer><\/script>)/))
            #expect(page.headers[.cacheControl] == "no-store")
        }
    }

    @Test func `a person without a role learns what to do and sees nothing`() async throws {
        try await ConsoleFixture().test { browser in
            let page = try await browser.signIn(ConsoleFixture.eve)
            #expect(page.text.contains("have no role that shows anything here"))
            let people = try await browser.get("/console/people")
            #expect(people.status == .forbidden)
            #expect(!people.text.contains("worker@contoso.example"))
        }
    }
}
