import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonService
import CordonTestSupport
import CordonTesting
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
        _ = try await fixture.service.administration.updatePolicy(
            id, changes: ["description": "One\nTwo"], ifVersion: nil, as: ConsoleFixture.owner)
        try await fixture.test { browser in
            try await browser.signIn(ConsoleFixture.ada)
            let path = "/console/configurations/\(id)"
            let form = try await browser.get(path)
            #expect(form.text.contains("Values beyond these rows are kept"))
            // What a browser sends of a field of one line.
            let saved = try await browser.submit(
                form, to: path, [("name", "Servers"), ("description", "OneTwo"), ("value.0", "ab")])
            #expect(saved.path == path && saved.status == .ok)
            let kept = try await fixture.service.administration.policy(id, as: ConsoleFixture.owner)
            #expect(kept.document["displayName"] == "Servers" && kept.document["description"] == "One\nTwo")
            #expect(kept.document["customSettings"] == .array(pairs))
            let changed = try await browser.submit(saved, to: path, [("value.0", "abc")])
            #expect(changed.status == .ok)
            let after = try await fixture.service.administration.policy(id, as: ConsoleFixture.owner)
            #expect(after.document["customSettings"]?.array?.first?["value"] == "abc")
        }
    }

    @Test func `a form that is filled in again after a sign-in does not overwrite what another administrator saved`()
        async throws
    {
        let fixture = try await ConsoleFixture()
        let id = try await make([["name": "a", "value": "b"]], in: fixture)
        try await fixture.test { browser in
            try await browser.signIn(ConsoleFixture.ada)
            let path = "/console/configurations/\(id)"
            let form = try await browser.get(path)
            fixture.clock.advance(by: 901)
            let ended = try await browser.submit(form, to: path, [("value.0", "mine")])
            let theirs: JSONValue = [["name": "a", "value": "theirs"]]
            _ = try await fixture.service.administration.updatePolicy(
                id, changes: ["customSettings": theirs], ifVersion: nil, as: ConsoleFixture.owner)
            let link = try #require(ended.text.firstMatch(of: /href="(\/console\/sign-in[^"]*)"/)).1
            let again = try await browser.get(Browser.unescape(link))
            #expect(again.text.contains("value=\"mine\""))
            let told = try await browser.submit(again, to: path)
            #expect(told.status == .conflict && told.text.contains("a = theirs"))
            let kept = try await fixture.service.administration.policy(id, as: ConsoleFixture.owner)
            #expect(kept.document["customSettings"] == theirs)
        }
    }

    private static func secret(_ name: String, _ value: String) -> JSONValue {
        ["name": .string(name), "value": .string(value), "isSecret": true]
    }

    @Test func `a secret that is left empty goes with its row to another key, whatever else is renamed or removed`()
        async throws
    {
        let fixture = try await ConsoleFixture()
        let id = try await make([Self.secret("a", "of a"), Self.secret("b", "of b")], in: fixture)
        try await fixture.test { browser in
            try await browser.signIn(ConsoleFixture.ada)
            let path = "/console/configurations/\(id)"
            func saved() async throws -> JSONValue? {
                try await fixture.service.administration.policy(id, as: ConsoleFixture.owner)
                    .document["customSettings"]
            }
            let renamed = try await browser.submit(
                try await browser.get(path), to: path, [("key.0", "b"), ("key.1", "c")])
            #expect(renamed.status == .ok)
            #expect(try await saved() == [Self.secret("b", "of a"), Self.secret("c", "of b")])
            // Another administrator takes a row away meanwhile, so that the others have other numbers.
            let theirs = [Self.secret("c", "of b"), Self.secret("token", "of token")]
            _ = try await fixture.service.administration.updatePolicy(
                id, changes: ["customSettings": .array(theirs)], ifVersion: nil, as: ConsoleFixture.owner)
            let told = try await browser.submit(renamed, to: path, [("key.1", "phrase")])
            #expect(told.status == .conflict)
            // Nothing was typed for the row that is gone, so it stays gone.
            #expect(try await browser.submit(told, to: path, []).status == .ok)
            #expect(try await saved()?.array == [Self.secret("phrase", "of b")])
        }
    }

    @Test func `a configuration leads to what the reader's role may do with it`() async throws {
        let fixture = try await ConsoleFixture()
        let id = try await make([["name": "a", "value": "b"]], in: fixture)
        let writer = CustomRole(
            id: "writer", displayName: "Writer", permissions: [.read, .writePolicies], members: ["user:oid-eve"])
        try await fixture.storage.write(ConsoleFixture.tenant) { try $0.save(writer) }
        try await fixture.test { browser in
            for (person, leads) in [(ConsoleFixture.eve, false), (ConsoleFixture.ada, true)] {
                try await browser.signIn(person, at: "/console/sign-in?fresh=1")
                let page = try await browser.get("/console/configurations/\(id)")
                #expect(page.text.contains(">Save</button>"))
                for step in ["apps", "assignments", "delete"] {
                    #expect(page.text.contains("/console/policies/\(id)/\(step)\"") == leads, "\(step)")
                }
            }
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

    @Test func `default values are those of the policy for everyone, and reach the apps of people with other policies`()
        async throws
    {
        let fixture = try await ConsoleFixture()
        _ = try await fixture.publishPolicy()
        try await fixture.test { browser in
            try await browser.signIn(ConsoleFixture.ada)
            let list = "/console/configurations/defaults"
            let tab = try await browser.get("/console/configurations")
            #expect(tab.text.contains("href=\"\(list)\">For everyone"))
            let empty = try await browser.get(list)
            #expect(empty.text.contains("aria-current=\"page\">For everyone"))
            #expect(empty.text.contains("href=\"/console/policies/new?for=everyone\""))
            let policy = try await fixture.service.administration.createPolicy(
                .defaultManagedAppProtection,
                document: [
                    "displayName": "Everyone", "printBlocked": true,
                    "customSettings": [["name": "api_key", "value": "hush", "isSecret": true]],
                ], as: ConsoleFixture.owner)
            #expect(try await browser.get(list).text.contains("\(list)/\(policy.id)"))
            let path = "\(list)/\(policy.id)"
            let form = try await browser.get(path)
            #expect(!form.text.contains("hush") && form.text.contains("A secret is set."))
            #expect(!form.text.contains("name=\"name\""))
            let saved = try await browser.submit(
                form, to: path, [("key.1", "server"), ("value.1", "https://{{userid}}.contoso.example")])
            #expect(saved.path == path)
            let kept = try await fixture.service.administration.policy(policy.id, as: ConsoleFixture.owner)
            #expect(
                kept.document["customSettings"] == [
                    ["name": "api_key", "value": "hush", "isSecret": true],
                    ["name": "server", "value": "https://{{userid}}.contoso.example"],
                ])
            #expect(kept.document["displayName"] == "Everyone" && kept.document["printBlocked"] == true)
            let shown = try await browser.get(path + "?person=worker@contoso.example")
            #expect(shown.text.contains("https://oid-worker.contoso.example"))
            // The second of two administrators is told here too.
            let late = try await browser.submit(form, to: path, [("key.1", "server"), ("value.1", "x")])
            #expect(late.status == .conflict && late.text.contains("Nothing was overwritten."))
            let device = try await browser.enrol("tag-1234")
            let values = await device.envelope?.configurations.first { $0["__IsDefault"] == true }
            #expect(values?["server"] == "https://oid-worker.contoso.example")
            #expect(try await browser.get(list + "/none").status == .notFound)
        }
    }
}
