import CordonPolicy
import CordonService
import CordonTestSupport
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import NIOCore
import Testing

@testable import CordonConsole

/// Sessions beside each other: tabs, sign-ins at once, and what is sent that no page has.
@Suite struct SessionTests {
    private func names(_ fixture: ConsoleFixture) async throws -> [String] {
        try await fixture.service.administration.policies(of: [.iosManagedAppProtection], as: ConsoleFixture.owner)
            .compactMap { $0.document["displayName"]?.string }
    }

    @Test func `a form in another tab is still good after the person has signed in again, and not after another has`()
        async throws
    {
        let fixture = try await ConsoleFixture()
        try await fixture.test { browser in
            try await browser.signIn(ConsoleFixture.ada)
            let tab = try await browser.get("/console/policies/new")
            fixture.clock.advance(by: 901)
            try await browser.get("/console/people")
            let sent = try await browser.submit(tab, to: "/console/policies/new", [("name", "Typed before")])
            #expect(sent.status == .ok)
            #expect(try await names(fixture) == ["Typed before"])
            try await browser.signIn(ConsoleFixture.bea, at: "/console/sign-in?fresh=1")
            let foreign = try await browser.submit(tab, to: "/console/policies/new", [("name", "Of another")])
            #expect(foreign.status == .forbidden)
            #expect(try await names(fixture) == ["Typed before"])
        }
    }

    @Test func `a form without a session is told so, and is not sent on to the provider`() async throws {
        let fixture = try await ConsoleFixture()
        try await fixture.test { browser in
            try await browser.signIn(ConsoleFixture.ada)
            let page = try await browser.get("/console/policies/new")
            browser.forgetCookie("cordon-console")
            let ended = try await browser.submit(page, to: "/console/policies/new", [("name", "Typed before")])
            #expect(ended.path == "/console/policies/new" && ended.status == .ok)
            #expect(ended.text.contains("what you filled in is not kept"))
            #expect(ended.text.contains("href=\"/console/sign-in?next="))
            #expect(try await names(fixture).isEmpty)
        }
    }

    @Test func `two tabs that sign in at once both come to their pages`() async throws {
        let fixture = try await ConsoleFixture()
        try await fixture.test { browser in
            fixture.provider.use(ConsoleFixture.ada)
            func begin(_ page: String) async throws -> String {
                let answer = try await browser.client.execute(
                    uri: "/console/sign-in?next=\(page)", method: .get, headers: [:])
                for cookie in answer.headers[values: .setCookie] {
                    let pair = cookie.split(separator: ";")[0].split(separator: "=", maxSplits: 1)
                    browser.setCookie(String(pair[0]), String(pair[1]))
                }
                return try #require(answer.headers[.location])
            }
            let first = try await begin("/console/people")
            let second = try await begin("/console/devices")
            #expect(try await browser.get(first).path == "/console/people")
            #expect(try await browser.get(second).path == "/console/devices")
            #expect(browser.jar.keys.sorted() == ["cordon-console"])
        }
    }

    @Test func `sign-ins that were begun and not ended are forgotten before there are many`() async throws {
        let fixture = try await ConsoleFixture()
        try await fixture.test { browser in
            for _ in 0..<30 {
                let cookies = browser.jar.map { "\($0.key)=\($0.value)" }.joined(separator: "; ")
                let answer = try await browser.client.execute(
                    uri: "/console/sign-in", method: .get, headers: [.cookie: cookies])
                for cookie in answer.headers[values: .setCookie] {
                    let pair = cookie.split(separator: ";")[0].split(separator: "=", maxSplits: 1)
                    if cookie.contains("Max-Age=0") {
                        browser.forgetCookie(String(pair[0]))
                    } else {
                        browser.setCookie(String(pair[0]), String(pair[1]))
                    }
                }
                #expect((1...8).contains(browser.jar.count))
            }
        }
    }

    @Test func `a session that was ended is not brought back by a request under way, and live pages see its end`()
        async throws
    {
        let fixture = try await ConsoleFixture()
        let keeper = SessionKeeper(
            sessions: fixture.service.consoleSessions, tenant: ConsoleFixture.tenant,
            cookies: ConsoleCookies(isSecure: true), now: { fixture.clock.now })
        let session = ConsoleSession(
            person: "a", token: "t", key: nil, ends: fixture.clock.now.addingTimeInterval(60), csrf: "c", draft: nil)
        let cookie = try await keeper.begin(session, replacing: nil)
        #expect(cookie.hasPrefix("__Host-cordon-console="))
        #expect(cookie.hasSuffix("; Path=/; HttpOnly; SameSite=Lax; Secure"))
        let request = Request(
            head: HTTPRequest(
                method: .get, scheme: "https", authority: "a", path: "/console",
                headerFields: [.cookie: String(cookie.prefix { $0 != ";" })]), body: RequestBody(buffer: ByteBuffer()))
        let held = try #require(try await keeper.session(of: request))
        #expect(await keeper.isKept(held))
        try await keeper.end(held)
        #expect(!(await keeper.isKept(held)))
        #expect(keeper.isActive(held.session))
        // A request that was under way keeps what was filled in.
        let isChanged = try await keeper.change(held) { $0.keep(.init(path: "/console/people", values: [:])) }
        #expect(!isChanged)
        #expect(!(await keeper.isKept(held)))
        #expect(try await keeper.session(of: request) == nil)
    }

    @Test
    func `a form that waits for a second administrator outlives those that were left, and all together have a bound`() {
        var session = ConsoleSession(person: "a", token: "t", key: nil, ends: Date(), csrf: "c")
        session.keep(.init(path: "/console/roles/new", values: [:], change: "1"))
        for number in 0..<5 { session.keep(.init(path: "/console/\(number)", values: [:])) }
        #expect(session.drafts.map(\.path) == ["/console/4", "/console/3", "/console/2", "/console/roles/new"])
        session.keep(.init(path: "/console/long", values: ["json": [String(repeating: "x", count: 200 << 10)]]))
        #expect(session.drafts.count == 4)
        session.keep(.init(path: "/console/longer", values: ["json": [String(repeating: "x", count: 250 << 10)]]))
        #expect(session.drafts.map(\.path) == ["/console/longer", "/console/roles/new"])
    }

    @Test func `of two requests of a session at once, neither undoes what the other kept, forgot or chose`()
        async throws
    {
        let fixture = try await ConsoleFixture()
        let keeper = SessionKeeper(
            sessions: fixture.service.consoleSessions, tenant: ConsoleFixture.tenant,
            cookies: ConsoleCookies(isSecure: true), now: { fixture.clock.now })
        var session = ConsoleSession(
            person: "a", token: "t", key: nil, ends: fixture.clock.now.addingTimeInterval(60), csrf: "c")
        session.keep(.init(path: "/console/policies/x", values: ["name": ["Published meanwhile"]]))
        let cookie = try await keeper.begin(session, replacing: nil)
        let request = Request(
            head: HTTPRequest(
                method: .get, scheme: "https", authority: "a", path: "/console",
                headerFields: [.cookie: String(cookie.prefix { $0 != ";" })]), body: RequestBody(buffer: ByteBuffer()))
        let slow = try #require(try await keeper.session(of: request))
        let quick = try #require(try await keeper.session(of: request))
        let changes: [Bool] = [
            try await keeper.change(quick) { $0.keep(.init(path: "/console/roles/new", values: [:], change: "1")) },
            try await keeper.change(quick) { $0.forgetDraft(of: "/console/policies/x") },
            try await keeper.change(quick) { $0.language = "de" },
            try await keeper.change(slow) { $0.keep(.init(path: "/console/policies/y", values: [:])) },
        ]
        #expect(!changes.contains(false))
        let now = try #require(try await keeper.session(of: request)).session
        #expect(now.drafts.map(\.path) == ["/console/policies/y", "/console/roles/new"])
        #expect(now.language == "de")
    }

    @Test func `a page that changes by itself is told when there is nothing to show any more`() async throws {
        let fixture = try await ConsoleFixture()
        try await fixture.test { browser in
            try await browser.signIn(ConsoleFixture.ada)
            // An app that a colleague has forgotten meanwhile.
            let stream = try await browser.get("/console/live?page=%2Fconsole%2Fdevices%2Fnone")
            #expect(stream.headers[.contentType] == "text/event-stream")
            #expect(stream.text.contains("event: end\n"))
        }
    }

    @Test(arguments: 1...3)
    func `a page that changes by itself does not end because the store fails for a moment`(_ reads: Int) async throws {
        let storage = CountingStorage()
        let fixture = try await ConsoleFixture(storage: storage)
        try await fixture.test { browser in
            try await browser.signIn(ConsoleFixture.ada)
            // The session is found; then the store fails.
            storage.fail(afterReads: reads)
            let stream = try await browser.get("/console/live?page=%2Fconsole")
            #expect(stream.headers[.contentType] == "text/event-stream")
            #expect(!stream.text.contains("event: end\n"))
        }
    }

    @Test func `what was filled in is kept where a new session cannot take the place of the one before`() async throws {
        let storage = CountingStorage()
        let fixture = try await ConsoleFixture(storage: storage)
        try await fixture.test { browser in
            let keeper = SessionKeeper(
                sessions: fixture.service.consoleSessions, tenant: ConsoleFixture.tenant,
                cookies: ConsoleCookies(isSecure: false), now: { fixture.clock.now })
            var session = ConsoleSession(
                person: "a", token: "t", key: nil, ends: fixture.clock.now.addingTimeInterval(60), csrf: "c")
            session.keep(.init(path: "/console/policies/new", values: ["name": ["Half done"]]))
            let cookie = try await keeper.begin(session, replacing: nil)
            let request = Request(
                head: HTTPRequest(
                    method: .get, scheme: "http", authority: "a", path: "/console",
                    headerFields: [.cookie: String(cookie.prefix { $0 != ";" })]),
                body: RequestBody(buffer: ByteBuffer()))
            let old = try #require(try await keeper.session(of: request))
            storage.fail(afterChanges: 1)
            await #expect(throws: (any Error).self) { _ = try await keeper.begin(session, replacing: old) }
            storage.fail(afterChanges: nil)
            #expect(try await keeper.session(of: request)?.session.drafts.first?.values["name"] == ["Half done"])
        }
    }

    @Test func `a form that does not say which version it was made from overwrites nothing`() async throws {
        let fixture = try await ConsoleFixture()
        let id = try await fixture.publishPolicy()
        try await fixture.test { browser in
            try await browser.signIn(ConsoleFixture.ada)
            let before = try await fixture.service.administration.policy(id, as: ConsoleFixture.owner).version
            let path = "/console/policies/\(id)"
            let editor = try await browser.get(path + "/edit/transfer")
            let change = try await browser.submit(
                editor, to: path + "/preview/transfer", [("s.printBlocked", "true")])
            let groups = try await browser.get(path + "/assignments")
            let assignment = try await browser.submit(groups, to: path + "/assignments", [("everybody", "true")])
            let deletion = try await browser.submit(
                try await browser.get(path + "/delete"), to: path + "/delete/preview")
            let forms: [(page: Browser.Shown, action: String, filled: [(key: String, value: String)])] = [
                (change, "/publish/transfer", []), (assignment, "/assign", []), (deletion, "/delete", []),
                (try await browser.get(path + "/apps"), "/apps", [("apps", "com.contoso.other")]),
            ]
            for (page, action, filled) in forms {
                for version in [nil, "", "*"] {
                    let answer = try await browser.submit(
                        page, to: path + action, filled + (version.map { [(key: "version", value: $0)] } ?? []),
                        unticking: version == nil ? ["version"] : [])
                    #expect([.conflict, .preconditionFailed].contains(answer.status), "\(action): \(answer.status)")
                }
            }
            #expect(
                try await fixture.service.administration.policy(id, as: ConsoleFixture.owner).version == before)
        }
    }

    @Test func `what is no form is refused with a page`() async throws {
        let fixture = try await ConsoleFixture()
        try await fixture.test { browser in
            try await browser.signIn(ConsoleFixture.ada)
            let token = try await browser.csrf()
            func send(_ body: ByteBuffer, _ type: String = "application/x-www-form-urlencoded") async throws
                -> HTTPResponse.Status
            {
                let answer = try await browser.client.execute(
                    uri: "/console/policies/new", method: .post,
                    headers: [
                        .cookie: browser.jar.map { "\($0.key)=\($0.value)" }.joined(separator: "; "),
                        .contentType: type,
                    ], body: body)
                let hasPolicy = answer.headers[.contentSecurityPolicy]?.contains("default-src 'none'") ?? false
                #expect(hasPolicy || answer.status == .seeOther)
                #expect(answer.headers[.cacheControl] == "no-store")
                return answer.status
            }
            let beginning = "csrf=\(token)&name="
            #expect(try await send(ByteBuffer(bytes: Array(beginning.utf8) + [0xFF, 0xC0])) == .badRequest)
            for text in ["%FF", "%zz", "%"] {
                #expect(try await send(ByteBuffer(string: beginning + text)) == .badRequest)
            }
            let many = (0..<3_000).map { "&a\($0)=1" }.joined()
            #expect(try await send(ByteBuffer(string: beginning + "x" + many)) == .badRequest)
            let long = String(repeating: "x", count: 300_000)
            #expect(try await send(ByteBuffer(string: beginning + long)) == .contentTooLarge)
            #expect(try await send(ByteBuffer(string: beginning + "x"), "text/plain") == .unsupportedMediaType)
            #expect(try await send(ByteBuffer(string: beginning + "x"), "multipart/form-data") == .unsupportedMediaType)
            #expect(try await names(fixture).isEmpty)
            #expect(try await send(ByteBuffer(string: beginning + "x&name=y")) == .seeOther)
            #expect(try await names(fixture) == ["x"])
        }
    }

    @Test func `every answer of the console forbids frames, sniffing and keeping, errors too`() async throws {
        let fixture = try await ConsoleFixture()
        try await fixture.test { browser in
            try await browser.signIn(ConsoleFixture.ada)
            for path in [
                "/console", "/console/none", "/console/policies/none", "/console/reports/none",
                "/console/signed-in?code=x&state=y", "/console/people",
            ] {
                let page = try await browser.get(path)
                #expect(page.headers[.contentSecurityPolicy]?.contains("frame-ancestors 'none'") ?? false, "\(path)")
                #expect(page.headers[.cacheControl] == "no-store", "\(path)")
                #expect(page.headers[.xContentTypeOptions] == "nosniff", "\(path)")
            }
            let posted = try await browser.post("/console/none", [])
            #expect(posted.status == .notFound)
            #expect(posted.headers[.contentSecurityPolicy]?.contains("frame-ancestors 'none'") ?? false)
        }
    }
}
