import CordonPolicy
import CordonService
import CordonTesting
import Foundation
import HTTPTypes
import Testing

/// What a person may ask of the organisation about themselves (SRV-UI-13).
@Suite struct PersonalDataPageTests {
    @Test func `who erases a person whose app is enrolled is told what comes first, and nothing is erased`()
        async throws
    {
        let fixture = try await ConsoleFixture()
        _ = try await fixture.publishPolicy()
        try await fixture.test { browser in
            let registration = try await browser.enrol("tag-1234").registrationID
            try await browser.signIn(ConsoleFixture.ada)
            let path = "/console/people/oid-worker/erase"
            let told = try await browser.submit(try await browser.get(path), to: path, unticking: ["wipe"])
            #expect(told.status == .conflict)
            #expect(told.text.contains("Apps of this person still hold organisation data, or are being wiped."))
            #expect(!told.text.contains("name=\"wipe\" value=\"true\" checked"))
            #expect(try await browser.get("/console/people/oid-worker").status == .ok)
            // With a wipe first, it waits for the wipe.
            let wiping = try await browser.submit(told, to: path, [("wipe", "true")])
            #expect(wiping.path == "/console/wipes?user=oid-worker" && wiping.text.contains("1 of 4: requested"))
            let waits = try await browser.submit(try await browser.get(path), to: path, unticking: ["wipe"])
            #expect(waits.status == .conflict && waits.text.contains("Wait for the wipes"))
            let forget = "/console/devices/\(registration)/forget"
            _ = try await browser.submit(try await browser.get(forget), to: forget)
            let erased = try await browser.submit(try await browser.get(path), to: path, unticking: ["wipe"])
            #expect(erased.path == "/console/people" && !erased.text.contains("Worker A"))
            #expect(try await browser.get("/console/people/oid-worker").status == .notFound)
        }
    }

    @Test func `what is kept about a person is a file to download`() async throws {
        let fixture = try await ConsoleFixture()
        _ = try await fixture.publishPolicy()
        try await fixture.test { browser in
            try await browser.enrol("tag-1234")
            try await browser.signIn(ConsoleFixture.ada)
            let file = try await browser.get("/console/people/oid-worker/data")
            #expect(file.headers[.contentDisposition] == "attachment; filename=\"person.json\"")
            let data = try JSONValue(parsing: Data(file.text.utf8))
            #expect(data["registrations"]?.array?.count == 1)
            // Who may not have it is told why, as the route says it.
            let desk = Browser(client: browser.client, fixture: fixture)
            let refused = try await desk.signIn(ConsoleFixture.hedy, at: "/console/people/oid-worker/data")
            #expect(refused.status == .forbidden && !refused.text.contains("The service refused this."))
        }
    }
}
