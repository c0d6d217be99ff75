import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonService
import CordonTestSupport
import CordonTesting
import Foundation
import HTTPTypes
import Testing

/// A page costs what it shows, whatever the organisation has.
@Suite struct ConsoleReadsTests {
    /// The pages that look at up to a thousand records of a kind: numbers, states and searches.
    private static let bounded: Set = [
        "/console", "/console/people?state=unprotected", "/console/people?state=unassigned",
        "/console/people?search=person", "/console/wipes?state=open",
        "/console/service/groups?search=group",
    ]
    /// What there is the more of, the larger an organisation is.
    private static let growing: [StorageKind] = [
        .user, .group, .membership, .registration, .operation, .block, .deliveredRules, .standing, .sharedDevice,
        .alert,
        .telemetry, .command,
    ]

    /// Adds people, each blocked, with an app, a wipe, a flagged device, a group, a shared device and an alert.
    private func grow(_ fixture: ConsoleFixture, _ browser: Browser, by numbers: Range<Int>) async throws {
        let (service, owner) = (fixture.service, ConsoleFixture.owner)
        let base = try #require(URL(string: ConsoleFixture.base))
        for number in numbers {
            let person = FakeProvider.Person(id: "p-\(number)", name: "p\(number)@contoso.example", roles: [])
            try await service.provisioning.saveUser(
                DirectoryUser(id: person.id, userPrincipalName: person.name, displayName: "Person \(number)"), as: owner
            )
            try await service.provisioning.saveGroup(
                DirectoryGroup(id: "g-\(number)", displayName: "Group \(number)", members: [.user(person.id)]),
                as: owner)
        }
        let members = (0..<numbers.upperBound).map { DirectoryGroup.Member.user("p-\($0)") }
        try await service.provisioning.saveGroup(
            DirectoryGroup(
                id: ConsoleFixture.group, displayName: "Field workers",
                members: Set(members + [.user(ConsoleFixture.worker.id)])), as: owner)
        for number in numbers {
            let person = FakeProvider.Person(id: "p-\(number)", name: "p\(number)@contoso.example", roles: [])
            let device = try await ConsoleFixture.device(
                "tag-\(number)", of: person, at: base, service, fixture.provider,
                over: RouterTransport(client: browser.client), now: { fixture.clock.now })
            try await device.register()
            _ = try await device.checkIn(health: [.rootedDevice])
            _ = try await service.administration.requestWipe(ofUser: person.id, deviceTag: "tag-\(number)", as: owner)
            try await service.administration.blockUser(person.id, as: owner)
        }
        let now = fixture.clock.now
        let key = SoftwareSigningKey().publicKey
        try await fixture.storage.write(ConsoleFixture.tenant) { transaction in
            for number in numbers {
                try transaction.save(
                    SharedDevice(
                        id: "shared-\(number)", key: key, name: "Till \(number)", registered: now, registeredBy: "ada"))
                try transaction.save(
                    OperatorAlert(
                        id: "alert-\(number)", kind: .wipeFailed, time: now.addingTimeInterval(-Double(number * 60)),
                        operationID: "w-\(number)", registrationID: "r-\(number)", userID: "p-\(number)",
                        bundleID: ConsoleFixture.bundleID, attempts: 3))
            }
        }
        try await service.finishAnnouncing(of: ConsoleFixture.tenant)
        try await service.performMaintenance(of: ConsoleFixture.tenant)
    }

    @Test
    func `no page reads more of an organisation of twice the size, and none reads every record of a kind that grows`()
        async throws
    {
        let storage = CountingStorage()
        let fixture = try await ConsoleFixture(wipeBudget: 1_000_000, storage: storage)
        let policy = try await fixture.publishPolicy()
        let routes = try ConsoleCrawl.routes("get")
        try await fixture.test { browser in
            try await grow(fixture, browser, by: 0..<60)
            try await browser.signIn(ConsoleFixture.ada)
            let pages =
                try await ConsoleCrawl(browser: browser).pages(of: routes).map(\.path)
                + ["flagged", "drift", "expiring", "wipes", "alerts", "versions"].map { "/console/reports/\($0)" }
                + [
                    "/console/people?search=person", "/console/people?state=unprotected",
                    "/console/people?state=unassigned", "/console/blocked", "/console/audit?days=365&who=p-3",
                    "/console/wipes?state=open", "/console/wipes?user=p-3", "/console/reports/drift?search=tag",
                    "/console/ask?person=p-3&action=print", "/console/audit?days=365&what=wipe",
                    "/console/policies/\(policy)/assignments", "/console/service/groups?search=group",
                ]
            func measured() async throws -> [String: (read: [StorageKind: Int], wholes: [StorageKind])] {
                var all: [String: (read: [StorageKind: Int], wholes: [StorageKind])] = [:]
                for path in Set(pages) {
                    let counts = try await storage.counts {
                        let page = try await browser.get(path)
                        #expect(page.status == .ok, "\(path): \(page.status)")
                        #expect(page.text.ranges(of: "<tr>").count <= 110, "\(path)")
                    }
                    let reads = try await storage.reads { _ = try await browser.get(path) }
                    all[path] = (counts.read, Self.growing.filter { reads[$0]?.all ?? 0 > 0 })
                }
                return all
            }
            let before = try await measured()
            try await grow(fixture, browser, by: 60..<120)
            let after = try await measured()
            #expect(before.count > 40)
            for (path, (read, wholes)) in after.sorted(by: { $0.key < $1.key }) {
                #expect(wholes.isEmpty, "\(path) reads every one of \(wholes)")
                for kind in Self.growing where !Self.bounded.contains(path) {
                    let (was, now) = (before[path]?.read[kind] ?? 0, read[kind] ?? 0)
                    #expect(now <= was + 20, "\(path) reads \(now) of \(kind), \(was) of half of them")
                }
            }
            // The control: a page for which every alert was read would have been found.
            let whole = try await storage.counts {
                _ = try await fixture.service.administration.alerts(as: ConsoleFixture.owner)
            }
            #expect(whole.read[.alert] ?? 0 >= 120)
        }
    }

    @Test func `the newest alerts and a page of shared devices are those that the page says, and lead to the others`()
        async throws
    {
        let fixture = try await ConsoleFixture(wipeBudget: 1_000_000)
        _ = try await fixture.publishPolicy()
        try await fixture.test { browser in
            try await grow(fixture, browser, by: 0..<60)
            let newest = try await fixture.service.administration.alerts(as: ConsoleFixture.owner, limit: 7)
            let all = try await fixture.service.administration.alerts(as: ConsoleFixture.owner)
            #expect(all.count >= 60 && newest == Array(all.prefix(7)))
            try await browser.signIn(ConsoleFixture.ada)
            let first = try await browser.get("/console/devices")
            #expect(first.text.contains("Till 0<") && !first.text.contains("Till 9<"))
            let link = try #require(first.text.firstMatch(of: /href="(\/console\/devices\?shared=[^"]+)"/)).1
            let second = try await browser.get(Browser.unescape(link))
            #expect(second.text.contains("Till 9<") && !second.text.contains("Till 0<"))
        }
    }

    @Test func `lists that administrators made themselves come a page at a time too`() async throws {
        let fixture = try await ConsoleFixture()
        let id = try await fixture.publishPolicy()
        let (owner, now) = (ConsoleFixture.owner, fixture.clock.now)
        let administration = fixture.service.administration
        for number in 100..<160 {
            try await administration.saveResource(
                AssignmentFilter(
                    id: "filter-\(number)", displayName: "One \(number)", rule: "(app.appVersion -startsWith \"1\")",
                    created: now, modified: now), isNew: true, as: owner)
            try await administration.saveResource(
                ScopeTag(id: "\(number)", displayName: "One \(number)"), isNew: true, as: owner)
            try await administration.saveResource(
                CatalogueApp(bundleID: "com.contoso.a\(number)", displayName: "One \(number)"), isNew: true, as: owner)
            _ = try await administration.createPolicy(
                .targetedManagedAppConfiguration, document: ["displayName": .string("One \(number)")], as: owner)
            try await administration.saveResource(
                CustomRole(
                    id: "role-\(number)", displayName: "One \(number)", permissions: [.read], members: ["user:oid-eve"]),
                isNew: true, as: owner)
            _ = try await administration.updatePolicy(
                id, changes: ["description": .string("\(number)")], ifVersion: nil, as: owner)
        }
        try await fixture.test { browser in
            try await browser.signIn(ConsoleFixture.ada)
            let offered = try await browser.get("/console/policies/\(id)/apps")
            #expect(offered.text.contains("There are more than are listed here: name those by bundle id below."))
            for path in [
                "/console/service", "/console/service/tags", "/console/service/catalogue", "/console/configurations",
                "/console/roles", "/console/policies/\(id)/history",
            ] {
                var (link, rows, pages): (String?, [String], Int) = (path, [], 0)
                while let next = link, pages < 9 {
                    let page = try await browser.get(next)
                    let shown = page.text.matches(of: /<tr><td[^>]*>(.*?)<\/td>/).map { String($0.1) }
                    #expect(page.text.utf8.count < 100_000 && shown.count <= 60, "\(next): \(shown.count) rows")
                    rows += shown.filter { $0.contains("One 1") || $0.contains("Version ") }
                    link = page.text.firstMatch(of: /href="([^"]*)" rel="next"/).map { Browser.unescape($0.1) }
                    pages += 1
                }
                #expect(
                    pages == 2 && rows.count >= 60 && Set(rows).count == rows.count, "\(path): \(pages), \(rows.count)")
            }
        }
    }
}
