import CordonPolicy
import CordonService
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
}
