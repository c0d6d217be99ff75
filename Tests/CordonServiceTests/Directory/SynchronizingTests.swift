import CordonProtocol
import CordonService
import Testing

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
