import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonTestSupport
import Testing

@testable import CordonService

/// People and groups from another system.
struct SynchronizingTests {
    private func person(_ name: String, enabled: Bool = true) -> DirectoryUser {
        DirectoryUser(
            id: "oid-\(name)", userPrincipalName: "\(name)@contoso.example", displayName: name, accountEnabled: enabled)
    }

    @Test func `what a source brings comes, changes and goes, and what came another way stays`() async throws {
        let test = try await TestOrganisation.withPeople()
        let group = DirectoryGroup(id: "night", displayName: "Night", members: [.user("oid-cleo")])
        let first = DirectoryContent(people: [person("cleo"), person("dora")], groups: [group])
        var changes = try await test.service.provisioning.synchronize(first, from: "file", of: TestOrganisation.tenant)
        #expect(changes == DirectoryChanges(saved: 3, removed: 0))
        let written = try await test.records().count
        changes = try await test.service.provisioning.synchronize(first, from: "file", of: TestOrganisation.tenant)
        #expect(changes == DirectoryChanges())
        #expect(try await test.records().count == written)

        let second = DirectoryContent(people: [person("dora", enabled: false)])
        changes = try await test.service.provisioning.synchronize(second, from: "file", of: TestOrganisation.tenant)
        #expect(changes == DirectoryChanges(saved: 1, removed: 2))
        let users = try await test.service.administration.users(as: test.owner)
        #expect(users.map(\.id) == ["oid-ada", "oid-ben", "oid-dora"])
        #expect(users.last?.accountEnabled == false)
        #expect(
            try await test.service.administration.groups(as: test.owner).map(\.id) == ["guests", "staff", "writers"])
        #expect(try await test.records().last?.actor.id == "file")
    }

    @Test func `what broke off is finished by the next run`() async throws {
        let test = try await TestOrganisation.withPeople()
        var thief = person("ada")
        thief.id = "oid-thief"
        let bad = DirectoryContent(people: [person("cleo"), thief])
        #expect(
            await failure {
                _ = try await test.service.provisioning.synchronize(bad, from: "file", of: TestOrganisation.tenant)
            }?.code
                == .conflict)
        _ = try await test.service.provisioning.synchronize(
            DirectoryContent(), from: "file", of: TestOrganisation.tenant)
        #expect(try await test.service.administration.users(as: test.owner).map(\.id) == ["oid-ada", "oid-ben"])
    }

    /// People of a source, each with an app, in a group under another one that a policy is for, or not, and in one that none is for.
    private func crew(
        of count: Int = 25, wipe: Bool, inCrew: Bool = true
    ) async throws -> (test: TestOrganisation, content: DirectoryContent) {
        let test = try await TestOrganisation.withPeople()
        let people = (0..<count).map { person("w\($0)") }
        let members = Set(people.map { DirectoryGroup.Member.user($0.id) })
        let content = DirectoryContent(
            people: people,
            groups: [
                DirectoryGroup(id: "crew", displayName: "Crew", members: inCrew ? members : []),
                DirectoryGroup(id: "all", displayName: "All", members: [.group("crew"), .group("office")]),
                DirectoryGroup(id: "office", displayName: "Office"),
                DirectoryGroup(id: "everyone", displayName: "Everyone", members: members),
            ])
        _ = try await test.service.provisioning.synchronize(content, from: "file", of: TestOrganisation.tenant)
        _ = try await test.protect(wipe ? ["appActionIfUnableToAuthenticateUser": "wipe"] : [:], to: .group("all"))
        if !inCrew {
            _ = try await test.service.administration.createPolicy(
                .defaultManagedAppProtection, document: ["displayName": "Default"], as: test.owner)
        }
        for number in 0..<count {
            var app = TestApp(test, user: "w\(number)", tag: "tag-\(number)")
            try await app.register()
        }
        return (test, content)
    }

    private func people(of test: TestOrganisation) async throws -> Int {
        try await test.service.administration.users(as: test.owner).count {
            $0.id.hasPrefix("oid-w") && $0.accountEnabled
        }
    }

    @Test func `a source that names nobody any more changes nothing`() async throws {
        let (test, _) = try await crew(wipe: true)
        let error = await failure {
            _ = try await test.service.provisioning.synchronize(
                DirectoryContent(), from: "file", of: TestOrganisation.tenant)
        }
        #expect(error?.code == .invalid)
        #expect(try await people(of: test) == 25)
    }

    @Test func `people who lose data by a source count against its hour, and above that a person releases it`()
        async throws
    {
        let (test, content) = try await crew(wipe: true)
        let provisioning = test.service.provisioning
        func left(_ count: Int) -> DirectoryContent {
            var left = content
            left.people.removeFirst(25 - count)
            for group in [0, 3] { left.groups[group].members = Set(left.people.map { .user($0.id) }) }
            return left
        }
        func synchronize(_ content: DirectoryContent) async throws -> DirectoryChanges {
            try await provisioning.synchronize(content, from: "file", of: TestOrganisation.tenant)
        }
        _ = try await synchronize(left(15))
        #expect(try await people(of: test) == 15)
        test.clock.advance(by: 3_601)
        _ = try await synchronize(left(14))
        // Disabled people lose their data like those who are gone.
        var disabled = left(14)
        for index in disabled.people.indices { disabled.people[index].accountEnabled = index == 0 }
        _ = try await synchronize(disabled)
        #expect(try await people(of: test) == 1)

        let (other, all) = try await crew(wipe: true)
        var disabling = all
        for index in disabling.people.indices { disabling.people[index].accountEnabled = false }
        let asked = disabling
        let waiting = await failure {
            _ = try await other.service.provisioning.synchronize(asked, from: "file", of: TestOrganisation.tenant)
        }
        #expect(waiting?.code == .waiting)
        let shown = try await other.service.administration.approvals.change(
            try #require(waiting?.place), as: other.owner
        ).changes
        #expect(shown.map(\.member) == ["losing"])
        #expect(try await people(of: other) == 25)
        // The source goes on while the change waits.
        disabling.people.append(person("new"))
        disabling.groups[2].members = [.user("oid-new")]
        let later = disabling
        let again = await failure {
            _ = try await other.service.provisioning.synchronize(later, from: "file", of: TestOrganisation.tenant)
        }
        #expect(again?.place == waiting?.place)
        try await other.service.releaseChange(try #require(waiting?.place), of: TestOrganisation.tenant)
        _ = try await other.service.provisioning.synchronize(later, from: "file", of: TestOrganisation.tenant)
        #expect(try await people(of: other) == 0)
    }

    @Test func `a source that leaves out most of its people waits for a person, whatever the rules say`() async throws {
        let (test, content) = try await crew(wipe: false)
        var few = content
        few.people.removeLast(22)
        // No rules would be meant for anybody.
        var (ungrouped, emptied, unnested, unlicensed, recased) = (content, content, content, content, content)
        ungrouped.groups = []
        emptied.groups[0].members = []
        unnested.groups[1].members = [.group("office")]
        for index in unlicensed.people.indices { unlicensed.people[index].isLicensed = false }
        for index in recased.people.indices { recased.people[index].id = recased.people[index].id.uppercased() }
        for asked in [few, ungrouped, emptied, unnested, unlicensed, recased] {
            let error = await failure {
                _ = try await test.service.provisioning.synchronize(asked, from: "file", of: TestOrganisation.tenant)
            }
            #expect(error?.code == .waiting)
        }
        #expect(try await people(of: test) == 25)
        #expect(try await test.service.administration.group("crew", as: test.owner).members.count == 25)
        let waiting = try await test.service.administration.approvals.changes(as: test.owner)
        #expect(waiting.contains { $0.changes.map(\.member) == ["unserved"] && $0.reach.people == 25 })
        // Fewer than half, whose rules wipe nothing: an ordinary day.
        for index in 0..<12 { unlicensed.people[index + 12].isLicensed = true }
        unlicensed.people[24].isLicensed = true
        _ = try await test.service.provisioning.synchronize(unlicensed, from: "file", of: TestOrganisation.tenant)
        #expect(try await test.service.administration.user("oid-w11", as: test.owner).isLicensed == false)
        var most = content
        most.people.removeLast(12)
        _ = try await test.service.provisioning.synchronize(most, from: "file", of: TestOrganisation.tenant)
        #expect(try await people(of: test) == 13)
    }

    @Test func `a source that mends ids which were in another case closes nobody's app, and waits for nobody`()
        async throws
    {
        let (test, content) = try await crew(wipe: false)
        var recased = content
        for index in recased.people.indices { recased.people[index].id = recased.people[index].id.uppercased() }
        let wrong = recased
        let error = await failure {
            _ = try await test.service.provisioning.synchronize(wrong, from: "file", of: TestOrganisation.tenant)
        }
        try await test.service.releaseChange(try #require(error?.place), of: TestOrganisation.tenant)
        _ = try await test.service.provisioning.synchronize(wrong, from: "file", of: TestOrganisation.tenant)
        #expect(try await test.service.administration.user("oid-w0", as: test.owner).id == "OID-W0")
        _ = try await test.service.provisioning.synchronize(content, from: "file", of: TestOrganisation.tenant)
        #expect(try await test.service.administration.user("oid-w0", as: test.owner).id == "oid-w0")
    }

    @Test func `a source that takes most licences waits for a person also where it brought none of the people`()
        async throws
    {
        let (test, content) = try await crew(wipe: false)
        var unlicensed = content
        for index in unlicensed.people.indices { unlicensed.people[index].isLicensed = false }
        let asked = unlicensed
        let error = await failure {
            _ = try await test.service.provisioning.synchronize(asked, from: "another", of: TestOrganisation.tenant)
        }
        #expect(error?.code == .waiting)
        #expect(try await test.service.administration.user("oid-w0", as: test.owner).isLicensed)
    }

    @Test func `a policy for everybody is no substitute for what an emptied group had`() async throws {
        let (test, content) = try await crew(wipe: false)
        _ = try await test.service.administration.createPolicy(
            .defaultManagedAppProtection, document: ["displayName": "Default"], as: test.owner)
        let error = await failure {
            _ = try await test.service.provisioning.synchronize(
                DirectoryContent(people: content.people), from: "file", of: TestOrganisation.tenant)
        }
        #expect(error?.code == .waiting)
    }

    @Test func `people who get a policy in place of the default one lose nothing`() async throws {
        let (test, content) = try await crew(wipe: false, inCrew: false)
        var placed = content
        placed.groups[0].members = content.groups[3].members
        placed.groups[3].members = []
        _ = try await test.service.provisioning.synchronize(placed, from: "file", of: TestOrganisation.tenant)
        #expect(try await test.service.administration.group("crew", as: test.owner).members.count == 25)
    }

    @Test func `a group that a source puts elsewhere, where the same policy is meant for it, loses nothing`()
        async throws
    {
        let (test, content) = try await crew(wipe: false)
        var moved = content
        moved.groups[1].members = [.group("office")]
        moved.groups[2].members = [.group("crew")]
        _ = try await test.service.provisioning.synchronize(moved, from: "file", of: TestOrganisation.tenant)
        #expect(try await test.service.administration.group("office", as: test.owner).members == [.group("crew")])
    }

    @Test func `a source that empties a group which came another way waits for a person`() async throws {
        let (test, _) = try await DestructiveChangeTests.staffed(21)
        let content = DirectoryContent(
            people: [person("cleo")], groups: [DirectoryGroup(id: "staff", displayName: "Staff")])
        let error = await failure {
            _ = try await test.service.provisioning.synchronize(content, from: "file", of: TestOrganisation.tenant)
        }
        #expect(error?.code == .waiting)
    }

    @Test func `people whom a source brings back count where the rules that wait for them wipe their devices`()
        async throws
    {
        let (test, content) = try await crew(wipe: false)
        try await test.service.provisioning.saveGroup(DirectoryGroup(id: "lost", displayName: "Lost"), as: test.owner)
        _ = try await test.protect(["minimumWipeOsVersion": "99"], name: "Lost", to: .group("lost"))
        var (parked, lost) = (content, content)
        for index in parked.people.indices { parked.people[index].isLicensed = false }
        lost.groups.append(DirectoryGroup(id: "lost", displayName: "Lost", members: content.groups[0].members))
        // Away and back to the rules that they hold.
        for person in parked.people { try await test.service.provisioning.saveUser(person, as: test.owner) }
        _ = try await test.service.provisioning.synchronize(content, from: "file", of: TestOrganisation.tenant)
        for person in parked.people { try await test.service.provisioning.saveUser(person, as: test.owner) }
        let asked = lost
        let error = await failure {
            _ = try await test.service.provisioning.synchronize(asked, from: "file", of: TestOrganisation.tenant)
        }
        #expect(error?.code == .waiting)
        let waiting = try await test.service.administration.approvals.change(
            try #require(error?.place), as: test.owner)
        #expect(waiting.changes.map(\.member) == ["returning", "groups"])
        #expect(try await test.service.administration.user("oid-w0", as: test.owner).isLicensed == false)
    }

    @Test func `a release for people who lose their rules lets the same people lose no data`() async throws {
        let (test, content) = try await crew(wipe: false)
        try await test.service.provisioning.saveGroup(DirectoryGroup(id: "lost", displayName: "Lost"), as: test.owner)
        _ = try await test.protect(["minimumWipeOsVersion": "99"], name: "Lost", to: .group("lost"))
        var (emptied, lost) = (content, content)
        emptied.groups[0].members = []
        lost.groups.append(DirectoryGroup(id: "lost", displayName: "Lost", members: content.groups[0].members))
        var places: [String?] = []
        for asked in [emptied, lost] {
            let error = await failure {
                _ = try await test.service.provisioning.synchronize(asked, from: "file", of: TestOrganisation.tenant)
            }
            #expect(error?.code == .waiting)
            places.append(error?.place)
        }
        #expect(Set(places).count == 2)
    }

    @Test func `a source that takes half of the members out of a group ends their rules, and nobody counts`()
        async throws
    {
        let (test, content) = try await crew(of: 24, wipe: true)
        var fewer = content
        fewer.groups[0].members = Set(content.people.suffix(12).map { .user($0.id) })
        _ = try await test.service.provisioning.synchronize(fewer, from: "file", of: TestOrganisation.tenant)
        #expect(try await test.service.administration.group("crew", as: test.owner).members.count == 12)
        let budget = try await test.storage.read(TestOrganisation.tenant) { try $0.record(WipeBudget.self, "file") }
        #expect(budget?.spent(at: test.clock.now) ?? 0 == 0)
    }

    @Test func `a source that names a person or a group twice changes nothing`() async throws {
        let test = try await TestOrganisation.withPeople()
        func group(_ id: String, _ member: String) -> DirectoryGroup {
            DirectoryGroup(id: id, displayName: "Night", members: [.user(member)])
        }
        let people = [person("cleo"), person("dora")]
        for (id, content) in [
            (
                "night",
                DirectoryContent(
                    people: people,
                    groups: [group("day", "oid-cleo"), group("night", "oid-cleo"), group("NIGHT", "oid-dora")])
            ),
            ("oid-cleo", DirectoryContent(people: people + [person("cleo", enabled: false)])),
        ] {
            let error = await failure {
                _ = try await test.service.provisioning.synchronize(content, from: "file", of: TestOrganisation.tenant)
            }
            #expect(error?.code == .invalid && error?.place == id)
        }
        #expect(try await test.service.administration.users(as: test.owner).map(\.id) == ["oid-ada", "oid-ben"])
    }

    @Test func `a sign-in name is handed on, and two people may swap theirs, in one run`() async throws {
        let test = try await TestOrganisation.withPeople()
        func named(_ id: String, _ name: String) -> DirectoryUser {
            DirectoryUser(id: id, userPrincipalName: "\(name)@contoso.example", displayName: id)
        }
        let runs = [
            [named("a", "one"), named("b", "two")],
            // A chain: a takes b's former name.
            [named("a", "two"), named("b", "three")],
            // A swap.
            [named("a", "three"), named("b", "two")],
        ]
        for people in runs {
            let changes = try await test.service.provisioning.synchronize(
                .init(people: people, groups: [DirectoryGroup(id: "g", displayName: "G", members: [.user("a")])]),
                from: "file", of: TestOrganisation.tenant)
            #expect(changes.saved >= 2)
            #expect(try await test.service.administration.users(as: test.owner).prefix(2) == people[...])
        }
        #expect(try await test.service.administration.user("three@contoso.example", as: test.owner).id == "a")
        let double = DirectoryContent(people: [named("a", "same"), named("b", "same")])
        let before = try await test.service.administration.users(as: test.owner)
        #expect(
            await failure {
                _ = try await test.service.provisioning.synchronize(double, from: "file", of: TestOrganisation.tenant)
            }?.code
                == .conflict)
        #expect(try await test.service.administration.users(as: test.owner) == before)
    }
}
