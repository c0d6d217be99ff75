import CordonPolicy
import CordonService
import Foundation
import HTTPTypes
import Testing

@Suite struct ConfigurationPageTests {
    private func make(_ pairs: [JSONValue], in fixture: ConsoleFixture) async throws -> String {
        try await fixture.service.administration.createPolicy(
            .targetedManagedAppConfiguration, document: ["displayName": "Server", "customSettings": .array(pairs)],
            as: ConsoleFixture.owner
        ).id
    }

    @Test func `what the form of a configuration cannot show stays when something else is changed`() async throws {
        let fixture = try await ConsoleFixture()
        let pairs =
            [["name": "text", "value": " a\nb "], ["name": "token_url", "value": "x", "isSecret": false]]
            + (0..<101).map { ["name": .string("k\($0)"), "value": .string("v\($0)")] as JSONValue }
        let id = try await make(pairs, in: fixture)
        try await fixture.test { browser in
            try await browser.signIn(ConsoleFixture.ada)
            let path = "/console/configurations/\(id)"
            let form = try await browser.get(path)
            #expect(form.text.contains("Values beyond these rows are kept"))
            // What a browser sends of a field of one line.
            let saved = try await browser.submit(form, to: path, [("name", "Servers"), ("value.0", "ab")])
            #expect(saved.path == path && saved.status == .ok)
            let kept = try await fixture.service.administration.policy(id, as: ConsoleFixture.owner)
            #expect(kept.document["displayName"] == "Servers")
            #expect(kept.document["customSettings"] == .array(pairs))
            let changed = try await browser.submit(saved, to: path, [("value.0", "abc")])
            #expect(changed.status == .ok)
            let after = try await fixture.service.administration.policy(id, as: ConsoleFixture.owner)
            #expect(after.document["customSettings"]?.array?.first?["value"] == "abc")
        }
    }

    @Test func `the apps of every platform stay when those of a configuration are saved`() async throws {
        let fixture = try await ConsoleFixture()
        let id = try await make([["name": "a", "value": "b"]], in: fixture)
        let apps = [
            MobileAppIdentifier(.ios, ConsoleFixture.bundleID), MobileAppIdentifier(.android, "com.contoso.droid"),
        ]
        _ = try await fixture.service.administration.targetApps(
            apps, group: nil, ofPolicy: id, as: ConsoleFixture.owner)
        try await fixture.test { browser in
            try await browser.signIn(ConsoleFixture.ada)
            let path = "/console/policies/\(id)/apps"
            let form = try await browser.get(path)
            let lines = "\(ConsoleFixture.bundleID)\r\ncom.contoso.droid\r\ncom.contoso.new"
            let saved = try await browser.submit(form, to: path, [("apps", lines)])
            #expect(saved.path == "/console/configurations/\(id)")
            let kept = try await fixture.service.administration.policy(id, as: ConsoleFixture.owner)
            #expect(Set(kept.apps) == Set(apps + [MobileAppIdentifier(.ios, "com.contoso.new")]))
            let again = try await browser.submit(try await browser.get(path), to: path)
            #expect(again.path == "/console/configurations/\(id)")
            let same = try await fixture.service.administration.policy(id, as: ConsoleFixture.owner)
            #expect(Set(same.apps) == Set(kept.apps))
        }
    }
}
