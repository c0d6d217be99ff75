import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonService
import CordonTestSupport
import Foundation
import Testing

/// Groups as records: what a change costs goes by who comes and goes, not by who is there.
struct MembershipTests {
    private func crowd(_ number: Int, in test: TestOrganisation) async throws {
        try await test.service.provisioning.saveGroup(
            DirectoryGroup(
                id: "Crowd", displayName: "Crowd",
                members: Set((0..<number).map { DirectoryGroup.Member.user("p-\($0)") })),
            as: test.owner)
    }

    @Test func `adding one member to a large group reads and writes as much as to a small one`() async throws {
        var costs: [CountingStorage.Counts] = []
        for number in [5, 2_000] {
            let storage = CountingStorage()
            let test = try await TestOrganisation.withPeople(storage: storage)
            try await crowd(number, in: test)
            try await test.protect(to: .group("crowd"))
            try await test.finishAnnouncing()
            costs.append(
                try await storage.counts {
                    try await test.service.provisioning.changeMembers(
                        ofGroup: "crowd", adding: [.user("oid-Ada")], removing: [.user("nobody")], as: test.owner)
                })
            let members = try await test.service.administration.group("crowd", as: test.owner).members
            #expect(members.count == number + 1 && members.contains(.user("oid-Ada")))
        }
        #expect(costs[0] == costs[1])
        // The member, what figures know of the person, and the counts that the person leaves and comes into.
        #expect(costs[1].written == [.membership: 1, .standing: 1, .standingCount: 2])
    }

    @Test func `the audit log of a person whose id has a comma tells of their groups, and of no other person's`()
        async throws
    {
        let test = try await TestOrganisation.withPeople()
        try await test.service.provisioning.changeMembers(
            ofGroup: "guests", adding: [.user("b,ada"), .user("oid-ada"), .user("x, user/oid-ben")], removing: [],
            as: test.owner)
        for (person, count) in [("b,ada", 1), ("oid-ada", 1), ("b", 0), ("ada", 0), ("oid-ben", 0)] {
            let found = try await test.service.administration.newestAuditRecords(
                before: nil, actionsFrom: "group.members", person: person, limit: 10, as: test.owner
            ).records
            #expect(found.count == count, "\(person)")
        }
    }

    @Test
    func `an app is told when its person comes into a group and when they leave it, and a twin spelling is no member`()
        async throws
    {
        let test = try await TestOrganisation.withPeople()
        try await test.protect(to: .group("staff"))
        let policy = try await test.protect(["printBlocked": true], to: .group("guests"))
        var app = TestApp(test)
        try await app.register()
        func told() async throws -> Int64 {
            try await test.finishAnnouncing()
            let id = app.registrationID
            return try await test.storage.read(TestOrganisation.tenant) { records in
                try records.record(EventBookmark.self, id)?.lastID ?? 0
            }
        }
        let provisioning = test.service.provisioning
        try await provisioning.changeMembers(
            ofGroup: "GUESTS", adding: [.user("OID-ADA")], removing: [], as: test.owner)
        #expect(try await told() == 1)
        try await provisioning.changeMembers(
            ofGroup: "guests", adding: [.user("oid-ada")], removing: [], as: test.owner)
        #expect(try await told() == 1)
        #expect(try await test.service.administration.group("guests", as: test.owner).members == [.user("OID-ADA")])
        try await app.checkIn()
        #expect(app.envelope?.policy?.contributors.map(\.id).contains(policy.id) == true)
        try await provisioning.changeMembers(
            ofGroup: "guests", adding: [], removing: [.user("oid-Ada")], as: test.owner)
        #expect(try await told() == 2)
    }

    @Test func `a group comes into another and goes, and every member of it is told`() async throws {
        let test = try await TestOrganisation.withPeople()
        try await test.protect(to: .group("staff"))
        try await test.protect(["printBlocked": true], to: .group("guests"))
        var ada = TestApp(test, user: "ada")
        var ben = TestApp(test, user: "ben")
        try await ada.register()
        try await ben.register()
        func told() async throws -> [String: Int64] {
            try await test.finishAnnouncing()
            return try await test.storage.read(TestOrganisation.tenant) { records in
                try records.records(EventBookmark.self).reduce(into: [:]) { $0[$1.registrationID] = $1.lastID }
            }
        }
        try await test.service.provisioning.changeMembers(
            ofGroup: "guests", adding: [.group("writers")], removing: [], as: test.owner)
        #expect(try await told() == [ada.registrationID: 1])
        try await test.service.provisioning.removeGroup("guests", as: test.owner)
        #expect(try await told() == [ada.registrationID: 2])
        await #expect(throws: ServiceError.self) {
            try await test.service.provisioning.changeMembers(
                ofGroup: "writers", adding: [.group("Writers")], removing: [], as: test.owner)
        }
    }

    @Test func `a snapshot of targeting outlives people who come and go`() async throws {
        let storage = CountingStorage()
        let test = try await TestOrganisation.withPeople(storage: storage)
        try await test.protect(to: .group("staff"))
        var app = TestApp(test)
        try await app.register()
        try await app.checkIn()
        try await test.service.provisioning.changeMembers(
            ofGroup: "guests", adding: [.user("oid-ben")], removing: [], as: test.owner)
        try await test.service.provisioning.saveGroup(
            DirectoryGroup(id: "new", displayName: "New", members: [.user("oid-ada")]), as: test.owner)
        let cost = try await storage.counts { _ = try await app.checkIn() }
        #expect(cost.read[.policy] == nil && cost.read[.filter] == nil)
    }
}
