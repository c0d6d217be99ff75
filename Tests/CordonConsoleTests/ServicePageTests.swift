import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonService
import CordonTestSupport
import Foundation
import HTTPTypes
import Testing

@Suite struct ServicePageTests {
    @Test func `an app of the catalogue and a scope tag are made, changed and offered where they are named`()
        async throws
    {
        let fixture = try await ConsoleFixture()
        let id = try await fixture.publishPolicy()
        try await fixture.test { browser in
            try await browser.signIn(ConsoleFixture.ada)
            let made = try await browser.post(
                "/console/service/catalogue/new",
                [("name", "Notes"), ("bundle", "com.contoso.notes"), ("own", "true"), ("publisher", "Contoso")])
            #expect(made.path == "/console/service/catalogue")
            #expect(made.text.contains("com.contoso.notes"))
            let link = try #require(made.text.firstMatch(of: /href="(\/console\/service\/catalogue\/[^"]+)">Notes/)).1
            let edit = try await browser.get(String(link))
            let renamed = try await browser.submit(edit, to: String(link), [("name", "Field notes")])
            #expect(renamed.text.contains("Field notes"))
            let apps = try await browser.get("/console/policies/\(id)/apps")
            #expect(apps.text.contains("Field notes"))
            let again = try await browser.post(
                "/console/service/catalogue/new", [("name", "Notes"), ("bundle", "com.contoso.notes")])
            #expect(again.status == .badRequest)

            let tags = try await browser.post("/console/service/tags/new", [("name", "North")])
            #expect(tags.text.contains(">North</a>"))
            let tag = try #require(tags.text.firstMatch(of: /(?s)North<\/a>.*?<code>([^<]+)<\/code>/)).1
            #expect(try await browser.get("/console/roles/new").text.contains("North"))
            let editor = try await browser.get("/console/policies/\(id)/edit/transfer")
            #expect(editor.text.contains("North"))
            let preview = try await browser.submit(
                editor, to: "/console/policies/\(id)/preview/transfer", [("tags", String(tag))])
            _ = try await browser.submit(preview, to: "/console/policies/\(id)/publish/transfer")
            let policy = try await fixture.service.administration.policy(id, as: ConsoleFixture.owner)
            #expect(policy.document["roleScopeTagIds"] == [.string(String(tag))])
            let bare = try await browser.submit(
                try await browser.get("/console/policies/\(id)/edit/transfer"),
                to: "/console/policies/\(id)/preview/transfer", unticking: ["tags"])
            _ = try await browser.submit(bare, to: "/console/policies/\(id)/publish/transfer")
            let after = try await fixture.service.administration.policy(id, as: ConsoleFixture.owner)
            #expect(after.document["roleScopeTagIds"]?.array?.contains(.string(String(tag))) != true)
        }
    }

    @Test
    func `the help desk reads what it may not change, and is offered neither the audit nor a button that is refused`()
        async throws
    {
        let fixture = try await ConsoleFixture()
        try await fixture.test { browser in
            try await browser.signIn(ConsoleFixture.ada)
            let app = try await browser.post(
                "/console/service/catalogue/new", [("name", "Notes"), ("bundle", "com.contoso.notes")])
            let entry = try #require(app.text.firstMatch(of: /href="(\/console\/service\/catalogue\/[^"]+)">Notes/)).1
            let filter = try await browser.post(
                "/console/service/filters/new", [("name", "New"), ("rule", "(app.appVersion -startsWith \"1\")")])
            let configuration = try await browser.post(
                "/console/configurations/new", [("name", "Server"), ("key.0", "address"), ("value.0", "x")])
            let pages = [String(entry), filter.path, configuration.path]
            for path in pages { #expect(try await browser.get(path).text.contains(">Save"), "\(path)") }
            let other = Browser(client: browser.client, fixture: fixture)
            try await other.signIn(ConsoleFixture.hedy)
            for path in pages {
                let page = try await other.get(path)
                #expect(page.status == .ok && page.text.contains("<fieldset class=\"locked\" disabled>"), "\(path)")
                #expect(!page.text.contains(">Save"), "\(path)")
            }
            #expect(try await other.get("/console/roles/new").status == .forbidden)
            let menu = try await other.get("/console").text
            #expect(menu.contains("href=\"/console/wipes\"") && !menu.contains("href=\"/console/audit\""))
        }
    }

    @Test
    func `who saves an app, a tag or a filter that another changed meanwhile is told, and nothing is overwritten`()
        async throws
    {
        let fixture = try await ConsoleFixture()
        let (administration, owner, now) = (fixture.service.administration, ConsoleFixture.owner, fixture.clock.now)
        @Sendable func save(_ name: String, isNew: Bool) async throws {
            try await administration.saveResource(
                CatalogueApp(bundleID: "com.contoso.notes", displayName: name), isNew: isNew, as: owner)
            try await administration.saveResource(ScopeTag(id: "north", displayName: name), isNew: isNew, as: owner)
            try await administration.saveResource(
                AssignmentFilter(
                    id: "phones", displayName: name, rule: "(app.appVersion -startsWith \"1\")", created: now,
                    modified: now), isNew: isNew, as: owner)
        }
        try await save("First", isNew: true)
        try await fixture.test { browser in
            try await browser.signIn(ConsoleFixture.ada)
            let paths = ["catalogue/com.contoso.notes", "tags/north", "filters/phones"].map { "/console/service/" + $0 }
            var forms: [Browser.Shown] = []
            for path in paths { forms.append(try await browser.get(path)) }
            try await save("Theirs", isNew: false)
            for (path, form) in zip(paths, forms) {
                let told = try await browser.submit(form, to: path, [("name", "Mine")])
                #expect(told.status == .conflict, "\(path)")
                #expect(told.text.contains("Another administrator changed this while you did."), "\(path)")
                #expect(told.text.contains("value=\"Mine\"") && told.text.contains("Theirs"), "\(path)")
                // A request that does not say what it was made from changes nothing either.
                let bare = try await browser.post(path, [("name", "Mine"), ("rule", "(app.appVersion -eq \"1\")")])
                #expect(bare.status == .conflict, "\(path)")
                #expect(try await browser.get(path).text.contains("<h1>Theirs</h1>"), "\(path)")
                // Sent again by who was told, it counts.
                _ = try await browser.submit(told, to: path)
                #expect(try await browser.get(path).text.contains("<h1>Mine</h1>"), "\(path)")
            }
        }
    }

    @Test func `members of roles and allowed accounts are typed as sign-in names`() async throws {
        let fixture = try await ConsoleFixture()
        try await fixture.test { browser in
            try await browser.signIn(ConsoleFixture.ada)
            let fields = [(key: "name", value: "Desk"), (key: "permissions", value: "read")]
            let roles = try await browser.post(
                "/console/roles/new", fields + [("members", "worker@contoso.example\nG-1\nteam@contoso.example")])
            #expect(roles.text.contains("<a href=\"/console/people/oid-worker\">Worker A</a>"))
            #expect(roles.text.contains("<code>G-1</code>") && roles.text.contains("<code>team@contoso.example</code>"))
            let path = "/console/service/accounts"
            _ = try await browser.post(
                path, [("restricted", "true"), ("add", "worker@contoso.example\noid-x x@contoso.example")])
            let accounts = try await fixture.service.administration.allowedAccounts(as: ConsoleFixture.owner)
            #expect(accounts?.map(\.id.rawValue) == ["oid-worker", "oid-x"])
            // Names without the tick say two things.
            let both = try await browser.submit(
                try await browser.get(path), to: path, [("add", "hedy@contoso.example")], unticking: ["restricted"])
            #expect(
                both.status == .badRequest && both.text.contains("Accounts are named, and every account may be used."))
            #expect(try await browser.get(path).text.contains("hedy@contoso.example</textarea>"))
            let again = try await browser.submit(try await browser.get(path), to: path)
            #expect(again.path == "/console/service")
            let kept = try await fixture.service.administration.allowedAccounts(as: ConsoleFixture.owner)
            #expect(kept?.map(\.userPrincipalName) == ["worker@contoso.example", "x@contoso.example"])
            let wrong = try await browser.post(path, [("restricted", "true"), ("add", "nobody@contoso.example")])
            #expect(wrong.status == .badRequest && wrong.text.contains("nobody@contoso.example</textarea>"))
        }
    }

    @Test func `who changes the allowed accounts that another changed meanwhile is told, and nothing is overwritten`()
        async throws
    {
        let fixture = try await ConsoleFixture()
        let path = "/console/service/accounts"
        let others = [
            PolicyEnvelope.AllowedAccount(id: AccountID("oid-di"), userPrincipalName: "di@contoso.example")
        ]
        @Sendable func allowed() async throws -> [String]? {
            try await fixture.service.administration.allowedAccounts(as: ConsoleFixture.owner)?.map(\.id.rawValue)
        }
        try await fixture.test { browser in
            try await browser.signIn(ConsoleFixture.ada)
            let form = try await browser.get(path)
            try await fixture.service.administration.setAllowedAccounts(others, as: ConsoleFixture.owner)
            let mine = [("restricted", "true"), ("add", "worker@contoso.example")]
            let told = try await browser.submit(form, to: path, mine)
            #expect(told.status == .conflict)
            #expect(told.text.contains("Another administrator changed the accounts while you did."))
            #expect(told.text.contains("di@contoso.example") && told.text.contains("worker@contoso.example</textarea>"))
            // What cannot be read comes back with the version that was seen, and the next try is told as well.
            let wrong = try await browser.submit(form, to: path, [("restricted", "true"), ("add", "nobody")])
            #expect(wrong.status == .badRequest)
            #expect(try await browser.submit(wrong, to: path, mine).status == .conflict)
            #expect(try await allowed() == ["oid-di"])
            #expect(try await browser.submit(told, to: path).path == "/console/service")
            #expect(try await allowed() == ["oid-di", "oid-worker"])
            let late = try await browser.get(path)
            try await fixture.service.administration.setAllowedAccounts(nil, as: ConsoleFixture.owner)
            #expect(try await browser.submit(late, to: path, mine).status == .conflict)
            #expect(try await allowed() == nil)
        }
    }

    @Test func `allowed accounts are shown a page at a time, and those that are not shown stay`() async throws {
        let fixture = try await ConsoleFixture()
        let path = "/console/service/accounts"
        let many = (100..<220).map { number in
            PolicyEnvelope.AllowedAccount(
                id: AccountID("oid,\(number)"), userPrincipalName: "p\(number)@contoso.example")
        }
        try await fixture.service.administration.setAllowedAccounts(many, as: ConsoleFixture.owner)
        try await fixture.test { browser in
            try await browser.signIn(ConsoleFixture.ada)
            let first = try await browser.get(path)
            #expect(first.text.ranges(of: "name=\"remove\"").count == 50)
            #expect(first.text.contains("p149@contoso.example") && !first.text.contains("p150@contoso.example"))
            let last = try await browser.get(path + "?from=100")
            #expect(last.text.ranges(of: "name=\"remove\"").count == 20)
            let link = try #require(last.text.firstMatch(of: /name="remove" value="([^"]*219)"/)).1
            let saved = try await browser.submit(
                last, to: path, [("add", "worker@contoso.example"), ("remove", String(link))])
            #expect(saved.path == "/console/service")
            let left = try await fixture.service.administration.allowedAccounts(as: ConsoleFixture.owner)
            #expect(
                left?.map(\.id.rawValue)
                    == many.map(\.id.rawValue).filter { $0 != "oid,219" } + ["oid-worker"])
        }
    }

    @Test func `two people on one line are no allowed account, and an id that is like a sign-in name may stay one`()
        async throws
    {
        let fixture = try await ConsoleFixture()
        let path = "/console/service/accounts"
        try await fixture.test { browser in
            try await browser.signIn(ConsoleFixture.ada)
            let line = "ada@contoso.example ben@contoso.example"
            let wrong = try await browser.post(path, [("restricted", "true"), ("add", line)])
            #expect(wrong.status == .badRequest)
            #expect(wrong.text.contains("Two sign-in names are on one line."))
            #expect(wrong.text.contains("\(line): Write each person on a line of their own."))
            #expect(try await fixture.service.administration.allowedAccounts(as: ConsoleFixture.owner) == nil)
            try await fixture.service.provisioning.saveUser(
                DirectoryUser(id: "cy@mail.example", userPrincipalName: "cy@contoso.example", displayName: "Cy"),
                as: ConsoleFixture.owner)
            let known = [
                PolicyEnvelope.AllowedAccount(
                    id: AccountID("di@mail.example"), userPrincipalName: "di@contoso.example")
            ]
            try await fixture.service.administration.setAllowedAccounts(known, as: ConsoleFixture.owner)
            let lines = "di@mail.example di@contoso.example\ncy@mail.example cy@contoso.example"
            let right = try await browser.submit(try await browser.get(path), to: path, [("add", lines)])
            #expect(right.path == "/console/service")
            let accounts = try await fixture.service.administration.allowedAccounts(as: ConsoleFixture.owner)
            #expect(accounts?.map(\.id.rawValue) == ["di@mail.example", "cy@mail.example"])
        }
    }

    @Test func `connections say where the provider is, and that no webhook is set`() async throws {
        let fixture = try await ConsoleFixture()
        try await fixture.test { browser in
            try await browser.signIn(ConsoleFixture.ada)
            let page = try await browser.get("/console/service/connections")
            #expect(page.text.contains(fixture.provider.issuer))
            #expect(page.text.contains("can be reached"))
            #expect(page.text.contains("not connected"))
        }
    }

    @Test func `a key is changed on a page, and not by the help desk`() async throws {
        let fixture = try await ConsoleFixture()
        try await fixture.test { browser in
            try await browser.signIn(ConsoleFixture.ada)
            let owner = ConsoleFixture.owner
            let before = try await fixture.service.administration.signingKeys(as: owner).count
            let page = try await browser.get("/console/service/keys")
            let done = try await browser.submit(page, to: "/console/service/keys", [("role", "audit")])
            #expect(done.path == "/console/service")
            #expect(try await fixture.service.administration.signingKeys(as: owner).count == before + 1)
            let other = Browser(client: browser.client, fixture: fixture)
            try await other.signIn(ConsoleFixture.hedy)
            #expect(try await other.get("/console/service/keys").status == .forbidden)
            #expect(try await other.post("/console/service/keys", [("role", "audit")]).status == .forbidden)
            #expect(try await fixture.service.administration.signingKeys(as: owner).count == before + 1)
        }
    }

    @Test func `a secret value of a configuration is shown on no page, and an empty field keeps it`() async throws {
        let fixture = try await ConsoleFixture()
        try await fixture.test { browser in
            try await browser.signIn(ConsoleFixture.ada)
            let made = try await browser.post(
                "/console/configurations/new",
                [
                    ("name", "Server"), ("key.0", "address"), ("value.0", "https://{{partialupn}}.example"),
                    ("key.1", "pass"), ("value.1", "hunter2"), ("secret.1", "true"),
                ])
            let id = try #require(made.path.split(separator: "/").last.map(String.init))
            #expect(!made.text.contains("hunter2"))
            #expect(made.text.contains("A secret is set. Leave this empty to keep it."))
            let shown = try await browser.get("\(made.path)?person=worker@contoso.example")
            #expect(shown.text.contains("https://worker.example"))
            #expect(!shown.text.contains("hunter2"))
            _ = try await browser.submit(made, to: made.path, [("name", "Servers")])
            let kept = try await fixture.service.administration.policy(id, as: ConsoleFixture.owner)
            let pairs = kept.document["customSettings"]?.array ?? []
            #expect(pairs.contains { $0["name"] == "pass" && $0["value"] == "hunter2" && $0["isSecret"] == true })
            #expect(kept.document["displayName"] == "Servers")
            // Under another key too.
            let form = try await browser.get(made.path)
            _ = try await browser.submit(form, to: made.path, [("key.1", "phrase")])
            let renamed = try await fixture.service.administration.policy(id, as: ConsoleFixture.owner)
            #expect(
                renamed.document["customSettings"]?.array?.last
                    == ["name": "phrase", "value": "hunter2", "isSecret": true])
        }
    }

    @Test func `the rules of a person count the sets of an app that is behind a thousand others in the catalogue`()
        async throws
    {
        let fixture = try await ConsoleFixture()
        let id = try await fixture.publishPolicy(["displayName": "Core", "printBlocked": true])
        _ = try await fixture.service.administration.targetApps(
            [MobileAppIdentifier(.ios, ConsoleFixture.bundleID)], group: .allCoreMicrosoftApps, ofPolicy: id,
            as: ConsoleFixture.owner)
        try await fixture.storage.write(ConsoleFixture.tenant) { records in
            for number in 0..<1_001 {
                try records.save(CatalogueApp(bundleID: "a.\(number)", displayName: "A \(number)"))
            }
            try records.save(CatalogueApp(bundleID: "z.last", displayName: "Z", groups: [.allCoreMicrosoftApps]))
        }
        try await fixture.test { browser in
            try await browser.signIn(ConsoleFixture.ada)
            let path = "/console/people/oid-worker/rules?app="
            #expect(try await browser.get(path + "Z.last").text.contains("Block printing"))
            let other = try await browser.get(path + "a.1").text
            #expect(other.contains("No policy reaches this person in this app."))
            let unknown = try await browser.get(path + "com.contoso.unknown").text
            #expect(unknown.contains("No policy reaches this person in this app."))
        }
    }

    @Test func `the rules of a person name each value's policy and the policies that say otherwise`() async throws {
        let fixture = try await ConsoleFixture()
        let strict = try await fixture.publishPolicy(["displayName": "Strict", "printBlocked": true])
        let lax = try await fixture.publishPolicy(["displayName": "Lax", "printBlocked": false])
        try await fixture.test { browser in
            try await browser.signIn(ConsoleFixture.ada)
            let page = try await browser.get("/console/people/oid-worker/rules?app=\(ConsoleFixture.bundleID)")
            let row = try #require(page.text.firstMatch(of: /(?s)Block printing.*?<\/tr>/)).0
            #expect(row.contains("/console/policies/\(strict)"))
            #expect(row.contains("/console/policies/\(lax)"))
            let managed = try await browser.get("/console/people/oid-worker/rules?app=com.other.app")
            #expect(managed.text.contains("No policy reaches this person in this app."))
            let compared = try await browser.get("/console/policies/\(strict)/compare?with=\(lax)")
            #expect(compared.text.contains("Block printing"))
            let list = try await browser.get("/console/policies?sort=changed")
            let order = list.text.matches(of: /\/console\/policies\/[^"]+">(Strict|Lax)</).map { String($0.1) }
            #expect(order.sorted() == ["Lax", "Strict"])
        }
    }

    @Test
    func `what is for everyone counts where no other policy reaches the app, and the catalogue says whom a set has`()
        async throws
    {
        let fixture = try await ConsoleFixture()
        let administration = fixture.service.administration
        try await administration.saveResource(
            CatalogueApp(bundleID: "com.microsoft.mail", displayName: "Mail", groups: [.allMicrosoftApps]), isNew: true,
            as: ConsoleFixture.owner)
        let id = try await fixture.publishPolicy()
        _ = try await administration.targetApps(
            [MobileAppIdentifier(.ios, ConsoleFixture.bundleID)], group: .allMicrosoftApps, ofPolicy: id,
            as: ConsoleFixture.owner)
        _ = try await administration.createPolicy(
            .defaultManagedAppProtection, document: ["displayName": "Everyone", "printBlocked": true],
            as: ConsoleFixture.owner)
        try await fixture.test { browser in
            try await browser.signIn(ConsoleFixture.ada)
            for (app, answer) in [
                (ConsoleFixture.bundleID, "Yes."), ("com.microsoft.mail", "Yes."), ("com.contoso.other", "No."),
            ] {
                let page = try await browser.get("/console/ask?person=oid-worker&action=print&app=\(app)")
                #expect(page.text.contains("<p>\(answer)</p>"), "\(app)")
            }
        }
    }

    @Test func `a group lists its members a page at a time, with links to people and groups`() async throws {
        let storage = CountingStorage()
        let fixture = try await ConsoleFixture(storage: storage)
        let (provisioning, owner) = (fixture.service.provisioning, ConsoleFixture.owner)
        let ids = (100..<220).map { "p-\($0)" }
        for id in ids {
            try await provisioning.saveUser(
                DirectoryUser(id: id, userPrincipalName: "\(id)@contoso.example", displayName: "Person \(id)"),
                as: owner)
        }
        // Ten who are in the group and in no directory.
        let members = (ids + (300..<310).map { "o-\($0)" }).map(DirectoryGroup.Member.user)
        try await provisioning.saveGroup(
            DirectoryGroup(id: "all", displayName: "All", members: Set(members + [.group(ConsoleFixture.group)])),
            as: owner)
        try await fixture.test { browser in
            try await browser.signIn(ConsoleFixture.ada)
            let groups = try await browser.get("/console/service/groups")
            #expect(groups.text.contains("<a href=\"/console/service/groups/all\">All</a>"))
            var (next, found): (String?, [String]) = ("/console/service/groups/all", [])
            var pages = 0
            while let path = next, pages < 9 {
                let counts = try await storage.counts { _ = try await browser.get(path) }
                #expect(counts.read[.user] ?? 0 < 120, "\(counts.read)")
                let page = try await browser.get(path)
                #expect(page.status == .ok)
                if pages == 0 { #expect(page.text.contains("more than 50")) }
                found += page.text.matches(of: /data-column="Name"><a href="([^"]+)"/).map { String($0.1) }
                next = page.text.firstMatch(of: /href="([^"]*)" rel="next"/).map { Browser.unescape($0.1) }
                pages += 1
            }
            #expect(pages == 3)
            #expect(
                found == ids.map { "/console/people/\($0)" } + ["/console/service/groups/\(ConsoleFixture.group)"])
            let small = try await browser.get("/console/service/groups/\(ConsoleFixture.group)")
            #expect(small.text.contains("Worker A") && small.text.contains("<dt>Members</dt><dd>1</dd>"))
            #expect(try await browser.get("/console/service/groups/none").status == .notFound)
        }
    }

    @Test func `blocked people are listed with the time and the administrator`() async throws {
        let fixture = try await ConsoleFixture()
        try await fixture.test { browser in
            try await browser.signIn(ConsoleFixture.ada)
            let page = try await browser.get("/console/people/oid-worker/block")
            _ = try await browser.submit(page, to: "/console/people/oid-worker/block")
            let list = try await browser.get("/console/blocked")
            #expect(list.text.contains("ada@contoso.example"))
            #expect(list.text.contains(/<td data-column="Since"><time/))
            let people = try await browser.get("/console/people")
            #expect(people.text.contains("<span class=\"badge bad\">blocked</span>"))
        }
    }
}
