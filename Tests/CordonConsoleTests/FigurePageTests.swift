import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonService
import CordonTestSupport
import CordonTesting
import Foundation
import HTTPTypes
import Testing

/// Pages that say how many, of what and since when (SRV-UI-01, 17, 19, 21, 22).
@Suite struct FigurePageTests {
    /// The number of the tile that says this.
    private func tile(_ text: String, on page: Browser.Shown) -> String? {
        page.text.matches(of: /<a href="([^"]*)"><strong>(\d+)<\/strong> <span>([^<]*)<\/span>/)
            .first { $0.3.contains(text) }.map { String($0.2) }
    }

    /// What stands in a column of the page's tables, from the first row on.
    private func column(_ name: String, of page: Browser.Shown) -> [String] {
        page.text.matches(of: /(?s)<td data-column="([^"]*)">(.*?)<\/td>/).filter { $0.1 == name }.map { String($0.2) }
    }

    @Test func `the overview counts apps about to be forgotten and wipes that wait, and leads to both`() async throws {
        let fixture = try await ConsoleFixture()
        _ = try await fixture.publishPolicy()
        try await fixture.test { browser in
            try await browser.enrol("tag-old")
            try await browser.signIn(ConsoleFixture.ada)
            let fresh = try await browser.get("/console")
            #expect(tile("about to be forgotten", on: fresh) == "0")
            #expect(tile("wait for more than a day", on: fresh) == "0")
            _ = try await fixture.service.administration.requestWipe(
                ofUser: ConsoleFixture.worker.id, deviceTag: "tag-old", as: ConsoleFixture.owner)
            // 80 of the 90 days after which the service forgets an app.
            fixture.clock.advance(by: 80 * 86_400)
            try await browser.signIn(ConsoleFixture.ada)
            let late = try await browser.get("/console")
            #expect(tile("about to be forgotten", on: late) == "1")
            #expect(tile("waits for more than a day", on: late) == "1")
            let report = try await browser.get("/console/reports/expiring")
            #expect(report.text.contains("tag-old") && report.text.contains(">Worker A</a>"))
            #expect(report.text.contains(/data-column="Forgotten from"><time/))
            #expect(try await browser.get("/console/wipes?state=open").text.contains("1 of 4: requested"))
        }
    }

    @Test func `a policy is not said to be in force everywhere when only some of the waiting apps were looked at`()
        async throws
    {
        let fixture = try await ConsoleFixture()
        let busy = try await fixture.publishPolicy(["displayName": "Busy"])
        let other = try await fixture.service.administration.createPolicy(
            .iosManagedAppProtection, document: ["displayName": "Other"], as: ConsoleFixture.owner
        ).id
        try await fixture.test { browser in
            try await browser.signIn(ConsoleFixture.ada)
            let quiet = try await browser.get("/console/policies/\(other)")
            #expect(quiet.text.contains("<span class=\"badge good\">none</span>"))
            for number in 0..<51 { try await browser.enrol("tag-\(number)").checkIn() }
            _ = try await fixture.service.administration.updatePolicy(
                busy, changes: ["contactSyncBlocked": true], ifVersion: nil, as: ConsoleFixture.owner)
            try await fixture.service.finishAnnouncing(of: ConsoleFixture.tenant)
            let late = try await browser.get("/console/policies/\(busy)")
            #expect(
                late.text.contains("50 or more") && late.text.contains("href=\"/console/reports/drift\" rel=\"next\""))
            let page = try await browser.get("/console/policies/\(other)")
            #expect(page.text.contains("many apps wait for rules: see the report"))
            #expect(!page.text.contains("<span class=\"badge good\">none</span>"))
        }
    }

    @Test func `each step of a wipe has its time, and the name of the person who asked for it`() async throws {
        let fixture = try await ConsoleFixture()
        _ = try await fixture.publishPolicy()
        try await fixture.test { browser in
            let device = try await browser.enrol("tag-1234")
            _ = try await fixture.service.administration.requestWipe(
                ofUser: ConsoleFixture.worker.id, deviceTag: "tag-1234", as: ConsoleFixture.owner)
            var times = [fixture.clock.now]
            for step in 0..<2 {
                fixture.clock.advance(by: 600)
                times.append(fixture.clock.now)
                if step == 0 { try await device.checkIn() } else { try await device.carryOutWipes() }
            }
            try await browser.signIn(ConsoleFixture.ada)
            let page = try await browser.get("/console/wipes")
            let steps = try #require(column("Steps", of: page).first)
            let step = /<span class="one">([a-z ]+)<\/span> <span class="one"><time datetime="([^"]+)"/
            let shown = steps.matches(of: step)
            #expect(shown.map { String($0.1) } == ["requested", "delivered", "under way", "done"])
            let expected = [times[0], times[1], times[2], times[2]].map { $0.formatted(.iso8601) }
            #expect(shown.map { String($0.2) } == expected)
            #expect(steps.contains(">by ada@contoso.example</span>"))
        }
    }

    @Test func `a search of a report is saved under a name, found by its owner alone, and removed`() async throws {
        let fixture = try await ConsoleFixture()
        _ = try await fixture.publishPolicy()
        try await fixture.test { browser in
            for tag in ["till-1", "desk-1"] { try await browser.enrol(tag).checkIn(health: [.rootedDevice]) }
            try await browser.signIn(ConsoleFixture.ada)
            let path = "/console/reports/flagged"
            let page = try await browser.get(path + "?search=till")
            #expect(page.text.contains(">till-1<") && !page.text.contains(">desk-1<"))
            let saved = try await browser.submit(page, to: path + "/filters", [("name", "Tills")])
            #expect(saved.path == path + "?search=till" && saved.text.contains(">Tills</a>"))
            let again = try await browser.submit(saved, to: path + "/filters", [("name", "tills")])
            #expect(again.status == .badRequest && again.text.contains("A filter of this name is saved already"))
            #expect(again.text.contains("name=\"name\" value=\"tills\""))
            let reports = try await browser.get("/console/reports")
            #expect(column("Contains", of: reports) == ["till"])
            #expect(column("Report", of: reports) == ["Flagged devices"])
            #expect(!(try await browser.get("/console/reports/drift").text.contains("Tills")))
            let other = browser.copy()
            for name in other.jar.keys { other.forgetCookie(name) }
            #expect(!(try await other.signIn(ConsoleFixture.bea, at: "/console/reports").text.contains("Tills")))
            let form = try #require(ConsoleCrawl.forms(of: reports).first { $0.action.hasSuffix("/remove") })
            #expect(try await other.post(form.action, []).status == .notFound)
            let left = try await browser.submit(reports, to: form.action)
            #expect(left.path == "/console/reports" && left.text.contains("You have saved no filter."))
        }
    }

    @Test func `the file of a report has every row, though the service answers 500 at once`() async throws {
        let fixture = try await ConsoleFixture()
        let long = fixture.clock.now.addingTimeInterval(-80 * 86_400)
        let key = SoftwareSigningKey().publicKey
        let account = ManagedAccount(
            id: AccountID(ConsoleFixture.worker.id), tenant: ConsoleFixture.tenant,
            userPrincipalName: ConsoleFixture.worker.name)
        try await fixture.storage.write(ConsoleFixture.tenant) { transaction in
            for number in 0..<520 {
                try transaction.save(
                    Registration(
                        id: "r-\(number)", account: account, key: key, source: .appRegistered, created: long,
                        application: .init(bundleID: ConsoleFixture.bundleID, version: "1", sdkVersion: "1"),
                        device: .init(tag: "t-\(number)", osVersion: "18", model: "m")))
                try transaction.save(
                    WipeOperation(
                        id: "w-\(number)", registrationID: "r-\(number)", account: account.id,
                        bundleID: ConsoleFixture.bundleID, reason: .device, requestedBy: "owner", requested: long,
                        notAfter: fixture.clock.now, version: "v", state: .succeeded))
            }
        }
        try await fixture.test { browser in
            try await browser.signIn(ConsoleFixture.ada)
            for report in ["expiring", "wipes"] {
                let csv = try await browser.get("/console/reports/\(report)?format=csv").text
                #expect(csv.split(whereSeparator: \.isNewline).count == 521, "\(report)")
                let json = try await browser.get("/console/reports/\(report)?format=json").text
                #expect(try JSONValue(parsing: Data(json.utf8)).array?.count == 520, "\(report)")
            }
        }
    }

    @Test func `reports name the versions in use, and the catalogue those of each app`() async throws {
        let fixture = try await ConsoleFixture()
        _ = try await fixture.publishPolicy()
        try await fixture.test { browser in
            for tag in ["tag-1", "tag-2"] { try await browser.enrol(tag) }
            try await browser.signIn(ConsoleFixture.ada)
            let report = try await browser.get("/console/reports/versions")
            #expect(column("Of", of: report) == ["app", "library", "system"])
            #expect(column("Version", of: report) == ["1.0", "1.0", "18.2"])
            #expect(column("Apps on devices", of: report) == ["2", "2", "2"])
            let csv = try await browser.get("/console/reports/versions?format=csv")
            #expect(csv.text.contains("\(ConsoleFixture.bundleID),system,18.2,2"))
            let json = try await browser.get("/console/reports/versions?format=json&search=18.")
            let rows = try JSONValue(parsing: Data(json.text.utf8)).array
            #expect(rows?.map { $0["part"] } == ["system"])
            #expect(json.headers[.contentDisposition] == "attachment; filename=\"versions.json\"")
            for (name, bundle) in [("Notes", ConsoleFixture.bundleID), ("Unseen", "com.contoso.unseen")] {
                try await browser.post(
                    "/console/service/catalogue/new", [("name", name), ("bundle", bundle), ("own", "true")])
            }
            let catalogue = try await browser.get("/console/service/catalogue")
            let seen = column("Versions in use", of: catalogue)
            #expect(seen.sorted() == ["1.0", "not seen yet"])
            let link = try #require(
                catalogue.text.firstMatch(of: /href="(\/console\/service\/catalogue\/[^"]+)">Notes/)
            ).1
            #expect(try await browser.get(String(link)).text.contains("<td data-column=\"Version\"><code>18.2</code>"))
        }
    }

    @Test func `a filter's page counts the apps on devices that it fits, and those of a rule that is tried`()
        async throws
    {
        let fixture = try await ConsoleFixture()
        _ = try await fixture.publishPolicy()
        try await fixture.test { browser in
            try await browser.enrol("tag-1")
            try await browser.signIn(ConsoleFixture.ada)
            let saved = try await browser.post(
                "/console/service/filters/new", [("name", "New ones"), ("rule", "(app.appVersion -startsWith \"1\")")])
            #expect(saved.path.hasPrefix("/console/service/filters/"))
            #expect(saved.text.contains("Fits 1 of 1 apps on devices at present."))
            try await browser.enrol("tag-2")
            let page = try await browser.get(saved.path)
            #expect(page.text.contains("Fits 2 of 2 apps on devices at present."))
            // The page changes by itself.
            #expect(page.text.contains("data-live="))
            // Shown by the script once nothing comes any more.
            #expect(
                page.text.contains(/<p class="stale" role="status" hidden>This page does not change by itself any more/)
            )
            let tried = try await browser.get(saved.path + "?try=(app.deviceModel%20-eq%20%22iPad%22)")
            #expect(tried.text.contains("Fits 0 of 2 apps on devices at present."))
            #expect(tried.text.contains("Fits 2 of 2 apps on devices at present."))
            let wrong = try await browser.get(saved.path + "?try=nonsense")
            #expect(wrong.status == .ok && wrong.text.contains("note bad"))
            // What is saved does not take the place of what was filled in.
            let refused = try await browser.submit(page, to: saved.path, [("rule", "nonsense")])
            #expect(refused.status == .badRequest && !refused.text.contains("data-live="))
            let again = try await browser.get(saved.path)
            #expect(again.text.contains("value=\"nonsense\"") && !again.text.contains("data-live="))
        }
    }

    @Test func `a group says which directory it is synchronised from, or that it is kept here`() async throws {
        let storage = CountingStorage()
        let fixture = try await ConsoleFixture(storage: storage)
        _ = try await fixture.service.provisioning.synchronize(
            DirectoryContent(
                people: [DirectoryUser(id: "p-1", userPrincipalName: "p1@contoso.example", displayName: "P")],
                groups: [DirectoryGroup(id: "synced", displayName: "Office", members: [.user("p-1")])]),
            from: "people.json", of: ConsoleFixture.tenant)
        try await fixture.test { browser in
            try await browser.signIn(ConsoleFixture.ada)
            let page = try await browser.get("/console/service/groups")
            #expect(page.text.contains("people.json (people: 1, groups: 1)"))
            let names = column("Name", of: page).map { $0.replacing(/<[^>]*>/, with: "") }
            let from = Dictionary(zip(names, column("Comes from", of: page)), uniquingKeysWith: { first, _ in first })
            #expect(from["Office"]?.contains("synchronised from people.json: read only") == true)
            #expect(from["Field workers"] == "kept here, by SCIM or the administration API")
            // The people of a source are not read to say how many they are.
            func reads() async throws -> [StorageKind: Int] {
                try await storage.counts { _ = try await browser.get("/console/service/groups") }.read
            }
            #expect(try await reads()[.directorySource] == nil)
            // The control, which also shows that a source of an earlier version is told: without its summary, it is read.
            try await storage.write(ConsoleFixture.tenant) { transaction in
                try transaction.remove(DirectorySourceSummary.self, "people.json")
            }
            #expect(try await reads()[.directorySource] == 1)
            #expect(
                try await browser.get("/console/service/groups").text.contains("people.json (people: 1, groups: 1)"))
        }
    }

    @Test func `people who are not protected yet are listed, and a person's row says how they stand`() async throws {
        let fixture = try await ConsoleFixture()
        _ = try await fixture.publishPolicy()
        try await fixture.test { browser in
            try await browser.signIn(ConsoleFixture.ada)
            #expect(tile("not protected yet", on: try await browser.get("/console")) == "1")
            let list = try await browser.get("/console/people?state=unprotected")
            #expect(list.text.contains(">Worker A</a>") && !list.text.contains(">hedy@contoso.example</a>"))
            let before = try await browser.get("/console/people")
            #expect(before.text.contains("<span class=\"badge notice\">not protected yet</span>"))
            let device = try await browser.enrol("tag-1")
            for _ in 0..<2 { try await device.checkIn() }
            let after = try await browser.get("/console/people?state=unprotected")
            #expect(after.text.contains("No person with a policy is without protection."))
            #expect(
                try await browser.get("/console/people").text.contains("<span class=\"badge good\">protected</span>"))
        }
    }

    @Test func `people for whom no rules are meant are counted and listed, until a policy is for everyone`()
        async throws
    {
        let fixture = try await ConsoleFixture()
        _ = try await fixture.publishPolicy()
        try await fixture.test { browser in
            try await browser.signIn(ConsoleFixture.ada)
            let list = try await browser.get("/console/people?state=unassigned")
            #expect(!list.text.contains(">Worker A</a>") && list.text.contains(">hedy@contoso.example</a>"))
            let count = list.text.matches(of: /<td[^>]*><a href="\/console\/people\//).count
            let overview = try await browser.get("/console")
            #expect(count > 0 && tile("without a policy", on: overview) == "\(count)")
            let form = try await browser.get("/console/policies/new?for=everyone")
            let preview = try await browser.submit(form, to: "/console/policies/new", [("name", "All")])
            _ = try await browser.submit(preview, to: "/console/policies/new")
            #expect(tile("without a policy", on: try await browser.get("/console")) == "0")
        }
    }

    @Test func `the audit log of a person has their apps and wipes, and is found by their name`() async throws {
        let fixture = try await ConsoleFixture()
        _ = try await fixture.publishPolicy()
        try await fixture.test { browser in
            let device = try await browser.enrol("tag-1")
            _ = try await fixture.service.administration.requestWipe(
                ofUser: ConsoleFixture.worker.id, deviceTag: "tag-1", as: ConsoleFixture.owner)
            try await device.checkIn()
            try await device.carryOutWipes()
            try await fixture.service.provisioning.changeMembers(
                ofGroup: ConsoleFixture.group, adding: [], removing: [.user(ConsoleFixture.worker.id.uppercased())],
                as: ConsoleFixture.owner)
            try await browser.signIn(ConsoleFixture.ada)
            let person = try await browser.get("/console/people/\(ConsoleFixture.worker.id)").text
            let link = try #require(person.firstMatch(of: /href="([^"]*)">In the audit log/)).1
            let all = try await browser.get(Browser.unescape(link)).text
            for event in [
                "registration.create", "wipe.request", "wipe.delivered", "wipe.succeeded", "registration.wiped",
                "group.members",
            ] {
                #expect(all.contains("<code>\(event)</code>"), "\(event)")
            }
            #expect(!all.contains("policy.create") && !all.contains("eyJ"))
            #expect(all.contains(/href="\/console\/wipes\/[^"]+">a wipe</))
            let named = try await browser.get("/console/audit?days=365&who=worker%20a").text
            #expect(named.contains("wipe.succeeded") && !named.contains("policy.create"))
        }
    }

    @Test func `the audit page begins with the newest event, goes on to older ones and keeps long values short`()
        async throws
    {
        let fixture = try await ConsoleFixture()
        let long = String(repeating: "long ", count: 60)
        _ = try await fixture.publishPolicy(["displayName": "Notes", "description": .string(long)])
        for number in 0..<60 {
            try await fixture.service.provisioning.saveGroup(
                DirectoryGroup(id: "group-\(number)", displayName: "G\(number)"), as: ConsoleFixture.owner)
        }
        try await fixture.test { browser in
            try await browser.signIn(ConsoleFixture.ada)
            let newest = try await browser.get("/console/audit")
            #expect(newest.text.contains("group/group-59") && !newest.text.contains("group/group-0<"))
            let link = try #require(newest.text.firstMatch(of: /href="([^"]*)" rel="next"/)).1
            let older = try await browser.get(Browser.unescape(link))
            #expect(older.text.contains("group/group-0<") && !older.text.contains("group/group-59"))
            #expect(older.text.contains(">Notes</a>"))
            #expect(!older.text.contains(long.trimmingCharacters(in: .whitespaces)))
            let policies = try await browser.get("/console/audit?what=policy")
            #expect(policies.text.contains("policy.create") && !policies.text.contains("group.save"))
            try await fixture.service.administration.blockUser(ConsoleFixture.worker.id, as: ConsoleFixture.owner)
            let worker = try await browser.get("/console/audit?who=" + ConsoleFixture.worker.name)
            #expect(worker.text.contains("user.block") && !worker.text.contains("policy.create"))
            let owner = try await browser.get("/console/audit?what=policy&who=" + ConsoleFixture.ada.name)
            #expect(owner.text.contains("policy.create") && !owner.text.contains("user.block"))
            let nobody = try await browser.get("/console/audit?who=nobody")
            #expect(nobody.text.contains("The directory has no person with this name."))
            #expect(!nobody.text.contains("policy.create") && !nobody.text.contains("user.block"))
        }
    }
}
