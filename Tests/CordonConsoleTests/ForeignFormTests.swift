import CordonConsole
import CordonPolicy
import CordonService
import HTTPTypes
import Testing

@Suite struct ForeignFormTests {
    private func policies(_ fixture: ConsoleFixture) async throws -> Int {
        try await fixture.service.administration.policies(of: [.iosManagedAppProtection], as: ConsoleFixture.owner)
            .count
    }

    @Test func `a form without the session's token, or with another one's, changes nothing`() async throws {
        let fixture = try await ConsoleFixture()
        try await fixture.test { browser in
            try await browser.signIn(ConsoleFixture.ada)
            let other = Browser(client: browser.client, fixture: fixture)
            try await other.signIn(ConsoleFixture.hedy)
            for token in ["", "x", try await other.csrf()] {
                let page = try await browser.post(
                    "/console/policies/new", [("name", "A"), ("level", "level1")], csrf: token)
                #expect(page.status == .forbidden)
                #expect(page.text.contains("This form was not sent from a page of your session."))
            }
            #expect(try await policies(fixture) == 0)
            let good = try await browser.post(
                "/console/policies/new", [("name", "A"), ("level", "level1")],
                headers: [.origin: ConsoleFixture.base, HTTPField.Name("Sec-Fetch-Site") ?? .via: "same-origin"])
            #expect(good.status == .ok)
            #expect(try await policies(fixture) == 1)
        }
    }

    @Test(
        arguments: [
            [HTTPField.Name.origin: "https://evil.example"], [.origin: "null"],
            [HTTPField.Name("Sec-Fetch-Site") ?? .via: "cross-site"],
            [HTTPField.Name("Sec-Fetch-Site") ?? .via: "same-site"],
        ] as [HTTPFields])
    func `a form sent from another origin changes nothing, even with the right token`(headers: HTTPFields)
        async throws
    {
        let fixture = try await ConsoleFixture()
        try await fixture.test { browser in
            try await browser.signIn(ConsoleFixture.ada)
            let page = try await browser.post(
                "/console/policies/new", [("name", "A"), ("level", "level1")], headers: headers)
            #expect(page.status == .forbidden)
            #expect(try await policies(fixture) == 0)
        }
    }

    @Test func `a form from elsewhere signs nobody out`() async throws {
        let fixture = try await ConsoleFixture()
        try await fixture.test { browser in
            // Browsers send it without the session's cookie, and would take the answer's word that there is none any more.
            let page = try await browser.post(
                "/console/sign-out", [], csrf: "x", headers: [.origin: "https://evil.example"])
            #expect(page.status == .forbidden)
            #expect(page.headers[values: .setCookie].isEmpty)
        }
    }

    @Test func `the help desk cannot publish, by page or by a request made by hand`() async throws {
        let fixture = try await ConsoleFixture()
        let id = try await fixture.publishPolicy()
        try await fixture.test { browser in
            try await browser.signIn(ConsoleFixture.hedy)
            let page = try await browser.get("/console/policies/\(id)")
            #expect(page.text.contains("<h1>Notes</h1>"))
            #expect(!page.text.contains("/edit/"))
            #expect(!page.text.contains("/assignments"))
            let version = try await fixture.service.administration.policy(id, as: ConsoleFixture.owner).version
            let answer = try await browser.post(
                "/console/policies/\(id)/publish/transfer",
                [("s.printBlocked", "true"), ("version", version), ("name", "Notes")])
            #expect(answer.status == .forbidden)
            #expect(answer.text.contains("Your roles: help desk"))
            #expect(
                try await browser.post("/console/policies/\(id)/assign", [("everybody", "true")]).status == .forbidden)
            #expect(try await browser.post("/console/policies/new", [("name", "A")]).status == .forbidden)
            #expect(
                try await browser.post(
                    "/console/roles/new", [("name", "A"), ("permissions", "read"), ("members", "x")]
                ).status == .forbidden)
            let after = try await fixture.service.administration.policy(id, as: ConsoleFixture.owner)
            #expect(after.version == version)
        }
    }
}
