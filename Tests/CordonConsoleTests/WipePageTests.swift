import CordonBase
import CordonConsole
import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonService
import CordonTestSupport
import CordonTesting
import Foundation
import HTTPTypes
import Testing

@Suite struct WipePageTests {
    @Test func `a wipe goes from the repeated number to the verified receipt`() async throws {
        let fixture = try await ConsoleFixture()
        _ = try await fixture.publishPolicy()
        try await fixture.test { browser in
            let device = try await browser.enrol("tag-1234")
            try await browser.signIn(ConsoleFixture.hedy)
            let path = "/console/people/oid-worker/wipe"
            let list = try await browser.get(path)
            #expect(list.text.contains("tag-1234"))
            let page = try await browser.get(path + "?tag=tag-1234")
            #expect(page.text.contains(ConsoleFixture.bundleID))
            #expect(page.text.contains("Text to forward"))
            let wrong = try await browser.submit(page, to: path, [("number", "0")])
            #expect(wrong.status == .badRequest)
            #expect(wrong.text.contains("Nothing was wiped."))
            let none = try await fixture.service.administration.operations(
                ofRegistration: nil, as: ConsoleFixture.owner)
            #expect(none.isEmpty)
            let number = try #require(page.text.firstMatch(of: /Repeat the number (\d{4})/)).1
            let asked = try await browser.submit(page, to: path, [("number", String(number))])
            #expect(asked.text.contains("1 of 4: requested"))
            try await device.checkIn()
            #expect(try await browser.get("/console/wipes").text.contains("2 of 4: delivered to the app"))
            try await device.carryOutWipes()
            let done = try await browser.get("/console/wipes")
            #expect(done.text.contains("4 of 4: done, receipt verified"))
            #expect(done.text.contains("signed, "))
        }
    }

    @Test func `a wipe wants a fresh sign-in, and nothing is wiped before`() async throws {
        let fixture = try await ConsoleFixture()
        fixture.provider.lifetime.withLock { $0 = 7_200 }
        _ = try await fixture.publishPolicy()
        try await fixture.test { browser in
            _ = try await browser.enrol("tag-1234")
            try await browser.signIn(ConsoleFixture.ada)
            fixture.clock.advance(by: 1_200)
            let path = "/console/people/oid-worker/wipe"
            let page = try await browser.get(path + "?tag=tag-1234")
            #expect(page.text.contains("The service wants a fresh sign-in for a wipe."))
            let number = try #require(page.text.firstMatch(of: /Repeat the number (\d{4})/)).1
            let asked = try await browser.submit(page, to: path, [("number", String(number))])
            #expect(asked.text.contains("Prove that it is you"))
            let none = try await fixture.service.administration.operations(
                ofRegistration: nil, as: ConsoleFixture.owner)
            #expect(none.isEmpty)
            let link = try #require(asked.text.firstMatch(of: /href="(\/console\/sign-in\?fresh=1[^"]*)"/)).1
            let back = try await browser.get(Browser.unescape(link))
            #expect(back.text.contains("tag-1234"))
            #expect(!back.text.contains("The service wants a fresh sign-in"))
            let again = try #require(back.text.firstMatch(of: /Repeat the number (\d{4})/)).1
            let done = try await browser.submit(back, to: path, [("number", String(again))])
            #expect(done.text.contains("1 of 4: requested"))
        }
    }

    @Test func `a phone without a state counter is not flagged, and a jailbroken one is`()
        async throws
    {
        let fixture = try await ConsoleFixture()
        _ = try await fixture.publishPolicy()
        try await fixture.test { browser in
            let device = try await browser.enrol("tag-1234")
            for _ in 0..<2 { try await device.checkIn(health: [.uncountedState]) }
            try await browser.signIn(ConsoleFixture.ada)
            let person = try await browser.get("/console/people/oid-worker")
            #expect(person.text.contains("Protected: the newest rules are in force."))
            #expect(person.text.contains("<span class=\"badge good\">healthy</span>"))
            try await device.checkIn(health: [.uncountedState, .rootedDevice])
            let flagged = try await browser.get("/console/people/oid-worker")
            #expect(flagged.text.contains("Have a look at the flagged device."))
            #expect(!flagged.text.contains("uncounted state"))
        }
    }

    @Test func `devices, people and questions show what is in force`() async throws {
        let fixture = try await ConsoleFixture()
        let id = try await fixture.publishPolicy(["displayName": "Notes", "printBlocked": true])
        try await fixture.test { browser in
            let device = try await browser.enrol("tag-1234")
            try await device.checkIn()
            try await browser.signIn(ConsoleFixture.ada)
            let person = try await browser.get("/console/people/oid-worker")
            #expect(person.text.contains("Simulated …1234"))
            let registration = await device.registrationID
            let page = try await browser.get("/console/devices/\(registration)")
            #expect(page.text.contains("The rules in force are the newest."))
            _ = try await fixture.service.administration.updatePolicy(
                id, changes: ["contactSyncBlocked": true], ifVersion: nil, as: ConsoleFixture.owner)
            #expect(
                try await browser.get("/console/devices/\(registration)").text.contains(
                    "does not have the newest rules yet"))
            #expect(
                try await browser.get("/console/policies/\(id)").text.contains(
                    "Apps that have not taken the version yet"))
            let answer = try await browser.get("/console/ask?person=worker@contoso.example&action=print")
            #expect(answer.text.contains("<p>No.</p>"))
            #expect(answer.text.contains("The smallest change that would allow it"))
            #expect(answer.text.contains("Block printing"))
            #expect(
                try await browser.get("/console/ask?person=worker@contoso.example&action=notify").text.contains(
                    "<p>Yes"))
            let verified = try await browser.get("/console/audit/verify")
            #expect(verified.text.contains("The log is complete"))
            let csv = try await browser.get("/console/reports/wipes?format=csv")
            #expect(csv.headers[.contentType] == "text/csv; charset=utf-8")
        }
    }
}
