import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonService
import CordonTestSupport
import CordonTesting
import Foundation
import HTTPTypes
import Testing

@testable import CordonConsole

/// What holds for every page and every form, found by following links and by reading the sources.
@Suite struct EveryPageTests {
    /// An organisation in which every page has something to show.
    private func furnish(_ fixture: ConsoleFixture, _ browser: Browser, name: String = "Name") async throws {
        let id = try await fixture.publishPolicy(["displayName": .string(name)])
        let owner = ConsoleFixture.owner
        try await browser.enrol("tag-1234").checkIn()
        _ = try await fixture.service.administration.updatePolicy(
            id, changes: ["contactSyncBlocked": true], ifVersion: nil, as: owner)
        try await browser.signIn(ConsoleFixture.ada)
        try await browser.post("/console/configurations/new", [("name", name), ("key.0", "server"), ("value.0", name)])
        try await browser.post(
            "/console/roles/new", [("name", name), ("permissions", "read"), ("members", "user:oid-eve")])
        try await browser.post(
            "/console/service/filters/new", [("name", name), ("rule", "(app.appVersion -startsWith \"2.\")")])
        _ = try await fixture.service.administration.createPolicy(
            .defaultManagedAppProtection,
            document: [
                "displayName": .string(name + ", for everyone"),
                "customSettings": [["name": "server", "value": .string(name)]],
            ],
            as: owner)
        try await browser.post("/console/reports/drift/filters", [("name", name), ("word", name)])
        let page = try await browser.get("/console/people/oid-worker/wipe?tag=tag-1234")
        let number = page.text.firstMatch(of: /Repeat the number (\d{4})/).map { String($0.1) } ?? ""
        let wiped = try await browser.submit(page, to: "/console/people/oid-worker/wipe", [("number", number)])
        #expect(wiped.text.contains("1 of 4: requested"))
        // The wipe has used the budget up, so what removes more data waits for a second person.
        let editor = try await browser.get("/console/policies/\(id)/edit/launch")
        let preview = try await browser.submit(
            editor, to: "/console/policies/\(id)/preview/launch", [("s.minimumWipeOsVersion", "99")])
        let waiting = try await browser.submit(preview, to: "/console/policies/\(id)/publish/launch")
        #expect(waiting.path.hasPrefix("/console/approvals/"))
    }

    @Test func `with more apps than one page shows, no page is larger than 100 KB`() async throws {
        let fixture = try await ConsoleFixture(wipeBudget: 1)
        let routes = try ConsoleCrawl.routes("get")
        try await fixture.test { browser in
            try await furnish(fixture, browser)
            for number in 0..<60 { try await browser.enrol("tag-\(number)") }
            let devices = try await browser.get("/console/devices")
            #expect(devices.text.contains("rel=\"next\""))
            // A person's own apps, too.
            let person = try await browser.get("/console/people/oid-worker")
            let next = try #require(person.text.firstMatch(of: /href="([^"]*)" rel="next"/)).1
            let apps = (person.text + (try await browser.get(Browser.unescape(next)).text))
                .matches(of: /href="(\/console\/devices\/[^"]+)"/).map { String($0.1) }
            #expect(apps.count == 61 && Set(apps).count == 61)
            for page in try await ConsoleCrawl(browser: browser).pages(of: routes)
            where page.headers[.contentType]?.hasPrefix("text/html") ?? false {
                #expect(page.text.utf8.count < 100_000, "\(page.path): \(page.text.utf8.count) bytes")
            }
        }
    }

    @Test func `links lead from the overview to every page`() async throws {
        let fixture = try await ConsoleFixture(wipeBudget: 1)
        let routes = try ConsoleCrawl.routes("get")
        try await fixture.test { browser in
            try await furnish(fixture, browser)
            let pages = try await ConsoleCrawl(browser: browser).pages(of: routes)
            let found = Set(pages.compactMap { ConsoleCrawl.pattern(of: $0.path, among: routes) })
            // The page of a person who is not blocked has no link to unblock them.
            #expect(routes.subtracting(found).subtracting(["/console/people/:id/unblock"]).isEmpty)
            for page in pages { #expect(page.status == .ok, "\(page.path)") }
        }
    }

    @Test func `no page says the same in both languages, but for names and what the engine says`() async throws {
        let fixture = try await ConsoleFixture(workerName: "Ada Lovelace", wipeBudget: 1)
        let routes = try ConsoleCrawl.routes("get")
        try await fixture.test { browser in
            try await furnish(fixture, browser, name: "Ada Lovelace")
            let crawl = ConsoleCrawl(browser: browser)
            let english = try await crawl.pages(of: routes)
            try await browser.post("/console/language", [("language", "de")])
            for page in english where page.headers[.contentType]?.hasPrefix("text/html") ?? false {
                let german = try await browser.get(page.path)
                #expect(german.text.contains("<html lang=\"de\">"), "\(page.path)")
                let same = ConsoleCrawl.texts(of: page).intersection(ConsoleCrawl.texts(of: german)).filter { text in
                    // A text of the table, or a word that the table should have.
                    ConsoleTexts.german[text].map { $0 != text } ?? (text.wholeMatch(of: /[a-z]{2,}/) != nil)
                }
                #expect(same.isEmpty, "\(page.path): \(same.sorted())")
            }
        }
    }

    @Test func `hostile text in any field of any form runs nowhere and breaks nothing`() async throws {
        let hostile = "\"><script>alert(1)</script><img src=x onerror=alert(1)>{{csrf}}'`\u{301}<\u{338}b"
        let fixture = try await ConsoleFixture(workerName: hostile, wipeBudget: 1)
        let (routes, forms) = (try ConsoleCrawl.routes("get"), try ConsoleCrawl.routes("post"))
        try await fixture.test { browser in
            try await furnish(fixture, browser, name: hostile)
            let crawl = ConsoleCrawl(browser: browser)
            var pages = try await crawl.pages(of: routes, each: 2)
            // What takes something away is sent last, so that every other form still has something to be about.
            let last = ["delete", "erase", "forget", "block", "cancel", "stop", "wipe"]
            func turn(_ action: String) -> Int { last.contains { action.hasSuffix("/" + $0) } ? 1 : 0 }
            var (sent, waiting): (Set<String>, [(page: Browser.Shown, action: String, names: [String])]) = ([], [])
            func take(_ page: Browser.Shown) {
                waiting += ConsoleCrawl.forms(of: page).map { (page, $0.action, $0.names) }
                waiting.sort { turn($0.action) < turn($1.action) }
            }
            pages.forEach(take)
            while !waiting.isEmpty {
                let (page, action, names) = waiting.removeFirst()
                guard let pattern = ConsoleCrawl.pattern(of: action, among: forms), sent.insert(pattern).inserted
                else { continue }
                // The page as it is now, unless it is itself the answer to a form.
                let now = try await browser.get(page.path)
                let shown = ConsoleCrawl.forms(of: now).contains { $0.action == action } ? now : page
                // All fields at once, and then the one that may say anything, so that previews are reached too.
                for filled in [names, names.filter { $0 == "description" }] {
                    let answer = try await browser.submit(shown, to: action, filled.map { ($0, hostile) })
                    pages.append(answer)
                    take(answer)
                    guard answer.status == .badRequest else { break }
                }
            }
            // Of a person who is not blocked, no page has the form that unblocks.
            #expect(forms.subtracting(sent).subtracting(["/console/people/:id/unblock"]).isEmpty)
            pages += try await crawl.pages(of: routes, each: 3)
            for page in pages where page.headers[.contentType]?.hasPrefix("text/html") ?? false {
                #expect(!page.text.contains("<script>"), "\(page.path)")
                #expect(
                    !page.text.unicodeScalars.split(separator: "<").contains {
                        String(String.UnicodeScalarView($0)).hasPrefix("img")
                    }, "\(page.path)")
                #expect(page.status.code < 500, "\(page.path): \(page.status)")
            }
            #expect(pages.contains { $0.text.contains("&lt;script&gt;alert(1)&lt;/script&gt;") })
        }
    }
}
