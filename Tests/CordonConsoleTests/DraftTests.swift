import CordonPolicy
import CordonService
import CordonTestSupport
import Foundation
import HTTPTypes
import Testing

/// What was filled in and not saved yet.
@Suite struct DraftTests {
    @Test func `what was previewed is in the form again, says so, and is gone once it is published`() async throws {
        let fixture = try await ConsoleFixture()
        let id = try await fixture.publishPolicy()
        try await fixture.test { browser in
            try await browser.signIn(ConsoleFixture.ada)
            let path = "/console/policies/\(id)"
            let editor = try await browser.get(path + "/edit/transfer")
            _ = try await browser.submit(editor, to: path + "/preview/transfer", [("description", "Half done")])
            let back = try await browser.get(path + "/edit/transfer")
            #expect(back.text.contains("value=\"Half done\""))
            #expect(back.text.contains("What you filled in before is here again; it is not saved."))
            let preview = try await browser.submit(back, to: path + "/preview/transfer")
            _ = try await browser.submit(preview, to: path + "/publish/transfer")
            let after = try await browser.get(path + "/edit/transfer")
            #expect(after.text.contains("value=\"Half done\""), "it is saved now")
            #expect(!after.text.contains("it is not saved"))
        }
    }

    @Test func `what was filled in waits on its own page, whatever else is done meanwhile`() async throws {
        let fixture = try await ConsoleFixture()
        let id = try await fixture.publishPolicy()
        try await fixture.test { browser in
            try await browser.signIn(ConsoleFixture.ada)
            let path = "/console/policies/\(id)"
            let first = try await browser.get(path + "/edit/transfer")
            _ = try await browser.submit(first, to: path + "/preview/transfer", [("description", "Half done")])
            let second = try await browser.get(path + "/edit/access")
            _ = try await browser.submit(second, to: path + "/preview/access", [("s.minimumPinLength", "7")])
            let copied = try await browser.submit(try await browser.get(path), to: path + "/copy")
            #expect(copied.text.contains("The policy was made."))
            #expect(try await browser.get(path + "/edit/transfer").text.contains("value=\"Half done\""))
            #expect(try await browser.get(path + "/edit/access").text.contains("value=\"7\""))
        }
    }

    @Test func `a change that was released leads to its own form, not to another one that was filled in later`()
        async throws
    {
        let fixture = try await ConsoleFixture(wipeBudget: 0)
        let id = try await fixture.publishPolicy()
        try await fixture.test { browser in
            try await browser.enrol("tag-1234")
            try await browser.signIn(ConsoleFixture.ada)
            let path = "/console/policies/\(id)"
            let preview = try await browser.submit(
                try await browser.get(path + "/edit/launch"), to: path + "/preview/launch",
                [("s.minimumWipeOsVersion", "99")])
            let change = try await browser.submit(preview, to: path + "/publish/launch").path
            #expect(change.hasPrefix("/console/approvals/"))
            let other = try await browser.get(path + "/edit/access")
            _ = try await browser.submit(other, to: path + "/preview/access", [("s.minimumPinLength", "7")])
            let second = Browser(client: browser.client, fixture: fixture)
            let asked = try await second.signIn(ConsoleFixture.bea, at: change)
            _ = try await second.submit(asked, to: change + "/release")
            let released = try await browser.get(change)
            #expect(released.text.contains("href=\"\(path)/edit/launch\" class=\"main\">Open the form"))
            #expect(try await browser.get(path + "/edit/launch").text.contains("value=\"99\""))
        }
    }

    @Test func `who may be alone is told whom to ask, and when their change is released by itself`() async throws {
        let fixture = try await ConsoleFixture(wipeBudget: 0)
        let id = try await fixture.publishPolicy()
        try await fixture.test { browser in
            try await browser.enrol("tag-1234")
            try await browser.signIn(ConsoleFixture.ada)
            let path = "/console/policies/\(id)"
            let preview = try await browser.submit(
                try await browser.get(path + "/edit/launch"), to: path + "/preview/launch",
                [("s.minimumWipeOsVersion", "99")])
            let waits = try await browser.submit(preview, to: path + "/publish/launch")
            // A colleague whom the service has not seen may release it at once.
            #expect(waits.text.contains("Send them the address of this page."))
            #expect(waits.text.contains("If no one does, it is released by itself at the time above."))
            #expect(waits.text.contains("<dt>Released by itself</dt><dd><time "))
            fixture.clock.advance(by: 3_601)
            let released = try await browser.get(waits.path)
            #expect(released.text.contains("This change was released by itself."))
            #expect(released.text.contains("href=\"\(path)/edit/launch\" class=\"main\">Open the form"))
            let form = try await browser.get("/console/sign-in?fresh=1&next=" + path + "/edit/launch")
            let again = try await browser.submit(form, to: path + "/preview/launch")
            _ = try await browser.submit(again, to: path + "/publish/launch")
            #expect(try await browser.get(waits.path).text.contains("nobody: it was released by itself"))
        }
    }

    @Test func `what the service refuses is in its form again`() async throws {
        let fixture = try await ConsoleFixture()
        let id = try await fixture.publishPolicy()
        try await fixture.test { browser in
            try await browser.signIn(ConsoleFixture.ada)
            let path = "/console/policies/\(id)"
            let version = try await fixture.service.administration.policy(id, as: ConsoleFixture.owner).version
            let refused = try await browser.post(
                path + "/assign",
                [
                    ("everybody", "true"), ("included", ConsoleFixture.group), ("excluded", ConsoleFixture.group),
                    ("version", version), ("page", path + "/assignments"),
                ])
            #expect(refused.status == .badRequest)
            #expect(refused.text.contains("href=\"\(path)/assignments\" class=\"main\">Open the form"))
            let form = try await browser.get(path + "/assignments")
            #expect(form.text.contains(/name="everybody" value="true" checked/))
            #expect(form.text.contains("it is not saved"))
        }
    }

    @Test func `a button that is pressed too late leads back to its page`() async throws {
        let fixture = try await ConsoleFixture()
        let id = try await fixture.publishPolicy()
        try await fixture.test { browser in
            try await browser.signIn(ConsoleFixture.ada)
            let path = "/console/policies/\(id)"
            let page = try await browser.get(path)
            fixture.clock.advance(by: 901)
            let ended = try await browser.submit(page, to: path + "/copy")
            let link = try #require(ended.text.firstMatch(of: /href="(\/console\/sign-in[^"]*)"/)).1
            let back = try await browser.get(Browser.unescape(link))
            #expect(back.path == path && back.status == .ok)
            #expect(!back.text.contains("it is not saved"))
        }
    }
}
