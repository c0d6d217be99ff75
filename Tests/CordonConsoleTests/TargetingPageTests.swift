import CordonPolicy
import CordonService
import Foundation
import HTTPTypes
import Testing

/// Choosing among many groups, and saying how many people are in them (SRV-UI-08).
@Suite struct TargetingPageTests {
    private func addGroups(_ count: Int, to fixture: ConsoleFixture) async throws {
        for number in 0..<count {
            try await fixture.service.provisioning.saveGroup(
                DirectoryGroup(id: "g-\(number)", displayName: "Depot \(1_000 + number)"), as: ConsoleFixture.owner)
        }
    }

    @Test func `the assignment form offers a page of groups, searches for others and keeps what is ticked`()
        async throws
    {
        let fixture = try await ConsoleFixture()
        let id = try await fixture.publishPolicy()
        try await addGroups(300, to: fixture)
        try await fixture.test { browser in
            try await browser.signIn(ConsoleFixture.ada)
            let path = "/console/policies/\(id)/assignments"
            let form = try await browser.get(path)
            #expect(form.text.utf8.count < 100_000)
            // The one that is assigned stands there though it is not among the first by name.
            #expect(form.text.contains("value=\"\(ConsoleFixture.group)\" checked"))
            #expect(form.text.contains("Depot 1049") && !form.text.contains("Depot 1299"))
            #expect(form.text.contains("The directory has more groups than are listed here."))
            let found = try await browser.submit(
                form, to: path,
                [("find", "depot 129"), ("step", "find"), ("included", ConsoleFixture.group), ("included", "g-7")])
            let hostile = try await browser.submit(form, to: path, [("find", "O'\u{301}'' or 1"), ("step", "find")])
            #expect(hostile.status == .ok && hostile.text.contains("Field workers"))
            #expect(found.text.contains("Depot 1299") && !found.text.contains("Depot 1049"))
            #expect(found.text.contains(/id="f-included-g-7" name="included" value="g-7" checked/))
            #expect(found.text.contains(/id="f-included-group-workers"[^>]* checked/))
            #expect(found.text.contains(/id="f-included-g-299" name="included" value="g-299">/))
            let preview = try await browser.submit(found, to: path)
            let published = try await browser.submit(preview, to: "/console/policies/\(id)/assign")
            #expect(published.path == "/console/policies/\(id)")
            #expect(published.text.contains("Field workers") && published.text.contains("Depot 1007"))
        }
    }

    @Test func `a preview says how many people there are, of more than it can name`() async throws {
        let fixture = try await ConsoleFixture()
        let id = try await fixture.publishPolicy()
        let people = (0..<1_200).map { number in
            DirectoryUser(
                id: "many-\(number)", userPrincipalName: "m\(number)@contoso.example", displayName: "M \(number)")
        }
        _ = try await fixture.service.provisioning.synchronize(
            DirectoryContent(
                people: people,
                groups: [DirectoryGroup(id: "many", displayName: "Many", members: Set(people.map { .user($0.id) }))]),
            from: "people.json", of: ConsoleFixture.tenant)
        try await fixture.service.finishAnnouncing(of: ConsoleFixture.tenant)
        try await fixture.test { browser in
            try await browser.signIn(ConsoleFixture.ada)
            let path = "/console/policies/\(id)/assignments"
            let preview = try await browser.submit(try await browser.get(path), to: path, [("included", "many")])
            #expect(preview.text.contains("Who is affected: 1200 people"))
            #expect(preview.text.contains("and 1180 more"))
            #expect(preview.text.contains("One person loses this policy."))
            #expect(preview.text.utf8.count < 100_000)
        }
    }

    @Test func `a list of more policies than fit on a page goes on, and is searched`() async throws {
        let fixture = try await ConsoleFixture()
        for number in 0..<60 {
            _ = try await fixture.service.administration.createPolicy(
                .iosManagedAppProtection, document: ["displayName": .string("Policy \(100 + number)")],
                as: ConsoleFixture.owner)
        }
        try await fixture.test { browser in
            try await browser.signIn(ConsoleFixture.ada)
            let first = try await browser.get("/console/policies")
            #expect(first.text.contains(">Policy 149</a>") && !first.text.contains(">Policy 150</a>"))
            let link = try #require(first.text.firstMatch(of: /href="([^"]*)" rel="next"/)).1
            let rest = try await browser.get(Browser.unescape(link))
            #expect(rest.text.contains(">Policy 150</a>") && !rest.text.contains("rel=\"next\""))
            let found = try await browser.get("/console/policies?search=159")
            #expect(found.text.contains(">Policy 159</a>") && !found.text.contains(">Policy 158</a>"))
            #expect(
                try await browser.get("/console/policies?search=none").text.contains("No policy has this in its name."))
        }
    }
}
