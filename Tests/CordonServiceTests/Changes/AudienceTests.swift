import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonTestSupport
import Foundation
import Testing

@testable import CordonService

/// An impact says how many people the assignments of a policy reach, from counts, and names some of them.
struct AudienceTests {
    private static func audience(
        _ policy: ManagedAppPolicy, _ targets: PolicyAssignment.Target..., in test: TestOrganisation
    ) async throws -> Audience? {
        try await test.service.administration.impact(
            of: .policy(.assign(policy.id, targets.map { PolicyAssignment($0) })), as: test.owner
        ).audience
    }

    /// How many are reached before and after, and how many are left.
    private static func numbers(_ audience: Audience) -> String {
        "\(audience.before), \(audience.after), \(audience.leaving)"
    }

    /// Adds people to a group, some of whom app protection does not serve.
    private static func fill(
        _ group: String, _ numbers: Range<Int>, licensed: Bool = true, in test: TestOrganisation
    ) async throws {
        for number in numbers {
            try await test.service.provisioning.saveUser(
                DirectoryUser(
                    id: "oid-\(number)", userPrincipalName: "\(number)@contoso.example",
                    displayName: "Person \(1_000 + number)", isLicensed: licensed), as: test.owner)
        }
        let known = try? await test.service.administration.group(group, as: test.owner)
        try await test.service.provisioning.saveGroup(
            DirectoryGroup(
                id: group, displayName: group, members: (known?.members ?? []).union(numbers.map { .user("oid-\($0)") })
            ),
            as: test.owner)
        try await test.service.finishAnnouncing(of: TestOrganisation.tenant)
    }

    @Test
    func
        `an impact counts the people of groups once, through other groups too, without those who are excluded or not served`()
        async throws
    {
        let test = try await TestOrganisation.withPeople()
        try await Self.fill("writers", 0..<30, in: test)
        try await Self.fill("guests", 20..<40, in: test)
        try await Self.fill("guests", 40..<45, licensed: false, in: test)
        let policy = try await test.protect(to: .group("guests"))
        // Ada and 30 in "writers", which is in "staff" with Ben; 10 of the 20 in "guests" are in "writers" too.
        let staff = try #require(await Self.audience(policy, .group("staff"), in: test))
        #expect(Self.numbers(staff) == "20, 32, 10")
        #expect(staff.some.count == 20)
        let names: [String] = staff.some.map(\.displayName)
        #expect(names == names.sorted())
        let both = try #require(await Self.audience(policy, .group("writers"), .group("GUESTS"), in: test))
        #expect(Self.numbers(both) == "20, 41, 0")
        let without = try #require(
            await Self.audience(policy, .allLicensedUsers, .exclusionGroup("staff"), in: test))
        #expect(Self.numbers(without) == "20, 10, 10")
        let ids: Set<String> = Set(without.some.map(\.id))
        #expect(ids == Set((30..<40).map { "oid-\($0)" }))
        let none = try #require(await Self.audience(policy, in: test))
        #expect(Self.numbers(none) == "20, 0, 20")
        #expect(none.some.isEmpty)
    }

    @Test func `who may write policies and not read the directory is told how many people there are, and no names`()
        async throws
    {
        let test = try await TestOrganisation.withPeople()
        let document: JSONValue = [
            "displayName": "New",
            "assignments": [["target": ["@odata.type": "#microsoft.graph.groupAssignmentTarget", "groupId": "staff"]]],
        ]
        try await test.finishAnnouncing()
        func audience(_ permissions: Set<Permission>) async throws -> Audience {
            let role = CustomRole(id: "w", displayName: "W", permissions: permissions, members: ["w"])
            let writer = Administrator(
                tenant: TestOrganisation.tenant, id: "w", name: "w", roles: [], customRoles: [role])
            let impact = try await test.service.administration.impact(
                of: .policy(.create(.iosManagedAppProtection, document)), as: writer)
            return try #require(impact.audience)
        }
        let limited = try await audience([.writePolicies, .assignPolicies])
        #expect(Self.numbers(limited) == "0, 2, 0" && limited.some.isEmpty)
        let named = try await audience([.read, .writePolicies, .assignPolicies])
        #expect(named.some.map(\.displayName) == ["Ada", "Ben"])
    }

    @Test func `counting whom an assignment reaches reads no more of a group of 500 than of one of 250`() async throws {
        var most: [[Int]] = []
        for size in [250, 500] {
            let storage = CountingStorage()
            let test = try await TestOrganisation.withPeople(storage: storage)
            try await Self.fill("guests", 0..<size, in: test)
            let policy = try await test.protect(to: .group("guests"))
            // What is told behind a change reads too.
            try await test.service.finishAnnouncing(of: TestOrganisation.tenant)
            let counts = try await storage.counts {
                let audience = try #require(await Self.audience(policy, .group("guests"), in: test))
                #expect(audience.after == size && audience.some.count == 20)
            }
            most.append([StorageKind.user, .membership, .standing, .standingCount].map { counts.read[$0] ?? 0 })
        }
        #expect(most.first == most.last)
    }
}
