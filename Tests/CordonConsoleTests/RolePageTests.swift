import CordonService
import CordonTestSupport
import CordonTesting
import Foundation
import HTTPTypes
import Testing

@Suite struct RolePageTests {
    /// A role of the organisation's own.
    private func save(
        _ members: Set<String>, scopeTags: Set<String>? = nil, people: Set<String>? = nil, in fixture: ConsoleFixture
    ) async throws {
        let role = CustomRole(
            id: "desk", displayName: "Dsk", permissions: [.read, .wipe], members: members, scopeTags: scopeTags,
            people: people)
        try await fixture.service.administration.saveResource(role, isNew: true, as: ConsoleFixture.owner)
    }

    private func roles(of fixture: ConsoleFixture) async throws -> [CustomRole] {
        try await fixture.service.administration.resources(CustomRole.self, as: ConsoleFixture.owner)
    }

    @Test func `a role that is given another name keeps the people and the tags that it is limited to`() async throws {
        let fixture = try await ConsoleFixture()
        try await save(["G-1"], scopeTags: ["gone"], people: [ConsoleFixture.group], in: fixture)
        try await fixture.test { browser in
            try await browser.signIn(ConsoleFixture.ada)
            let form = try await browser.get("/console/roles/desk")
            #expect(form.text.contains("This role is limited to the people of these groups."))
            #expect(form.text.contains("Field workers"))
            let saved = try await browser.submit(form, to: "/console/roles/desk", [("name", "Help desk")])
            #expect(saved.path == "/console/roles")
            let role = try #require(try await roles(of: fixture).first)
            #expect(role.displayName == "Help desk")
            #expect(role.people == [ConsoleFixture.group])
            // The tag is in no list any more, and is the only one that the role has.
            #expect(role.scopeTags == ["gone"])
            let refused = try await browser.submit(form, to: "/console/roles/desk", [("name", "")])
            #expect(refused.status == .badRequest)
            #expect(refused.text.contains("This role is limited to the people of these groups."))
        }
    }

    @Test func `who saves or deletes a role that another changed meanwhile is told, and nothing is overwritten`()
        async throws
    {
        let fixture = try await ConsoleFixture()
        try await save(["G-1"], in: fixture)
        try await fixture.test { browser in
            try await browser.signIn(ConsoleFixture.ada)
            let path = "/console/roles/desk"
            let form = try await browser.get(path)
            var changed = try #require(try await roles(of: fixture).first)
            changed.members = ["G-2"]
            changed.scopeTags = ["West"]
            try await fixture.service.administration.saveResource(changed, isNew: false, as: ConsoleFixture.owner)
            let told = try await browser.submit(form, to: path, [("name", "Help desk")])
            let deleted = try await browser.submit(form, to: path + "/delete")
            for page in [told, deleted] {
                #expect(page.status == .conflict)
                #expect(page.text.contains("Another administrator changed this role while you did."))
                #expect(page.text.contains("G-2"))
            }
            #expect(told.text.contains("value=\"Help desk\""))
            #expect(told.text.contains("Only for policies with these scope tags: West"))
            #expect(deleted.text.contains("Nothing was deleted.") && !deleted.text.contains("Nothing was overwritten."))
            #expect(try await browser.get(path).text.contains("value=\"Dsk\""))
            #expect(try await roles(of: fixture) == [changed])
            #expect(try await browser.submit(deleted, to: path + "/delete").path == "/console/roles")
            #expect(try await roles(of: fixture).isEmpty)
        }
    }

    @Test func `a role that was removed meanwhile is not made again, without its limit, by its form`() async throws {
        let fixture = try await ConsoleFixture()
        try await save(["G-1"], people: [ConsoleFixture.group], in: fixture)
        try await fixture.test { browser in
            try await browser.signIn(ConsoleFixture.ada)
            let form = try await browser.get("/console/roles/desk")
            try await fixture.service.administration.removeResource(
                CustomRole.self, "desk", as: ConsoleFixture.owner)
            let saved = try await browser.submit(form, to: "/console/roles/desk")
            #expect(saved.status == .notFound)
            #expect(try await roles(of: fixture).isEmpty)
        }
    }

    @Test func `a role says by which claim a person gets it, and a new one begins with a built-in one`() async throws {
        let fixture = try await ConsoleFixture()
        try await fixture.test { browser in
            // The value that the page names is one that gives the role.
            let named = FakeProvider.Person(id: "oid-ada", name: "ada@contoso.example", roles: ["cordon.owner"])
            try await browser.signIn(named)
            let page = try await browser.get("/console/roles")
            #expect(page.text.contains("The service reads the claim roles of access tokens"))
            for role in AdministratorRole.allCases {
                #expect(page.text.contains("<code>cordon.\(role.rawValue)</code>"), "\(role)")
            }
            let bare = try await browser.get("/console/roles/new")
            #expect(bare.text.contains("Take back a wipe that no app has fetched yet."))
            #expect(!bare.text.contains(" checked"))
            let link = try #require(bare.text.firstMatch(of: /href="([^"]*from=helpDesk)"/)).1
            let begun = try await browser.get(Browser.unescape(link))
            let ticked = begun.text.matches(of: /name="permissions" value="([^"]*)" checked/).map { String($0.1) }
            #expect(Set(ticked) == Set(AdministratorRole.helpDesk.permissions.map(\.rawValue)))
            let saved = try await browser.submit(
                begun, to: "/console/roles/new", [("name", "Night desk"), ("members", "G-1")])
            #expect(saved.path == "/console/roles")
            #expect(try await roles(of: fixture).first?.permissions == AdministratorRole.helpDesk.permissions)
        }
    }

    @Test func `a change that waits has the buttons that the reader's role may press, and no other`() async throws {
        let fixture = try await ConsoleFixture(wipeBudget: 0)
        _ = try await fixture.publishPolicy()
        let (tenant, administration) = (ConsoleFixture.tenant, fixture.service.administration)
        let desk = CustomRole(
            id: "desk", displayName: "Desk", permissions: [.read, .approve], members: ["user:oid-eve"],
            people: [ConsoleFixture.group])
        try await fixture.storage.write(tenant) { try $0.save(desk) }
        let bea = Administrator(
            tenant: tenant, id: ConsoleFixture.bea.id, name: ConsoleFixture.bea.name, roles: [.owner],
            call: CallFacts(hasFreshSignIn: true))
        try await fixture.test { browser in
            try await browser.enrol("tag-1234")
            let wipe = await #expect(throws: ServiceError.self) {
                _ = try await administration.requestWipe(ofUser: "oid-worker", deviceTag: "tag-1234", as: bea)
            }
            let grant = await #expect(throws: ServiceError.self) {
                let role = CustomRole(id: "g", displayName: "G", permissions: [.approve], members: ["nursesWest"])
                try await administration.saveResource(role, isNew: true, as: bea)
            }
            let block = await #expect(throws: ServiceError.self) {
                try await administration.blockUser("oid-worker", as: bea)
            }
            let (ofWorker, ofRole) = (try #require(wipe?.place), try #require(grant?.place))
            // The role is about the worker's group, and so about no role; a help desk releases nothing.
            let cases: [(FakeProvider.Person, change: String, buttons: [String])] = [
                (ConsoleFixture.eve, ofWorker, ["release", "stop"]), (ConsoleFixture.eve, ofRole, []),
                (ConsoleFixture.ada, ofRole, ["release", "stop"]), (ConsoleFixture.hedy, ofWorker, ["stop"]),
                (ConsoleFixture.bea, ofWorker, ["stop"]),
            ]
            for (person, change, buttons) in cases {
                let own = Browser(client: browser.client, fixture: fixture)
                try await own.signIn(person)
                let page = try await own.get("/console/approvals/\(change)")
                #expect(page.status == .ok)
                let shown = ["release", "stop"].filter { page.text.contains("/\(change)/\($0)\"") }
                #expect(shown == buttons, "\(person.id)")
                // Another group may be called "nurses west".
                #expect(page.text.contains("nursesWest") == (change == ofRole))
            }
            try await browser.signIn(ConsoleFixture.ada)
            let page = try await browser.get("/console/approvals/\(try #require(block?.place))")
            #expect(page.status == .ok && !page.text.contains("No setting differs."))
        }
    }

    @Test func `who releases what a directory leaves out reads whom that is about, by name and in their language`()
        async throws
    {
        let fixture = try await ConsoleFixture(wipeBudget: 0)
        _ = try await fixture.publishPolicy()
        let (provisioning, tenant) = (fixture.service.provisioning, ConsoleFixture.tenant)
        let grace = FakeProvider.Person(id: "oid-grace", name: "grace@contoso.example", roles: [])
        func user(_ id: String, _ name: String, isLicensed: Bool = true) -> DirectoryUser {
            DirectoryUser(
                id: id, userPrincipalName: "\(name.lowercased())@contoso.example", displayName: name,
                isLicensed: isLicensed)
        }
        // More than the service says of at once.
        let leaving = [user(grace.id, "Grace")] + (0..<200).map { user("oid-h\($0)", "H\($0)") }
        _ = try await provisioning.synchronize(
            DirectoryContent(people: leaving + [user("oid-zoe", "Zoe")], groups: []), from: "people.json", of: tenant)
        try await provisioning.saveGroup(
            DirectoryGroup(id: ConsoleFixture.group, displayName: "Field workers", members: [.user(grace.id)]),
            as: ConsoleFixture.owner)
        let others = DirectoryContent(people: [user("oid-zoe", "Zoe", isLicensed: false)], groups: [])
        try await fixture.test { browser in
            let device = try await ConsoleFixture.device(
                "tag-1", of: grace, at: try #require(URL(string: ConsoleFixture.base)), fixture.service,
                fixture.provider, over: RouterTransport(client: browser.client), now: { fixture.clock.now })
            try await device.register()
            try await device.checkIn()
            let waiting = await #expect(throws: ServiceError.self) {
                _ = try await provisioning.synchronize(others, from: "people.json", of: tenant)
            }
            let path = "/console/approvals/\(try #require(waiting?.place))"
            let page = try await browser.signIn(ConsoleFixture.ada, at: path)
            #expect(page.text.contains("<h1>Change people or groups of the directory</h1>"))
            #expect(page.text.contains(">People who leave or are disabled</td>"))
            #expect(page.text.contains("Grace (oid-grace)"))
            #expect(page.text.contains(">People whom app protection no longer serves</td>"))
            #expect(page.text.contains(">Zoe (oid-zoe)</td>"))
            try await browser.post("/console/language", [("language", "de")])
            let german = try await browser.get(path)
            #expect(german.text.contains(">Personen, die gehen oder deaktiviert werden</td>"))
            #expect(
                try await browser.get("/console/approvals").text.contains(">Personen oder Gruppen des Verzeichnisses"))
        }
    }

    @Test func `a new role that a second person has to release is made when its form is sent once more`() async throws {
        let fixture = try await ConsoleFixture()
        try await fixture.test { browser in
            try await browser.signIn(ConsoleFixture.ada)
            let path = "/console/roles/new"
            let asked = try await browser.submit(
                try await browser.get(path), to: path,
                [("name", "Approvers"), ("permissions", "approve"), ("members", "G-1")])
            #expect(asked.path.hasPrefix("/console/approvals/"))
            let second = Browser(client: browser.client, fixture: fixture)
            let change = try await second.signIn(ConsoleFixture.bea, at: asked.path)
            _ = try await second.submit(change, to: asked.path + "/release")
            let released = try await browser.get(asked.path)
            #expect(released.text.contains("href=\"\(path)\" class=\"main\">Open the form"))
            let made = try await browser.submit(try await browser.get(path), to: path)
            #expect(made.path == "/console/roles")
            #expect(try await roles(of: fixture).map(\.displayName) == ["Approvers"])
        }
    }

    @Test func `a group whose name has an at sign is a member, also where a person is called so`() async throws {
        let fixture = try await ConsoleFixture()
        try await save(["team@contoso.example", ConsoleFixture.worker.name], in: fixture)
        try await fixture.test { browser in
            try await browser.signIn(ConsoleFixture.ada)
            let form = try await browser.get("/console/roles/desk")
            #expect(form.text.contains("group: before a name makes it a group"))
            let lines = [
                "team@contoso.example", ConsoleFixture.worker.name, "new@contoso.example", ConsoleFixture.hedy.name,
                "group:\(ConsoleFixture.ada.name)",
            ]
            let saved = try await browser.submit(
                form, to: "/console/roles/desk", [("members", lines.joined(separator: "\r\n"))])
            #expect(saved.path == "/console/roles")
            let role = try #require(try await roles(of: fixture).first)
            #expect(
                role.members == [
                    "team@contoso.example", ConsoleFixture.worker.name, "new@contoso.example",
                    "user:\(ConsoleFixture.hedy.id)", ConsoleFixture.ada.name,
                ])
        }
    }
}
