import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonService
import CordonTestSupport
import CordonTesting
import Foundation
import Testing

/// Random policies, groups, filters and changes: who is told, and what each would get, against a count by brute force.
struct ReachPropertyTests {
    @Test(.seeded(as: 0), arguments: 0..<12)
    func `who is told, and what each would get, is what a count of all people says`(number: UInt64) async throws {
        var world = try await RandomWorld(seed: TestSeed.current &+ number)
        for _ in 0..<40 {
            // Often one change by itself, sometimes several before any app was told of the first.
            for _ in 0..<(world.chance(4) ? 3 : 1) { try await world.change() }
            try await world.expectReach()
            if world.chance(2) { try await world.checkIn() }
        }
    }
}

/// A small organisation in which anything may change, and what a brute-force count says of it.
private struct RandomWorld {
    /// What an app should have, by brute force: versions of protections and of configurations.
    typealias Rules = Set<String>

    private static let people = (0..<5).map { "u\($0)" }
    private static let groups = (0..<4).map { "g\($0)" }
    private static let apps = ["com.example.notes", "com.example.mail"]

    let test: TestOrganisation
    private var random: SeededGenerator
    private var enrolled: [TestApp] = []
    /// What each app was told of last, by registration.
    private var known: [String: Rules] = [:]
    /// The number of events of each registration.
    private var told: [String: Int64] = [:]
    /// Those that should have had something else at some moment since the last look.
    private var touched: Set<String> = []
    private var made = 0

    init(seed: UInt64) async throws {
        random = SeededGenerator(seed)
        test = try await TestOrganisation()
        for person in Self.people { try await save(person, isLicensed: true) }
        for group in Self.groups {
            try await test.service.provisioning.saveGroup(
                DirectoryGroup(id: group, displayName: group), as: test.owner)
        }
        try await saveFilter(system: "17")
        let base = try await test.protect(name: "Base", to: .allLicensedUsers)
        _ = try await test.service.administration.targetApps([], group: .allApps, ofPolicy: base.id, as: test.owner)
        for person in Self.people {
            for app in Self.apps {
                var device = TestApp(test, user: person, bundleID: app, tag: "tag-\(person)")
                device.account = ManagedAccount(
                    id: AccountID(person), tenant: TestOrganisation.tenant,
                    userPrincipalName: "\(person)@contoso.example")
                try await device.register()
                enrolled.append(device)
            }
        }
        try await test.finishAnnouncing()
        known = try await counted()
        told = try await bookmarks()
    }

    mutating func chance(_ one: Int) -> Bool { Int.random(in: 0..<one, using: &random) == 0 }

    /// Makes one change of any kind.
    mutating func change() async throws {
        let administration = test.service.administration
        let policies = try await administration.policies(of: Set(PolicyKind.allCases), as: test.owner)
        let policy = policies.randomElement(using: &random)
        made += 1
        switch Int.random(in: 0..<10, using: &random) {
        case 0, 1:
            let kind: PolicyKind =
                chance(4)
                ? .defaultManagedAppProtection : chance(3) ? .targetedManagedAppConfiguration : .iosManagedAppProtection
            let new = try await administration.createPolicy(
                kind, document: ["displayName": .string("P\(made)")], as: test.owner)
            try await look()
            _ = try await administration.targetApps(
                chance(3) ? [] : [.init(.ios, Self.apps.randomElement(using: &random) ?? "")],
                group: chance(4) ? .allApps : nil, ofPolicy: new.id, as: test.owner)
            try await look()
            if kind.isAssignable { try await assign(new) }
        case 2:
            guard let policy else { return }
            _ = try await administration.updatePolicy(
                policy.id, changes: ["description": .string("\(made)")], ifVersion: nil, as: test.owner)
        case 3:
            guard let policy, policy.kind.isAssignable else { return }
            try await assign(policy)
        case 4:
            guard let policy else { return }
            try await administration.deletePolicy(policy.id, ifVersion: nil, as: test.owner)
        case 5, 6:
            let people = Self.people.filter { _ in chance(3) }.map(DirectoryGroup.Member.user)
            let group = Self.groups.randomElement(using: &random) ?? ""
            let inner = Self.groups.filter { $0 != group && chance(5) }.map(DirectoryGroup.Member.group)
            try await test.service.provisioning.saveGroup(
                DirectoryGroup(id: group, displayName: group, members: Set(people + inner)), as: test.owner)
        case 7:
            let person = Self.people.randomElement(using: &random) ?? ""
            try await save(person, isLicensed: !chance(3))
        case 8:
            try await saveFilter(system: ["17", "18", "1", "9"].randomElement(using: &random) ?? "")
        default:
            let group = Self.groups.randomElement(using: &random) ?? ""
            let all = try await administration.groups(as: test.owner)
            guard all.contains(where: { $0.id == group }) else { return }
            try await test.service.provisioning.removeGroup(group, as: test.owner)
        }
        try await look()
    }

    /// Takes down who should have something else than they know of at this moment.
    private mutating func look() async throws {
        let present = try await counted()
        for (id, rules) in present where known[id] != rules { touched.insert(id) }
    }

    /// Checks what each app would get, and that exactly those were told who should have something else than they knew of.
    mutating func expectReach(_ location: SourceLocation = #_sourceLocation) async throws {
        try await test.finishAnnouncing()
        let present = try await counted()
        let now = try await bookmarks()
        for app in enrolled {
            let id = app.registrationID
            let intended = try await test.service.administration.intendedPolicies(ofRegistration: id, as: test.owner)
            let entitled = try await test.service.administration.user(app.account.id.rawValue, as: test.owner)
                .isLicensed
            if entitled {
                #expect(
                    Set(intended.map { "\($0.id)@\($0.version)" }) == present[id], "what \(id) gets",
                    sourceLocation: location)
            }
            let wasTold = now[id, default: 0] > told[id, default: 0]
            if present[id] != known[id] {
                #expect(wasTold, "a word is lost", sourceLocation: location)
            } else if !touched.contains(id) {
                #expect(!wasTold, "told of nothing", sourceLocation: location)
            }
        }
        known = present
        told = now
        touched = []
    }

    /// Lets an app fetch what it should have.
    mutating func checkIn() async throws {
        let index = Int.random(in: enrolled.indices, using: &random)
        // One whom app protection does not serve is refused, and knows no more than before.
        _ = await failure { _ = try await enrolled[index].checkIn() }
    }

    private mutating func assign(_ policy: ManagedAppPolicy) async throws {
        let groups = try await test.service.administration.groups(as: test.owner).map(\.id)
        var assignments: [PolicyAssignment] = []
        for group in groups where chance(3) {
            let target: PolicyAssignment.Target = chance(4) ? .exclusionGroup(group) : .group(group)
            let isFiltered = target.includes && chance(3)
            assignments.append(
                PolicyAssignment(
                    target, filterID: isFiltered ? "filter" : nil,
                    filterMode: isFiltered ? (chance(2) ? .include : .exclude) : .none))
        }
        if chance(4) { assignments.append(PolicyAssignment(.allLicensedUsers)) }
        _ = try await test.service.administration.assignPolicy(policy.id, to: assignments, as: test.owner)
    }

    private func save(_ person: String, isLicensed: Bool) async throws {
        try await test.service.provisioning.saveUser(
            DirectoryUser(
                id: person, userPrincipalName: "\(person)@contoso.example", displayName: person, isLicensed: isLicensed),
            as: test.owner)
    }

    private func saveFilter(system: String) async throws {
        try await test.service.administration.saveResource(
            AssignmentFilter(
                id: "filter", displayName: "F", rule: "(app.osVersion -startsWith \"\(system)\")",
                created: test.clock.now,
                modified: test.clock.now), isNew: false, as: test.owner)
    }

    private func bookmarks() async throws -> [String: Int64] {
        try await test.storage.read(TestOrganisation.tenant) { records in
            try records.records(EventBookmark.self).reduce(into: [:]) { $0[$1.registrationID] = $1.lastID }
        }
    }

    /// What each app should have, counted over every policy, group and person.
    private func counted() async throws -> [String: Rules] {
        let administration = test.service.administration
        let policies = try await administration.policies(of: Set(PolicyKind.allCases), as: test.owner)
        let groups = try await administration.groups(as: test.owner)
        let filter = try await administration.resource(AssignmentFilter.self, "filter", as: test.owner)
        let system = filter.rule.split(separator: "\"")[1]
        var result: [String: Rules] = [:]
        for app in enrolled {
            let person = try await administration.user(app.account.id.rawValue, as: test.owner)
            guard person.isLicensed else {
                // Other than nothing at all for a person who is served.
                result[app.registrationID] = ["not served"]
                continue
            }
            let own = Self.groups(of: person.id, among: groups)
            let isLetThrough = app.device.osVersion.hasPrefix(system)
            let about = policies.filter { policy in
                policy.appGroup == .allApps || policy.apps.contains { $0.value == app.bundleID }
                    || policy.kind == .defaultManagedAppProtection && policy.apps.isEmpty
            }
            let reaching = about.filter { policy in
                let excluded = policy.assignments.contains { assignment in
                    if case .exclusionGroup(let group) = assignment.target { own.contains(group) } else { false }
                }
                return !excluded
                    && policy.assignments.contains { assignment in
                        let isNamed =
                            switch assignment.target {
                            case .group(let group): own.contains(group)
                            case .allLicensedUsers, .allDevices: true
                            case .exclusionGroup: false
                            }
                        return isNamed
                            && (assignment.filterMode == .none
                                || isLetThrough == (assignment.filterMode == .include))
                    }
            }
            let protections = reaching.filter { $0.kind == .iosManagedAppProtection }
            let defaults = about.filter { $0.kind == .defaultManagedAppProtection }
            let rest = reaching.filter { $0.kind == .targetedManagedAppConfiguration }
            result[app.registrationID] = Set(
                ((protections.isEmpty ? defaults : protections) + rest).map { "\($0.id)@\($0.version)" })
        }
        return result
    }

    private static func groups(of person: String, among groups: [DirectoryGroup]) -> Set<String> {
        var found = Set(groups.filter { $0.members.contains(.user(person)) }.map(\.id))
        while true {
            let more = found.union(
                groups.filter { group in found.contains { group.members.contains(.group($0)) } }.map(\.id))
            guard more != found else { return found }
            found = more
        }
    }
}
