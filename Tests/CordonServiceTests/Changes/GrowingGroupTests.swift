import CordonBase
import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonTestSupport
import Foundation
import Testing

@testable import CordonService

/// People who come while a change is under way: counted and written, none of them is left out.
@Suite struct GrowingGroupTests {
    /// Runs something once, between what a change has read and what it writes: the change that is watched, not the announcements of
    /// those before it.
    private final class MeanwhileStorage: ServiceStorage {
        private let storage: any ServiceStorage = InMemoryStorage()
        private let waiting = Locked<(@Sendable () async throws -> Void)?>(nil)
        /// The reads of the watched change that come before it.
        private let reads = Locked<Int?>(nil)
        @TaskLocal private static var isWatched = false

        func meanwhile(_ body: @escaping @Sendable () async throws -> Void) { waiting.withLock { $0 = body } }

        /// The same before a read of the change, counted from 0.
        func meanwhile(beforeRead number: Int, _ body: @escaping @Sendable () async throws -> Void) {
            reads.withLock { $0 = number }
            meanwhile(body)
        }

        var hasRun: Bool { waiting.withLock { $0 == nil } }

        func watching<Result: Sendable>(_ change: () async throws -> Result) async rethrows -> Result {
            try await Self.$isWatched.withValue(true, operation: change)
        }

        func read<Result: Sendable>(
            _ tenant: TenantID, _ body: @escaping @Sendable (any StorageReader) throws -> Result
        ) async throws -> Result {
            let isDue = reads.withLock { left in
                guard Self.isWatched, let number = left else { return false }
                left = number == 0 ? nil : number - 1
                return number == 0
            }
            if isDue { try await runWaiting() }
            return try await storage.read(tenant, body)
        }

        func write<Result: Sendable>(
            _ tenant: TenantID, _ body: @escaping @Sendable (any StorageTransaction) throws -> Result
        ) async throws -> Result {
            if Self.isWatched, reads.withLock({ $0 == nil }) { try await runWaiting() }
            return try await storage.write(tenant, body)
        }

        private func runWaiting() async throws {
            let first = waiting.withLock { waiting in
                defer { waiting = nil }
                return waiting
            }
            // What comes in between is itself not watched.
            try await Self.$isWatched.withValue(false) { try await first?() }
        }
    }

    private static let wipe: JSONValue = ["minimumWipeOsVersion": "99"]

    /// Three people with an app in "staff", a budget for these three, and one more with an app who is in no group.
    private func organisation() async throws -> (TestOrganisation, ManagedAppPolicy, MeanwhileStorage) {
        var configuration = ServiceConfiguration()
        (configuration.wipeBudget, configuration.impactLimit) = (3, 100)
        let storage = MeanwhileStorage()
        let test = try await TestOrganisation.withPeople(storage: storage, configuration: configuration)
        let policy = try await test.protect(to: .group("staff"))
        try await DestructiveChangeTests.join(test, 0..<3)
        try await test.protect(name: "Guests", to: .group("guests"))
        try await test.service.provisioning.saveUser(
            DirectoryUser(id: "oid-9", userPrincipalName: "9@contoso.example", displayName: "9"), as: test.owner)
        try await test.service.provisioning.changeMembers(
            ofGroup: "guests", adding: [.user("oid-9")], removing: [], as: test.owner)
        var app = TestApp(test, user: "9", tag: "tag-9")
        try await app.register()
        return (test, policy, storage)
    }

    private func publish(
        _ policy: ManagedAppPolicy, _ test: TestOrganisation, on storage: MeanwhileStorage
    ) async -> ServiceError? {
        await failure {
            _ = try await storage.watching {
                try await test.service.administration.updatePolicy(
                    policy.id, changes: Self.wipe, ifVersion: nil, as: test.owner)
            }
        }
    }

    @Test func `who comes into a group between the count and the write is counted`() async throws {
        let (test, policy, storage) = try await organisation()
        storage.meanwhile {
            try await test.service.provisioning.changeMembers(
                ofGroup: "staff", adding: [.user("oid-9")], removing: [], as: test.owner)
        }
        let refused = await publish(policy, test, on: storage)
        #expect(storage.hasRun)
        #expect(refused?.code == .waiting)
        let id = try #require(refused?.place)
        #expect(try await test.service.administration.approvals.change(id, as: test.owner).reach.people == 4)
        let kept = try await test.service.administration.policy(policy.id, as: test.owner)
        #expect(kept.version == policy.version)
    }

    @Test func `who gets an app between the count and the write is counted`() async throws {
        let (test, policy, storage) = try await organisation()
        storage.meanwhile {
            var app = TestApp(test, user: "ada", tag: "tag-ada")
            try await app.register()
        }
        #expect(await publish(policy, test, on: storage)?.code == .waiting)
        #expect(storage.hasRun)
    }

    @Test func `who goes between the count and the write makes no second look of it`() async throws {
        let (test, policy, storage) = try await organisation()
        storage.meanwhile {
            try await test.service.provisioning.changeMembers(
                ofGroup: "staff", adding: [], removing: [.user("oid-2")], as: test.owner)
        }
        #expect(await publish(policy, test, on: storage) == nil)
        #expect(storage.hasRun)
    }

    @Test func `a policy that turns deadly while people are moved under it is counted for them`() async throws {
        let (test, policy, storage) = try await organisation()
        let other = test.administrator(.owner)
        storage.meanwhile {
            // Within the other's budget: none of those who move is there yet.
            _ = try await test.service.administration.updatePolicy(
                policy.id, changes: Self.wipe, ifVersion: nil, as: other)
        }
        try await storage.watching {
            try await test.service.provisioning.changeMembers(
                ofGroup: "staff", adding: [.user("oid-9")], removing: [], as: test.owner)
        }
        #expect(storage.hasRun)
        let spent = try await test.storage.read(TestOrganisation.tenant) { try $0.record(WipeBudget.self, "owner-1") }
        #expect(spent?.spent(at: test.clock.now) == 1)
    }

    @Test func `two changes at once that remove nothing alone remove nothing together`() async throws {
        let (test, policy, storage) = try await organisation()
        let other = try await test.protect(["pinRequired": true], name: "Other", to: .group("staff"))
        let retries: JSONValue = ["maximumPinRetries": 50, "appActionIfMaximumPinRetriesExceeded": "wipe"]
        storage.meanwhile {
            _ = try await test.service.administration.updatePolicy(
                other.id, changes: retries, ifVersion: nil, as: test.owner)
        }
        let author = test.administrator(.policyAdministrator)
        let refused = await failure {
            _ = try await storage.watching {
                try await test.service.administration.updatePolicy(
                    policy.id, changes: ["pinRequired": true, "maximumPinRetries": 1], ifVersion: nil, as: author)
            }
        }
        #expect(storage.hasRun)
        #expect(refused?.code == .forbidden)
        #expect(try await test.service.administration.policy(policy.id, as: test.owner) == policy)
    }

    @Test func `a filter that a policy comes to name while its rule changes is counted for that policy`() async throws {
        let (test, _, storage) = try await organisation()
        try await DestructiveChangeTests.join(test, 3..<4)
        let (admin, now) = (test.service.administration, test.clock.now)
        func filter(_ rule: String) -> AssignmentFilter {
            AssignmentFilter(id: "f", displayName: "F", rule: rule, created: now, modified: now)
        }
        try await admin.saveResource(filter(#"(app.deviceModel -eq "none")"#), isNew: true, as: test.owner)
        let deadly = try await test.protect(["minimumWipeOsVersion": "99"], name: "Deadly")
        storage.meanwhile {
            _ = try await admin.assignPolicy(
                deadly.id, to: [.init(.group("staff"), filterID: "f", filterMode: .include)], as: test.owner)
        }
        let wide = filter(#"(app.deviceModel -ne "none")"#)
        let refused = await failure {
            try await storage.watching { try await admin.saveResource(wide, isNew: false, as: test.owner) }
        }
        #expect(storage.hasRun)
        #expect(refused?.code == .waiting)
        let waiting = try await admin.approvals.change(try #require(refused?.place), as: test.owner)
        #expect(waiting.changes.map(\.member) == ["rule"] && waiting.changes.first?.to == .string(wide.rule))
    }

    @Test func `a deadly policy that comes to name a filter before the count is asked about, too`() async throws {
        let (test, _, storage) = try await organisation()
        let (admin, now) = (test.service.administration, test.clock.now)
        func filter(_ rule: String) -> AssignmentFilter {
            AssignmentFilter(id: "f", displayName: "F", rule: rule, created: now, modified: now)
        }
        try await admin.saveResource(filter(#"(app.deviceModel -eq "none")"#), isNew: true, as: test.owner)
        func deadly(_ tag: String) async throws -> ManagedAppPolicy {
            try await test.protect(["minimumWipeOsVersion": "99", "roleScopeTagIds": [.string(tag)]], name: tag)
        }
        let (west, east) = (try await deadly("west"), try await deadly("east"))
        @Sendable func assign(_ policy: ManagedAppPolicy, to group: String) async throws {
            _ = try await admin.assignPolicy(
                policy.id, to: [.init(.group(group), filterID: "f", filterMode: .include)], as: test.owner)
        }
        try await assign(west, to: "guests")
        // The author may write every policy's filters, and let the policies of the west alone remove data.
        let role = CustomRole(
            id: "west", displayName: "West", permissions: [.wipe], members: ["user:author"], scopeTags: ["west"])
        let author = Administrator(
            tenant: TestOrganisation.tenant, id: "author", name: "Author", roles: [.policyAdministrator],
            customRoles: [role], call: CallFacts(hasFreshSignIn: true))
        storage.meanwhile(beforeRead: 2) { try await assign(east, to: "writers") }
        let wide = filter(#"(app.deviceModel -ne "none")"#)
        let refused = await failure {
            try await storage.watching { try await admin.saveResource(wide, isNew: false, as: author) }
        }
        #expect(storage.hasRun)
        #expect(refused?.code == .forbidden)
    }

    @Test func `who leaves the group of a role between the look and the wipe is not wiped by it`() async throws {
        let (test, _, storage) = try await organisation()
        var app = TestApp(test, user: "ada", tag: "tag-ada")
        try await app.register()
        let role = CustomRole(
            id: "desk", displayName: "Desk", permissions: [.read, .wipe], members: ["user:desk"], people: ["writers"])
        let desk = Administrator(
            tenant: TestOrganisation.tenant, id: "desk", name: "Desk", roles: [], customRoles: [role],
            call: CallFacts(hasFreshSignIn: true))
        storage.meanwhile {
            try await test.service.provisioning.changeMembers(
                ofGroup: "writers", adding: [], removing: [.user("oid-ada")], as: test.owner)
        }
        let refused = await failure {
            _ = try await storage.watching {
                try await test.service.administration.requestWipe(ofUser: "oid-ada", deviceTag: "tag-ada", as: desk)
            }
        }
        #expect(storage.hasRun)
        #expect(refused?.code == .forbidden)
    }

    @Test func `a release lets no others pass than were shown, also where people come and go all the time`()
        async throws
    {
        var configuration = ServiceConfiguration()
        configuration.wipeBudget = 1
        let storage = MeanwhileStorage()
        let test = try await TestOrganisation.withPeople(storage: storage, configuration: configuration)
        let provisioning = test.service.provisioning
        try await test.protect(to: .group("staff"))
        try await DestructiveChangeTests.join(test, 0..<3)
        @Sendable func guests(_ numbers: Int...) -> DirectoryGroup {
            let members = Set(numbers.map { DirectoryGroup.Member.user("oid-\($0)") })
            return DirectoryGroup(id: "guests", displayName: "Guests", members: members)
        }
        try await test.protect(Self.wipe.object ?? [:], name: "Deadly", to: .group("guests"))
        try await provisioning.saveGroup(guests(2), as: test.owner)
        func addAll() async -> ServiceError? {
            await failure {
                try await storage.watching { try await provisioning.saveGroup(guests(0, 1, 2), as: test.owner) }
            }
        }
        let asked = try #require(await addAll()?.place)
        try await test.service.releaseChange(asked, of: TestOrganisation.tenant)
        let other = test.administrator(.owner)
        // Anyone changes between the first two looks and what they write; before the third has written, one of those who were shown comes in
        // another way, within the other's budget, and one who was not shown goes.
        @Sendable func change(_ look: Int) async throws {
            guard look < 2 else { return try await provisioning.saveGroup(guests(0), as: other) }
            var person = try await test.service.administration.user("oid-2", as: test.owner)
            person.department = "Look \(look)"
            try await provisioning.saveUser(person, as: test.owner)
            storage.meanwhile { try await change(look + 1) }
        }
        storage.meanwhile { try await change(0) }
        let again = await addAll()
        #expect(storage.hasRun)
        #expect(again?.code == .waiting && again?.place != asked)
        #expect(try await test.service.administration.group("guests", as: test.owner).members == [.user("oid-0")])
    }

    @Test func `the journal tells whom it remembers, and says when it does not`() {
        let (journal, tenant) = (ReachJournal(), TestOrganisation.tenant)
        #expect(journal.people(since: 0, of: tenant) == [])
        journal.note(["a", "b"], of: tenant)
        #expect(journal.mark(of: tenant) == 0 && journal.people(since: 0, of: tenant) == ["a", "b"])
        journal.finish(upTo: journal.last(of: tenant), of: tenant)
        let mark = journal.mark(of: tenant)
        #expect(mark == 2 && journal.people(since: mark, of: tenant) == [])
        journal.note((0..<3 * ReachJournal.most).map(String.init), of: tenant)
        #expect(journal.people(since: mark, of: tenant) == nil)
        #expect(journal.people(since: journal.last(of: tenant) - 1, of: tenant) == ["\(3 * ReachJournal.most - 1)"])
    }
}
