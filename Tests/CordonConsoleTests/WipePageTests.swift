import CordonBase
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

@Suite struct WipePageTests {
    @Test func `a wipe goes from the repeated number to the verified receipt`() async throws {
        let fixture = try await ConsoleFixture()
        _ = try await fixture.publishPolicy()
        try await fixture.test { browser in
            let device = try await browser.enrol("tag-1234")
            try await browser.signIn(ConsoleFixture.hedy)
            let path = "/console/people/oid-worker/wipe"
            // Of one device, there is nothing to choose.
            let page = try await browser.get(path)
            #expect(page.text.contains("Wipe Simulated …1234 of Worker A"))
            #expect(page.text.contains(ConsoleFixture.bundleID))
            #expect(page.text.contains("Text to forward"))
            #expect(page.text.contains("A phone that is off or offline is wiped when it is back."))
            #expect(
                page.text.contains("usually 94 days") && page.text.contains("an administrator who may cancel wipes"))
            let text = try #require(page.text.firstMatch(of: /(?s)<pre[^>]*>(.*?)<\/pre>/)).1
            #expect(text.contains("sign in with your work account") && text.contains(ConsoleFixture.bundleID))
            try await fixture.service.administration.saveResource(
                CatalogueApp(bundleID: ConsoleFixture.bundleID, displayName: "Field notes"), isNew: true,
                as: ConsoleFixture.owner)
            let named = try await browser.get(path + "?tag=tag-1234").text
            let forwarded = try #require(named.firstMatch(of: /(?s)<pre[^>]*>(.*?)<\/pre>/)).1
            #expect(forwarded.contains("Field notes") && !forwarded.contains(ConsoleFixture.bundleID))
            try await browser.enrol("tag-5678")
            let choice = try await browser.get(path).text
            #expect(choice.contains("Which device of Worker A?") && choice.contains("?tag=tag-1234"))
            #expect(choice.contains("?tag=tag-5678") && !choice.contains("Repeat the number"))
            let wrong = try await browser.submit(page, to: path, [("number", "0")])
            #expect(wrong.status == .badRequest)
            #expect(wrong.text.contains("Nothing was wiped."))
            // What was filled in is there again, and does not stand in the way of another phone's link.
            #expect(try await browser.get(path).text.contains("Wipe Simulated …1234 of Worker A"))
            _ = try await browser.submit(page, to: path, [("number", "0")])
            let other = try await browser.get(path + "?tag=tag-5678")
            #expect(other.text.contains("Wipe Simulated …5678 of Worker A") && !other.text.contains("it is not saved"))
            // Each phone's form is kept for itself.
            _ = try await browser.submit(other, to: path, [("number", "0")])
            for tag in ["1234", "5678"] {
                let again = try await browser.get(path + "?tag=tag-\(tag)").text
                #expect(again.contains("Wipe Simulated …\(tag) of Worker A") && again.contains("it is not saved"))
            }
            let none = try await fixture.service.administration.operations(
                ofRegistration: nil, as: ConsoleFixture.owner)
            #expect(none.isEmpty)
            let number = try #require(page.text.firstMatch(of: /Repeat the number (\d{4})/)).1
            let asked = try await browser.submit(page, to: path, [("number", String(number))])
            #expect(asked.text.contains("1 of 4: requested"))
            #expect(asked.text.contains("Wipe requested: one app has not reported yet."))
            #expect(asked.text.contains("A phone that is off is waited for until "))
            #expect(asked.text.contains("an administrator who may cancel wipes can take it back"))
            #expect(asked.text.contains("<span class=\"one\">waits until</span> <span class=\"one\"><time"))
            #expect(asked.text.contains(">Simulated …1234</a>"))
            try await device.checkIn()
            #expect(try await browser.get("/console/wipes").text.contains("2 of 4: delivered to the app"))
            let delivered = try await browser.get("/console/wipes?user=oid-worker")
            #expect(delivered.text.contains("One wipe has been delivered, and cannot be cancelled any more"))
            #expect(!delivered.text.contains("is waited for until"))
            try await device.carryOutWipes()
            let done = try await browser.get("/console/wipes")
            #expect(done.text.contains("4 of 4: done, receipt verified"))
            #expect(done.text.contains(">Simulated …1234</a>"))
            let own = try await browser.get("/console/wipes?user=oid-worker")
            #expect(!own.text.contains("Wipe requested:"))
            #expect(own.text.contains("The newest wipe is done: the app has removed its data"))
            // Of some of the wipes it cannot be told which is the newest.
            let some = try await browser.get("/console/wipes?user=oid-worker&state=succeeded")
            #expect(some.text.contains("4 of 4: done") && !some.text.contains("The newest wipe is done"))
            let phone = try await browser.get("/console/devices/\(await device.registrationID)")
            #expect(phone.text.contains("Organisation data was removed from this app."))
            for gone in ["Wipe this device…", "newest rules", "In force"] {
                #expect(!phone.text.contains(gone), "\(gone)")
            }
            #expect(phone.text.contains(/href="\/console\/wipes\/[^"]+"/))
        }
    }

    @Test func `the receipt of a wipe is shown with the time of its verification, and is a file to take along`()
        async throws
    {
        let fixture = try await ConsoleFixture()
        _ = try await fixture.publishPolicy()
        try await fixture.test { browser in
            let device = try await browser.enrol("tag-1234")
            try await browser.signIn(ConsoleFixture.ada)
            let administration = fixture.service.administration
            _ = try await administration.requestWipe(
                ofUser: "oid-worker", deviceTag: "tag-1234", as: ConsoleFixture.owner)
            func details() async throws -> Browser.Shown {
                let list = try await browser.get("/console/wipes")
                let link = try #require(list.text.firstMatch(of: /href="(\/console\/wipes\/[^"]+)">Details/)).1
                return try await browser.get(Browser.unescape(link))
            }
            let waiting = try await details()
            #expect(waiting.text.contains("you can cancel it in the list of wipes"))
            #expect(try await browser.get(waiting.path + "?format=jws").status == .notFound)
            try await device.checkIn()
            fixture.clock.advance(by: 3_600)
            try await device.carryOutWipes()
            let page = try await details()
            #expect(page.text.contains("<span class=\"badge good\">signed, verified</span>"))
            #expect(page.text.contains(Moment.text(fixture.clock.now)))
            #expect(page.text.contains("bundleID: \(ConsoleFixture.bundleID)"))
            let link = try #require(page.text.firstMatch(of: /href="([^"]*)"[^>]*>Download the receipt/)).1
            let file = try await browser.get(Browser.unescape(link))
            let wipes = try await administration.operations(ofRegistration: nil, as: ConsoleFixture.owner)
            #expect(file.text == wipes.first?.receipt && !file.text.isEmpty)
            #expect(
                file.headers[.contentDisposition]
                    == "attachment; filename=\"wipe-receipt-tag1234-\(Moment.text(fixture.clock.now).prefix(10)).jws\"")
            #expect(try await browser.get("/console/wipes/none/none").status == .notFound)
        }
    }

    @Test func `on a person's page the safe things come first, and what removes data stands apart at the end`()
        async throws
    {
        let fixture = try await ConsoleFixture()
        _ = try await fixture.publishPolicy()
        try await fixture.test { browser in
            try await browser.enrol("tag-1234")
            try await browser.signIn(ConsoleFixture.ada)
            let page = try await browser.get("/console/people/oid-worker").text
            let parts = page.split(separator: "<h2>Removing data</h2>")
            #expect(parts.count == 2)
            let (first, last) = (try #require(parts.first), try #require(parts.last))
            for link in ["Rules in force", "Export personal data", "Apps and devices"] {
                #expect(first.contains(link) && !last.contains(link), "\(link)")
            }
            for link in ["Wipe a device…", "Wipe everything and block…", "Erase personal data…"] {
                #expect(last.contains(link) && !first.contains(link), "\(link)")
            }
            #expect(!page.contains("class=\"main\""))
        }
    }

    @Test func `who asks nothing gets no verdict, and who leaves out a field is told which`() async throws {
        let fixture = try await ConsoleFixture()
        _ = try await fixture.publishPolicy([
            "displayName": "Notes", "allowedOutboundDataTransferDestinations": "managedApps",
        ])
        try await fixture.test { browser in
            try await browser.signIn(ConsoleFixture.ada)
            let opened = try await browser.get("/console/ask?person=oid-worker").text
            #expect(opened.contains("This is Worker A, who signs in as worker@contoso.example."))
            #expect(!opened.contains("class=\"note"))
            let asked = try await browser.get("/console/ask?person=oid-worker&action=send").text
            #expect(asked.contains("Choose under With which app is meant."))
            #expect(!asked.contains("<p>No.</p>") && !asked.contains("peer is not known"))
            let full = try await browser.get("/console/ask?person=oid-worker&action=send&peer=unmanaged").text
            #expect(full.contains("<p>No.</p>"))
            let stranger = try await browser.get("/console/ask?person=none").text
            #expect(stranger.contains("The directory has no person with this name."))
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
            #expect(page.text.contains("The service asks for a fresh sign-in before a wipe."))
            let number = try #require(page.text.firstMatch(of: /Repeat the number (\d{4})/)).1
            let asked = try await browser.submit(page, to: path, [("number", String(number))])
            #expect(asked.text.contains("Prove that it is you"))
            let none = try await fixture.service.administration.operations(
                ofRegistration: nil, as: ConsoleFixture.owner)
            #expect(none.isEmpty)
            let link = try #require(asked.text.firstMatch(of: /href="(\/console\/sign-in\?fresh=1[^"]*)"/)).1
            let back = try await browser.get(Browser.unescape(link))
            #expect(back.text.contains("tag-1234"))
            #expect(!back.text.contains("The service asks for a fresh sign-in"))
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
                    "Apps that have not confirmed the version yet"))
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
