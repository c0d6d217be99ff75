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

@Suite struct PolicyPageTests {
    @Test func `a policy is made from a baseline, previewed, and published`() async throws {
        let fixture = try await ConsoleFixture()
        try await fixture.test { browser in
            try await browser.signIn(ConsoleFixture.ada)
            let form = try await browser.get("/console/policies/new")
            let made = try await browser.submit(
                form, to: "/console/policies/new", [("name", "Pilot"), ("level", "level2")])
            #expect(made.text.contains("<h1>Pilot</h1>"))
            #expect(made.text.contains("This policy is not assigned yet."))
            #expect(made.text.contains("The policy was made.") && made.text.contains("Version 1"))
            #expect(made.text.contains("It takes effect once it is assigned."))
            let path = made.path
            let apps = try await browser.get(path + "/apps")
            let saved = try await browser.submit(apps, to: path + "/apps", [("apps", ConsoleFixture.bundleID)])
            #expect(saved.text.contains("The apps were saved.") && !saved.text.contains("were published"))
            let groups = try await browser.get(path + "/assignments")
            let preview = try await browser.submit(
                groups, to: path + "/assignments", [("included", ConsoleFixture.group)])
            #expect(preview.text.contains("Who is affected: one person"))
            #expect(preview.text.contains("Worker A"))
            #expect(preview.text.contains("<dt>For</dt><dd><span class=\"one\">Field workers</span>"))
            let published = try await browser.submit(preview, to: path + "/assign")
            #expect(published.path == path)
            #expect(published.text.contains("Field workers"))
            #expect(published.text.contains("The assignment was published.") && published.text.contains("Version 3"))
            #expect(published.text.contains("Apps take it at their next contact: at once where they are open."))
            let editor = try await browser.get(path + "/edit/transfer")
            let change = try await browser.submit(
                editor, to: path + "/preview/transfer", [("s.printBlocked", "true"), ("s.saveAsBlocked", "")])
            #expect(change.text.contains("This gets weaker:"))
            #expect(change.text.contains("Block printing"))
            #expect(change.text.contains("Worker A"))
            let id = try #require(path.split(separator: "/").last.map(String.init))
            let before = try await fixture.service.administration.policy(id, as: ConsoleFixture.owner)
            #expect(before.document["printBlocked"] == false)
            let after = try await browser.submit(change, to: path + "/publish/transfer")
            #expect(after.path == path && after.text.contains("The settings were published."))
            let policy = try await fixture.service.administration.policy(id, as: ConsoleFixture.owner)
            #expect(policy.document["printBlocked"] == true)
            #expect(policy.document["saveAsBlocked"] == false)
        }
    }

    @Test func `what could lock people out, and that a group is only excluded, stand beside the button that publishes`()
        async throws
    {
        let fixture = try await ConsoleFixture()
        try await fixture.test { browser in
            try await browser.signIn(ConsoleFixture.ada)
            let form = try await browser.get("/console/policies/new")
            let made = try await browser.submit(
                form, to: "/console/policies/new", [("name", "Strict"), ("level", "level3")])
            let remark = "devices without a threat-defence connector are blocked"
            #expect(made.text.contains(remark))
            let path = made.path + "/assignments"
            let groups = try await browser.get(path)
            let preview = try await browser.submit(groups, to: path, [("included", ConsoleFixture.group)])
            #expect(preview.text.contains(remark) && preview.text.contains(">Publish<"))
            let excluded = try await browser.submit(groups, to: path, [("excluded", ConsoleFixture.group)])
            #expect(excluded.text.contains("This policy would be for no person"))
            let editor = try await browser.get(made.path + "/edit/access")
            let change = try await browser.submit(
                editor, to: made.path + "/preview/access", [("s.minimumPinLength", "8")])
            #expect(change.text.contains(remark) && change.text.contains(">Publish<"))
        }
    }

    @Test
    func `apps that a lowest version would keep closed are named before it is published, and on the policy's page`()
        async throws
    {
        let fixture = try await ConsoleFixture()
        let id = try await fixture.publishPolicy()
        try await fixture.test { browser in
            let device = try await browser.enrol("1111")
            try await device.checkIn()
            try await browser.signIn(ConsoleFixture.ada)
            let path = "/console/policies/\(id)"
            let warning = "These apps would refuse to open"
            #expect(!(try await browser.get(path).text.contains(warning)))
            func preview(_ limits: [(String, String)]) async throws -> Browser.Shown {
                let editor = try await browser.get(path + "/edit/launch")
                return try await browser.submit(
                    editor, to: path + "/preview/launch", limits.map { ("s.minimumRequired" + $0.0, $0.1) })
            }
            let launch = try await browser.get(path + "/edit/launch").text
            let present = "On devices at present, with the number of apps: "
            #expect(launch.contains("\(present)\(ConsoleFixture.bundleID) 1.0 (1)."), "\(launch)")
            #expect(try await !browser.get(path + "/edit/access").text.contains(present))
            let low = try await preview([("OsVersion", "1.0"), ("AppVersion", "1.0")])
            #expect(!low.text.contains(warning))
            let high = try await preview([("OsVersion", "99.0"), ("AppVersion", "1.0.1")])
            #expect(high.text.contains(warning))
            for refused in ["Lowest system version: refuse below 99.0.", "Lowest app version: refuse below 1.0.1."] {
                #expect(
                    high.text.contains(refused + " On so many devices with \(ConsoleFixture.bundleID) it is "),
                    "\(refused)"
                )
            }
            _ = try await browser.submit(high, to: path + "/publish/launch")
            #expect(try await browser.get(path).text.contains(warning))
            let groups = try await browser.get(path + "/assignments")
            let wider = try await browser.submit(groups, to: path + "/assignments", [("everybody", "true")])
            #expect(wider.text.contains(warning))
            // Of other apps than this one, nothing is known.
            let apps = try await browser.get(path + "/apps")
            let others = try await browser.submit(
                apps, to: path + "/apps", [("apps", "com.example.other")], unticking: ["known"])
            #expect(others.text.contains("Nothing is in force yet.") && !others.text.contains(warning))
            // A set of apps counts beside those that are named.
            let every = try await browser.submit(
                apps, to: path + "/apps", [("set", "allApps"), ("apps", "com.example.other")], unticking: ["known"])
            #expect(every.text.contains("Nothing is in force yet.") && every.text.contains(warning))
        }
    }

    @Test func `other apps of a policy that is assigned are previewed, and a slip of the pen is no app`() async throws {
        let fixture = try await ConsoleFixture()
        let id = try await fixture.publishPolicy()
        try await fixture.test { browser in
            try await browser.enrol("1111")
            try await browser.signIn(ConsoleFixture.ada)
            let path = "/console/policies/\(id)/apps"
            let form = try await browser.get(path)
            let tick = "name=\"known\" value=\"\(ConsoleFixture.bundleID)\" checked"
            #expect(form.text.contains(tick))
            let slip = try await browser.submit(form, to: path, [("apps", "field notes\ncom.example.notes")])
            #expect(slip.text.contains(tick))
            #expect(slip.status == .badRequest && slip.text.contains("These are not bundle ids:"))
            #expect(slip.text.contains(">field notes<") && slip.text.contains("com.example.notes"))
            let preview = try await browser.submit(
                form, to: path, [("apps", "com.example.notes\nCOM.Example.Notes")], unticking: ["known"])
            #expect(preview.text.contains("Nothing is in force yet."))
            #expect(preview.text.contains("<dt>Apps on devices whose rules change</dt><dd>1</dd>"))
            let before = try await fixture.service.administration.policy(id, as: ConsoleFixture.owner)
            #expect(before.apps.map(\.value) == [ConsoleFixture.bundleID])
            let after = try await browser.submit(preview, to: path)
            #expect(after.path == "/console/policies/\(id)" && after.text.contains("The apps were published."))
            let policy = try await fixture.service.administration.policy(id, as: ConsoleFixture.owner)
            #expect(policy.apps.map(\.value) == ["com.example.notes"])
            // What people use is offered, so it need not be typed.
            let again = try await browser.get(path)
            let both = try await browser.submit(again, to: path, [("known", ConsoleFixture.bundleID)])
            _ = try await browser.submit(both, to: path)
            let last = try await fixture.service.administration.policy(id, as: ConsoleFixture.owner)
            #expect(Set(last.apps.map(\.value)) == ["com.example.notes", ConsoleFixture.bundleID])
        }
    }

    @Test func `what differs between versions is told by the names of groups and apps`() async throws {
        let fixture = try await ConsoleFixture()
        let id = try await fixture.publishPolicy()
        try await fixture.test { browser in
            try await browser.signIn(ConsoleFixture.ada)
            let history = try await browser.get("/console/policies/\(id)/history")
            let first = try #require(
                history.text.matches(of: /href="(\/console\/policies\/[^"]+\/history\/[^"]+)"/).last)
            let comparison = try await browser.get(String(first.1))
            #expect(comparison.text.contains("Field workers") && comparison.text.contains(ConsoleFixture.bundleID))
            #expect(!comparison.text.contains("odata"))
        }
    }

    @Test func `a person whose app has earlier rules is not said to have the newest`() async throws {
        let fixture = try await ConsoleFixture()
        let id = try await fixture.publishPolicy()
        try await fixture.test { browser in
            let device = try await browser.enrol("1111")
            for _ in 0..<2 { _ = try await device.checkIn() }
            try await browser.signIn(ConsoleFixture.ada)
            let path = "/console/people/\(ConsoleFixture.worker.id)"
            #expect(try await browser.get(path).text.contains("Protected: the newest rules are in force."))
            _ = try await fixture.service.administration.updatePolicy(
                id, changes: ["printBlocked": true], ifVersion: nil, as: ConsoleFixture.owner)
            try await fixture.service.finishAnnouncing(of: ConsoleFixture.tenant)
            let late = try await browser.get(path)
            #expect(late.text.contains("Protected by earlier rules.") && late.text.contains("1111"))
            for _ in 0..<2 { _ = try await device.checkIn() }
            #expect(try await browser.get(path).text.contains("Protected: the newest rules are in force."))
        }
    }

    @Test func `an alert says what happened, to what, and by whom`() async throws {
        let fixture = try await ConsoleFixture()
        let id = try await fixture.publishPolicy()
        try await fixture.test { browser in
            try await browser.enrol("1111")
            try await browser.signIn(ConsoleFixture.ada)
            var fresh = ConsoleFixture.owner
            fresh.call.hasFreshSignIn = true
            _ = try await fixture.service.administration.updatePolicy(
                id, changes: ["appActionIfDeviceComplianceRequired": "wipe"], ifVersion: nil, as: fresh)
            let alerts = try await browser.get("/console/reports/alerts")
            #expect(alerts.text.contains("A change of a policy can remove data"))
            #expect(alerts.text.contains("href=\"/console/policies/\(id)\""))
        }
    }

    @Test func `the second of two administrators is told, and nothing is overwritten`() async throws {
        let fixture = try await ConsoleFixture()
        let id = try await fixture.publishPolicy()
        try await fixture.test { browser in
            try await browser.signIn(ConsoleFixture.ada)
            let path = "/console/policies/\(id)"
            let editor = try await browser.get(path + "/edit/transfer")
            let preview = try await browser.submit(editor, to: path + "/preview/transfer", [("s.printBlocked", "true")])
            _ = try await fixture.service.administration.updatePolicy(
                id, changes: ["contactSyncBlocked": true], ifVersion: nil, as: ConsoleFixture.owner)
            let told = try await browser.submit(preview, to: path + "/publish/transfer")
            #expect(told.status == .conflict)
            #expect(told.text.contains("Another administrator changed this policy while you did."))
            let kept = try await fixture.service.administration.policy(id, as: ConsoleFixture.owner)
            #expect(kept.document["contactSyncBlocked"] == true)
            #expect(kept.document["printBlocked"] == false)
            // Who has seen the other's change may go on.
            let again = try await browser.submit(told, to: path + "/publish/transfer")
            #expect(again.path == path)
            let after = try await fixture.service.administration.policy(id, as: ConsoleFixture.owner)
            #expect(after.document["printBlocked"] == true)
        }
    }

    @Test func `every invalid value is reported beside its field, and the rest of the input stays`() async throws {
        let fixture = try await ConsoleFixture()
        let id = try await fixture.publishPolicy()
        try await fixture.test { browser in
            try await browser.signIn(ConsoleFixture.ada)
            let path = "/console/policies/\(id)"
            let editor = try await browser.get(path + "/edit/access")
            let page = try await browser.submit(
                editor, to: path + "/preview/access",
                [
                    ("s.minimumPinLength", "900"), ("s.maximumPinRetries", "many"), ("s.periodBeforePinReset", "soon"),
                    ("s.simplePinBlocked", "true"),
                ])
            #expect(editor.text.contains("From 0 to 128."))
            #expect(page.status == .badRequest)
            #expect(page.text.contains("Nothing was changed: 3 values cannot be used."))
            #expect(page.text.contains("900 is out of range (0 to 128)"))
            #expect(page.text.contains("value=\"many\"") && page.text.contains("value=\"soon\""))
            #expect(page.text.matches(of: /class="field wrong/).count == 3)
            #expect(page.text.contains(/name="s.simplePinBlocked" value="true" checked/))
        }
    }

    @Test func `a policy is made again from the JSON of its export, without its assignments`() async throws {
        let fixture = try await ConsoleFixture()
        let id = try await fixture.publishPolicy(["displayName": "Notes", "printBlocked": true])
        try await fixture.test { browser in
            try await browser.signIn(ConsoleFixture.ada)
            let export = try await browser.get("/console/policies/\(id)/export")
            #expect(export.headers[.contentDisposition] == "attachment; filename=\"policy.json\"")
            let renamed = export.text.replacing("\"Notes\"", with: "\"Notes again\"")
            let made = try await browser.post("/console/policies/import", [("json", renamed)])
            #expect(made.text.contains("<h1>Notes again</h1>"))
            #expect(made.text.contains("This policy is not assigned yet."))
            let policies = try await fixture.service.administration.policies(
                of: [.iosManagedAppProtection], as: ConsoleFixture.owner)
            let copy = try #require(policies.first { $0.id != id })
            #expect(copy.document["printBlocked"] == true)
            #expect(copy.assignments.isEmpty)
            for text in ["", "[]", "{}", "{\"@odata.type\": \"#microsoft.graph.user\"}"] {
                #expect(try await browser.post("/console/policies/import", [("json", text)]).status == .badRequest)
            }
        }
    }

    @Test func `the reach of a deletion or of an earlier version is counted by its preview, not by a link`()
        async throws
    {
        let fixture = try await ConsoleFixture()
        let id = try await fixture.publishPolicy(["displayName": "Notes", "printBlocked": true])
        _ = try await fixture.service.administration.updatePolicy(
            id, changes: ["printBlocked": false], ifVersion: nil, as: ConsoleFixture.owner)
        try await fixture.test { browser in
            try await browser.signIn(ConsoleFixture.ada)
            let path = "/console/policies/\(id)"
            let history = try await browser.get(path + "/history")
            #expect(history.text.contains(">ada@contoso.example<"))
            let versions = history.text.matches(of: /href="(\/console\/policies\/[^"]+\/history\/[^"]+)"/).map {
                String($0.1)
            }
            let earlier = try #require(versions.first)
            let comparison = try await browser.get(earlier)
            #expect(comparison.text.contains("Block printing") && !comparison.text.contains("Who is affected"))
            let preview = try await browser.submit(comparison, to: earlier + "/preview")
            #expect(preview.text.contains("Who is affected: one person"))
            let back = try await browser.submit(preview, to: earlier)
            #expect(back.path == path && back.text.contains("The earlier version was put back, as a new version."))
            let policy = try await fixture.service.administration.policy(id, as: ConsoleFixture.owner)
            #expect(policy.document["printBlocked"] == true)
            let question = try await browser.get(path + "/delete")
            #expect(!question.text.contains("loses this policy"))
            let answer = try await browser.submit(question, to: path + "/delete/preview")
            #expect(answer.text.contains("One person loses this policy."))
            #expect(try await browser.submit(answer, to: path + "/delete").path == "/console/policies")
            let left = try await fixture.service.administration.policies(
                of: [.iosManagedAppProtection], as: ConsoleFixture.owner)
            #expect(left.isEmpty)
        }
    }

    @Test func `the list of policies says who changed each of them last`() async throws {
        let fixture = try await ConsoleFixture()
        let id = try await fixture.publishPolicy(["displayName": "Notes"])
        let hedy = Administrator(
            tenant: ConsoleFixture.tenant, id: ConsoleFixture.hedy.id, name: "H", roles: [.policyAdministrator])
        let other = try await fixture.service.administration.createPolicy(
            .iosManagedAppProtection, document: ["displayName": "Other"], as: ConsoleFixture.owner)
        _ = try await fixture.service.administration.updatePolicy(
            other.id, changes: ["printBlocked": true], ifVersion: nil, as: hedy)
        // Of what an earlier service wrote, no version says who it was.
        let now = fixture.clock.now
        try await fixture.storage.write(ConsoleFixture.tenant) { transaction in
            try transaction.save(
                ManagedAppPolicy(
                    id: "T_before", kind: .iosManagedAppProtection, version: "v1", created: now, modified: now,
                    document: ["displayName": "Before"]))
        }
        try await fixture.test { browser in
            try await browser.signIn(ConsoleFixture.ada)
            let list = try await browser.get("/console/policies")
            let authors = list.text.matches(of: />by ([^<]*)<\/span>/).map { String($0.1) }
            #expect(authors == ["not known", "ada@contoso.example", "hedy@contoso.example"])
            #expect(list.text.contains(id))
        }
    }

    @Test func `a version that is not kept, and one of a policy that is gone, are not there`() async throws {
        let fixture = try await ConsoleFixture()
        let id = try await fixture.publishPolicy()
        let administration = fixture.service.administration
        let first = try await administration.policy(id, as: ConsoleFixture.owner).version
        _ = try await administration.updatePolicy(
            id, changes: ["printBlocked": true], ifVersion: nil, as: ConsoleFixture.owner)
        try await fixture.test { browser in
            try await browser.signIn(ConsoleFixture.ada)
            let path = "/console/policies/\(id)/history/"
            #expect(try await browser.get(path + first).text.contains("What changes"))
            let none = try await browser.get(path + "none")
            #expect(none.status == .notFound && none.text.contains("There is nothing here"))
            try await administration.deletePolicy(id, ifVersion: nil, as: ConsoleFixture.owner)
            let gone = try await browser.get(path + first)
            #expect(gone.status == .notFound && gone.text.contains("The policy was deleted"))
        }
    }

    @Test func `a policy for everyone is published after its preview, and says whom it reaches`() async throws {
        let fixture = try await ConsoleFixture()
        try await fixture.test { browser in
            try await browser.signIn(ConsoleFixture.ada)
            let form = try await browser.get("/console/policies/new?for=everyone")
            let preview = try await browser.submit(
                form, to: "/console/policies/new", [("name", "Everyone"), ("level", "level1")])
            #expect(preview.text.contains("This reaches every person whom no other policy reaches"))
            func policies() async throws -> [ManagedAppPolicy] {
                try await fixture.service.administration.policies(
                    of: [.defaultManagedAppProtection], as: ConsoleFixture.owner)
            }
            #expect(try await policies().isEmpty)
            let page = try await browser.submit(preview, to: "/console/policies/new")
            #expect(page.text.contains("everyone without another policy") && page.text.contains("every app"))
            #expect(!page.text.contains("not assigned") && !page.text.contains("/assignments"))
            #expect(!page.text.contains("Make a copy"))
            #expect(try await policies().map(\.document["displayName"]) == ["Everyone"])
            let list = try await browser.get("/console/policies")
            #expect(list.text.contains("everyone without another policy") && !list.text.contains("not assigned"))
        }
    }

    @Test func `a policy for everyone that comes as JSON is published after its preview`() async throws {
        let fixture = try await ConsoleFixture()
        try await fixture.test { browser in
            try await browser.signIn(ConsoleFixture.ada)
            func policies() async throws -> [ManagedAppPolicy] {
                try await fixture.service.administration.policies(
                    of: [.defaultManagedAppProtection], as: ConsoleFixture.owner)
            }
            let json =
                ##"{"@odata.type": "#microsoft.graph.defaultManagedAppProtection", "displayName": "From a file"}"##
            let form = try await browser.get("/console/policies/import")
            let preview = try await browser.submit(form, to: "/console/policies/import", [("json", json)])
            #expect(preview.text.contains("This reaches every person whom no other policy reaches"))
            #expect(try await policies().isEmpty)
            let page = try await browser.submit(preview, to: "/console/policies/import")
            #expect(page.text.contains("everyone without another policy"))
            #expect(try await policies().map(\.document["displayName"]) == ["From a file"])
        }
    }

    @Test func `a policy for everyone that the service refuses has no preview, and so counts no one`() async throws {
        try await ConsoleFixture().test { browser in
            try await browser.signIn(ConsoleFixture.ada)
            let json =
                ##"{"@odata.type": "#microsoft.graph.defaultManagedAppProtection", "displayName": "A", "minimumPinLength": "x"}"##
            let page = try await browser.post("/console/policies/import", [("json", json)])
            #expect(page.status == .badRequest && page.text.contains("&quot;minimumPinLength&quot;"))
            #expect(!page.text.contains("get these rules now"))
        }
    }

    @Test func `a description keeps its line breaks when a setting is changed`() async throws {
        let fixture = try await ConsoleFixture()
        let id = try await fixture.publishPolicy(["displayName": "Notes", "description": "One\nTwo"])
        try await fixture.test { browser in
            try await browser.signIn(ConsoleFixture.ada)
            let path = "/console/policies/\(id)"
            let editor = try await browser.get(path + "/edit/transfer")
            // What a browser sends of a field of one line.
            let preview = try await browser.submit(
                editor, to: path + "/preview/transfer", [("description", "OneTwo"), ("s.printBlocked", "true")])
            #expect(try await browser.submit(preview, to: path + "/publish/transfer").path == path)
            let policy = try await fixture.service.administration.policy(id, as: ConsoleFixture.owner)
            #expect(policy.document["printBlocked"] == true && policy.document["description"] == "One\nTwo")
        }
    }

    @Test func `no form runs what was filled in`() async throws {
        let hostile = "\"><script>alert(1)</script><img src=x onerror=alert(1)>{{csrf}}'`\u{301}<\u{338}b"
        let fixture = try await ConsoleFixture(workerName: hostile)
        let id = try await fixture.publishPolicy([
            "displayName": .string("P " + hostile), "description": .string(hostile),
        ])
        try await fixture.test { browser in
            try await browser.signIn(ConsoleFixture.ada)
            var pages: [Browser.Shown] = []
            let encoded = hostile.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
            for path in [
                "/console", "/console/policies", "/console/policies?search=\(encoded)", "/console/policies/\(id)",
                "/console/policies/\(id)/edit/transfer", "/console/policies/\(id)/apps",
                "/console/policies/\(id)/assignments",
                "/console/people?search=\(encoded)", "/console/people", "/console/people/oid-worker",
                "/console/people/oid-worker/wipe?tag=\(encoded)",
                "/console/people/oid-worker/block",
                "/console/ask?person=oid-worker&app=\(encoded)&action=\(encoded)&place=\(encoded)&url=\(encoded)",
                "/console/ask?person=\(encoded)", "/console/audit?what=\(encoded)", "/console/reports/wipes",
                "/console/wipes?user=\(encoded)",
                "/console/\(encoded)", "/console/roles/\(encoded)", "/console/devices", "/console/service",
            ] { pages.append(try await browser.get(path)) }
            let fields = [
                "name", "description", "apps", "set", "rule", "add", "members", "permissions", "tags", "key.0",
                "value.0", "number", "tag", "s.managedBrowser", "s.customDialerAppProtocol", "s.exemptedUniversalLinks",
                "included", "json",
            ]
            .map { (key: $0, value: hostile) }
            for path in [
                "/console/policies/new", "/console/policies/\(id)/preview/transfer",
                "/console/policies/\(id)/edit/transfer", "/console/policies/\(id)/apps",
                "/console/policies/\(id)/assignments", "/console/configurations/new", "/console/roles/new",
                "/console/service/filters/new",
                "/console/service/accounts", "/console/people/oid-worker/wipe", "/console/policies/import",
            ] { pages.append(try await browser.post(path, fields)) }
            for path in ["/console/configurations", "/console/roles", "/console/service"] {
                pages.append(try await browser.get(path))
            }
            for page in pages {
                #expect(!page.text.contains("<script>"), "\(page.path)")
                #expect(
                    !page.text.unicodeScalars.split(separator: "<").contains {
                        String(String.UnicodeScalarView($0)).hasPrefix("img")
                    }, "\(page.path)")
                #expect(page.status.code < 500, "\(page.path): \(page.status)")
            }
            // The names did reach the pages.
            #expect(pages.contains { $0.text.contains("&lt;script&gt;alert(1)&lt;/script&gt;") })
        }
    }
}
