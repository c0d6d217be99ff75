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

    @Test func `an id that no group can have is shown as it is, shuts no page, and stays when others are chosen`()
        async throws
    {
        let fixture = try await ConsoleFixture()
        let id = try await fixture.publishPolicy()
        try await addGroups(1, to: fixture)
        var author = ConsoleFixture.owner
        author.call.keepsUnknownGroups = true
        let odd = ["\u{301}x", "a,b", "x\u{600}", "50%25"]
        let assignments = ([ConsoleFixture.group] + odd).map { PolicyAssignment(.group($0)) }
        _ = try await fixture.service.administration.assignPolicy(id, to: assignments, as: author)
        try await fixture.test { browser in
            try await browser.signIn(ConsoleFixture.ada)
            let path = "/console/policies/\(id)/assignments"
            for page in ["/console/policies", "/console/policies/\(id)", path] {
                let shown = try await browser.get(page)
                #expect(shown.status == .ok, "\(page)")
                #expect(shown.text.contains("Field workers"), "\(page)")
                for id in odd {
                    // A mark at the beginning joins what stands before it, so it is looked for by its bytes.
                    #expect(Data(shown.text.utf8).range(of: Data(id.utf8)) != nil, "\(page): \(id)")
                }
            }
            let form = try await browser.get(path)
            let ticked = form.text.matches(of: /name="included" value="([^"]*)" checked/).map { String($0.1) }
            #expect(ticked.count == 5)
            let preview = try await browser.submit(
                form, to: path, (ticked + ["g-0"]).map { (key: "included", value: $0) })
            let published = try await browser.submit(preview, to: "/console/policies/\(id)/assign")
            #expect(published.path == "/console/policies/\(id)")
            let policy = try await fixture.service.administration.policy(id, as: ConsoleFixture.owner)
            #expect(
                Set(policy.assignments.map(\.target))
                    == Set(([ConsoleFixture.group, "g-0"] + odd).map { PolicyAssignment.Target.group($0) }))
        }
    }

    @Test func `who assigns a policy that another changed meanwhile is told, and nothing is overwritten`()
        async throws
    {
        let fixture = try await ConsoleFixture()
        let id = try await fixture.publishPolicy()
        try await addGroups(2, to: fixture)
        let mine = PolicyAssignment(.group(ConsoleFixture.group))
        try await fixture.test { browser in
            try await browser.signIn(ConsoleFixture.ada)
            let path = "/console/policies/\(id)/assignments"
            let form = try await browser.get(path)
            // The version of the first showing goes along, also through a search.
            let found = try await browser.submit(form, to: path, [("find", "Depot"), ("step", "find")])
            let preview = try await browser.submit(form, to: path)
            _ = try await fixture.service.administration.assignPolicy(
                id, to: [mine, PolicyAssignment(.group("g-1"))], as: ConsoleFixture.owner)
            let late = try await browser.submit(form, to: path, [("find", "Depot"), ("step", "find")])
            #expect(late.status == .ok)
            let told = try await browser.submit(preview, to: "/console/policies/\(id)/assign")
            let others = [
                try await browser.submit(form, to: path), try await browser.submit(found, to: path),
                try await browser.submit(late, to: path),
            ]
            for page in [told] + others {
                #expect(page.status == .conflict)
                #expect(page.text.contains("Another administrator changed this policy while you did."))
                #expect(page.text.contains("Field workers, Depot 1001"))
            }
            let kept = try await fixture.service.administration.policy(id, as: ConsoleFixture.owner)
            #expect(kept.assignments.map(\.target) == [mine.target, .group("g-1")])
            // Who has seen the other's change may go on.
            let again = try await browser.submit(told, to: path)
            let published = try await browser.submit(again, to: "/console/policies/\(id)/assign")
            #expect(published.path == "/console/policies/\(id)")
            let after = try await fixture.service.administration.policy(id, as: ConsoleFixture.owner)
            #expect(after.assignments.map(\.target) == [mine.target])
        }
    }

    @Test func `who lists the apps of a policy that another changed meanwhile is told, and nothing is overwritten`()
        async throws
    {
        let fixture = try await ConsoleFixture()
        let id = try await fixture.publishPolicy()
        try await fixture.test { browser in
            try await browser.signIn(ConsoleFixture.ada)
            let path = "/console/policies/\(id)/apps"
            let form = try await browser.get(path)
            let both = [ConsoleFixture.bundleID, "com.contoso.other"].map { MobileAppIdentifier(.ios, $0) }
            _ = try await fixture.service.administration.targetApps(
                both, group: nil, ofPolicy: id, as: ConsoleFixture.owner)
            let told = try await browser.submit(form, to: path)
            #expect(told.status == .conflict)
            #expect(told.text.contains("\(ConsoleFixture.bundleID), com.contoso.other"))
            let kept = try await fixture.service.administration.policy(id, as: ConsoleFixture.owner)
            #expect(kept.apps == both)
            let preview = try await browser.submit(told, to: path)
            #expect(try await browser.submit(preview, to: path).path == "/console/policies/\(id)")
            let after = try await fixture.service.administration.policy(id, as: ConsoleFixture.owner)
            #expect(after.apps == [both[0]])
        }
    }

    @Test func `on which devices a policy counts is previewed and published with its apps`() async throws {
        let fixture = try await ConsoleFixture()
        let id = try await fixture.publishPolicy()
        try await fixture.test { browser in
            try await browser.enrol("tag-1")
            try await browser.signIn(ConsoleFixture.ada)
            let path = "/console/policies/\(id)/apps"
            let preview = try await browser.submit(
                try await browser.get(path), to: path, [("level", "mdm"), ("apps", "com.contoso.other")])
            #expect(preview.text.contains("<dt>On</dt><dd>a device that is managed</dd>"))
            #expect(preview.text.contains("<dt>Apps on devices whose rules change</dt><dd>1</dd>"))
            let version = try await fixture.service.administration.policy(id, as: ConsoleFixture.owner).version
            let published = try await browser.submit(preview, to: path)
            #expect(published.path == "/console/policies/\(id)")
            let policy = try await fixture.service.administration.policy(id, as: ConsoleFixture.owner)
            #expect(policy.document["targetedAppManagementLevels"] == "mdm")
            #expect(Set(policy.apps.map(\.value)) == [ConsoleFixture.bundleID, "com.contoso.other"])
            // Both are one change: whoever looked at the version before is told.
            let late = try await browser.submit(preview, to: path, [("version", version), ("level", "unmanaged")])
            #expect(late.status == .conflict)
        }
    }

    private static let fresh = Administrator(
        tenant: ConsoleFixture.tenant, id: ConsoleFixture.bea.id, name: ConsoleFixture.bea.name, roles: [.owner],
        call: CallFacts(hasFreshSignIn: true))

    /// A filter that lets through apps whose version begins with something, made in the console; its page and its id.
    private func makeFilter(_ version: String, in browser: Browser) async throws -> (page: Browser.Shown, id: String) {
        let page = try await browser.post(
            "/console/service/filters/new", [("name", "New"), ("rule", Self.rule(version))])
        return (page, try #require(page.path.split(separator: "/").last.map(String.init)))
    }

    private static func rule(_ version: String) -> String { "(app.appVersion -startsWith \"\(version)\")" }

    @Test func `a rule of a filter by which apps remove data is previewed before it is saved, its name with it`()
        async throws
    {
        let fixture = try await ConsoleFixture(impactLimit: 0)
        let id = try await fixture.publishPolicy()
        let administration = fixture.service.administration
        try await fixture.test { browser in
            try await browser.enrol("tag-1")
            try await browser.signIn(ConsoleFixture.ada)
            let (made, filter) = try await makeFilter("9", in: browser)
            _ = try await administration.assignPolicy(
                id, to: [PolicyAssignment(.group(ConsoleFixture.group), filterID: filter, filterMode: .include)],
                as: ConsoleFixture.owner)
            _ = try await administration.updatePolicy(
                id, changes: ["minimumWipeOsVersion": "99"], ifVersion: nil, as: Self.fresh)
            func saved() async throws -> AssignmentFilter {
                try await administration.resource(AssignmentFilter.self, filter, as: ConsoleFixture.owner)
            }
            let preview = try await browser.submit(made, to: made.path, [("name", "Wide"), ("rule", Self.rule("1"))])
            #expect(preview.text.contains("Nothing is in force yet.") && preview.text.contains("note bad"))
            #expect(try await saved().rule == Self.rule("9"))
            #expect(try await browser.submit(preview, to: made.path).path == made.path)
            let after = try await saved()
            #expect(after.rule == Self.rule("1") && after.displayName == "Wide")
        }
    }

    @Test func `a rule of a filter that takes the only policy from apps is previewed before it is saved`()
        async throws
    {
        let fixture = try await ConsoleFixture()
        let id = try await fixture.publishPolicy()
        let administration = fixture.service.administration
        try await fixture.test { browser in
            try await browser.enrol("tag-1")
            try await browser.signIn(ConsoleFixture.ada)
            let (made, filter) = try await makeFilter("1", in: browser)
            _ = try await administration.assignPolicy(
                id, to: [PolicyAssignment(.group(ConsoleFixture.group), filterID: filter, filterMode: .include)],
                as: ConsoleFixture.owner)
            func saved() async throws -> AssignmentFilter {
                try await administration.resource(AssignmentFilter.self, filter, as: ConsoleFixture.owner)
            }
            // A name takes no policy from anyone.
            let named = try await browser.submit(made, to: made.path, [("name", "Wide")])
            #expect(named.path == made.path)
            #expect(try await saved().displayName == "Wide")
            let preview = try await browser.submit(named, to: made.path, [("rule", Self.rule("9"))])
            #expect(preview.text.contains("Nothing is in force yet."))
            #expect(preview.text.contains("<dt>Apps on devices whose rules change</dt><dd>1</dd>"))
            #expect(preview.text.contains("An app without any policy removes its organisation data."))
            #expect(try await saved().rule == Self.rule("1"))
            _ = try await browser.submit(preview, to: made.path)
            #expect(try await saved().rule == Self.rule("9"))
        }
    }

    @Test func `the sets of an app by which it removes data are previewed before they are saved`() async throws {
        let fixture = try await ConsoleFixture(impactLimit: 0)
        _ = try await fixture.publishPolicy()
        let administration = fixture.service.administration
        let policy = try await administration.createPolicy(
            .iosManagedAppProtection, document: ["displayName": "Core", "minimumWipeOsVersion": "99"], as: Self.fresh)
        _ = try await administration.targetApps(
            [], group: .allCoreMicrosoftApps, ofPolicy: policy.id, as: Self.fresh)
        _ = try await administration.assignPolicy(
            policy.id, to: [PolicyAssignment(.group(ConsoleFixture.group))], as: Self.fresh)
        try await fixture.test { browser in
            try await browser.enrol("tag-1")
            try await browser.signIn(ConsoleFixture.ada)
            func saved() async throws -> Set<AppGroup> {
                try await administration.resource(CatalogueApp.self, ConsoleFixture.bundleID, as: ConsoleFixture.owner)
                    .groups
            }
            let list = "/console/service/catalogue"
            let made = try await browser.post(list + "/new", [("name", "Notes"), ("bundle", ConsoleFixture.bundleID)])
            #expect(made.path == list)
            let path = list + "/" + ConsoleFixture.bundleID
            let preview = try await browser.submit(
                try await browser.get(path), to: path, [("sets", "allCoreMicrosoftApps")])
            #expect(preview.text.contains("Nothing is in force yet.") && preview.text.contains("note bad"))
            #expect(try await saved().isEmpty)
            #expect(try await browser.submit(preview, to: path).path == list)
            #expect(try await saved() == [.allCoreMicrosoftApps])
        }
    }

    @Test func `a filter of one group alone and all devices stay when nothing else was chosen`() async throws {
        let fixture = try await ConsoleFixture()
        let id = try await fixture.publishPolicy()
        try await addGroups(2, to: fixture)
        try await fixture.test { browser in
            try await browser.signIn(ConsoleFixture.ada)
            let made = try await browser.post(
                "/console/service/filters/new", [("name", "New"), ("rule", "(app.appVersion -startsWith \"1\")")])
            let filter = try #require(made.path.split(separator: "/").last.map(String.init))
            _ = try await fixture.service.administration.assignPolicy(
                id,
                to: [
                    PolicyAssignment(.group(ConsoleFixture.group), filterID: filter, filterMode: .exclude),
                    PolicyAssignment(.group("g-0")), PolicyAssignment(.allDevices),
                ], as: ConsoleFixture.owner)
            let path = "/console/policies/\(id)/assignments"
            let form = try await browser.get(path)
            #expect(form.text.contains("Not all have the same filter now."))
            func publish(_ filled: [(key: String, value: String)]) async throws -> [PolicyAssignment.Target: String] {
                let preview = try await browser.submit(try await browser.get(path), to: path, filled)
                let published = try await browser.submit(preview, to: "/console/policies/\(id)/assign")
                #expect(published.path == "/console/policies/\(id)")
                let policy = try await fixture.service.administration.policy(id, as: ConsoleFixture.owner)
                return Dictionary(
                    policy.assignments.map { ($0.target, "\($0.filterMode.rawValue) \($0.filterID ?? "-")") },
                    uniquingKeysWith: { first, _ in first })
            }
            let kept = try await publish(
                [ConsoleFixture.group, "g-0", "g-1"].map { (key: "included", value: $0) })
            let own = "exclude \(filter)"
            #expect(
                kept == [
                    .group(ConsoleFixture.group): own, .group("g-0"): "none -", .allDevices: "none -",
                    .group("g-1"): own,
                ])
            let without = try await publish([("filter", "")])
            #expect(Set(without.values) == ["none -"] && without.count == 4)
        }
    }
}
