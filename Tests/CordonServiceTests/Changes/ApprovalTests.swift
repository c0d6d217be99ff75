import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonTestSupport
import Foundation
import Testing

@testable import CordonService

/// What one person may not do alone.
@Suite struct ApprovalTests {
    private static let wipe: JSONValue = ["minimumWipeOsVersion": "99"]

    private static func small() -> ServiceConfiguration {
        var configuration = ServiceConfiguration()
        configuration.wipeBudget = 2
        configuration.impactLimit = 100
        return configuration
    }

    private func second(_ id: String = "owner-2") -> Administrator {
        Administrator(
            tenant: TestOrganisation.tenant, id: id, name: id, roles: [.owner], call: CallFacts(hasFreshSignIn: true))
    }

    private func publish(_ policy: ManagedAppPolicy, _ test: TestOrganisation, as administrator: Administrator) async
        -> ServiceError?
    {
        await failure {
            _ = try await test.service.administration.updatePolicy(
                policy.id, changes: Self.wipe, ifVersion: nil, as: administrator)
        }
    }

    @Test func `a change above the budget waits, another person releases it, and the same call passes once`()
        async throws
    {
        let (test, policy) = try await DestructiveChangeTests.staffed(3, configuration: Self.small())
        let (admin, approver) = (test.service.administration, second())
        // Two who may release are known.
        _ = try await admin.approvals.changes(as: test.owner)
        _ = try await admin.approvals.changes(as: approver)
        let refused = await publish(policy, test, as: test.owner)
        #expect(refused?.code == .waiting)
        let id = try #require(refused?.place)
        let waiting = try await admin.approvals.change(id, as: approver)
        #expect(waiting.state == .waiting && waiting.due == nil && waiting.reach.people == 3)
        #expect(waiting.changes.map(\.member) == ["minimumWipeOsVersion"])
        #expect(await publish(policy, test, as: test.owner)?.place == id, "the same call finds the same change")
        #expect(try await admin.alerts(as: test.owner).filter { $0.kind == .changeWaits }.count == 1)
        // Never who asked, never a program, never a session that is not fresh, never without the permission.
        var program = approver
        program.isProgram = true
        var stale = approver
        stale.call.hasFreshSignIn = false
        let refusals: [(Administrator, ServiceError.Code)] = [
            (test.owner, .forbidden), (program, .forbidden), (stale, .staleSignIn),
            (test.administrator(.policyAdministrator, .deviceAdministrator), .forbidden),
        ]
        for (who, code) in refusals {
            #expect(await failure { _ = try await admin.approvals.release(id, as: who) }?.code == code, "\(who.id)")
        }
        #expect(try await admin.approvals.release(id, as: approver).state == .released)
        // Another one's same call, and another call, wait for themselves.
        #expect(await publish(policy, test, as: second("owner-3"))?.code == .waiting)
        #expect(await publish(policy, test, as: test.owner) == nil)
        let used = try await admin.approvals.change(id, as: approver)
        #expect(used.state == .used && used.decidedBy == approver.id)
        let log = try await test.records()
        #expect(
            log.filter { $0.action.hasPrefix("change.") && $0.target == "change/\(id)" }.map(\.action)
                == ["change.wait", "change.release", "change.use"])
        #expect(log.last?.details["released"] == id)
    }

    @Test func `a release covers no more than a twentieth more than it said`() async throws {
        let (test, policy) = try await DestructiveChangeTests.staffed(3, configuration: Self.small())
        let id = try #require(await publish(policy, test, as: test.owner)?.place)
        _ = try await test.service.administration.approvals.release(id, as: second())
        try await DestructiveChangeTests.join(test, 50..<51)
        let again = await publish(policy, test, as: test.owner)
        #expect(again?.code == .waiting && again?.place != id)
    }

    @Test func `a release of an app's sets is good for them when a colleague corrects its publisher meanwhile`()
        async throws
    {
        let (test, _) = try await DestructiveChangeTests.staffed(3, configuration: Self.small())
        let admin = test.service.administration
        let named = try await test.protect(Self.wipe.object ?? [:], name: "Named", app: "org.example.x")
        _ = try await admin.targetApps([], group: .allMicrosoftApps, ofPolicy: named.id, as: test.owner)
        _ = try await admin.assignPolicy(named.id, to: [PolicyAssignment(.group("staff"))], as: test.owner)
        let plain = CatalogueApp(bundleID: TestOrganisation.app, displayName: "Notes")
        var (joining, corrected) = (plain, plain)
        joining.groups = [.allMicrosoftApps]
        corrected.publisher = "Contoso"
        try await admin.saveResource(plain, isNew: true, as: test.owner)
        let (entry, owner) = (joining, test.owner)
        let refused = await failure { try await admin.saveResource(entry, isNew: false, as: owner) }
        #expect(refused?.code == .waiting)
        _ = try await admin.approvals.release(try #require(refused?.place), as: second())
        try await admin.saveResource(corrected, isNew: false, as: second())
        #expect(await failure { try await admin.saveResource(entry, isNew: false, as: owner) } == nil)
    }

    @Test func `with fewer than two who could release it a change waits an hour, and any administrator may stop it`()
        async throws
    {
        let (test, policy) = try await DestructiveChangeTests.staffed(3, configuration: Self.small())
        let first = try #require(await publish(policy, test, as: test.owner)?.place)
        let due = try #require(try await test.service.administration.approvals.change(first, as: test.owner).due)
        #expect(due == test.clock.now + 3_600)
        test.clock.advance(by: 3_599)
        #expect(await publish(policy, test, as: test.owner)?.code == .waiting)
        let reader = test.administrator(.reader)
        _ = try await test.service.administration.approvals.stop(first, as: reader)
        test.clock.advance(by: 10)
        let second = try #require(await publish(policy, test, as: test.owner)?.place)
        #expect(second != first)
        test.clock.advance(by: 3_600)
        #expect(await publish(policy, test, as: test.owner) == nil)
        #expect(try await test.service.administration.approvals.change(second, as: reader).decidedBy == "time")
    }

    @Test func `who may write on the machine releases at once, and the log says so`() async throws {
        let (test, policy) = try await DestructiveChangeTests.staffed(3, configuration: Self.small())
        let id = try #require(await publish(policy, test, as: test.owner)?.place)
        try await test.service.releaseChange(id, of: TestOrganisation.tenant)
        let record = try #require(try await test.records().last)
        #expect(record.action == "change.release" && record.actor.kind == .service)
        #expect(await publish(policy, test, as: test.owner) == nil)
        #expect(
            await failure { try await test.service.releaseChange(id, of: TestOrganisation.tenant) }?.code == .conflict)
    }

    @Test func `an approver who loses the role before the release is written releases nothing`() async throws {
        let (test, policy) = try await DestructiveChangeTests.staffed(3, configuration: Self.small())
        let role = CustomRole(
            id: "second", displayName: "Second", permissions: [.read, .approve], members: ["user:carol"])
        try await test.storage.write(TestOrganisation.tenant) { try $0.save(role) }
        let carol = Administrator(
            tenant: TestOrganisation.tenant, id: "carol", name: "Carol", roles: [], customRoles: [role],
            call: CallFacts(hasFreshSignIn: true))
        let id = try #require(await publish(policy, test, as: test.owner)?.place)
        // The request came in with the role; it is gone before the change is written.
        try await test.service.administration.removeResource(CustomRole.self, "second", as: test.owner)
        #expect(
            await failure { _ = try await test.service.administration.approvals.release(id, as: carol) }?.code
                == .forbidden
        )
        #expect(await publish(policy, test, as: test.owner)?.code == .waiting)
    }

    @Test func `two changes at once stay within the budget together`() async throws {
        var configuration = Self.small()
        configuration.wipeBudget = 5
        let (test, policy) = try await DestructiveChangeTests.staffed(3, configuration: configuration)
        let other = try await test.protect(name: "Other", to: .group("staff"))
        let errors = await withTaskGroup(of: ServiceError?.self) { group in
            group.addTask { await publish(policy, test, as: test.owner) }
            group.addTask {
                await failure {
                    _ = try await test.service.administration.updatePolicy(
                        other.id, changes: ["minimumWipeAppVersion": "99"], ifVersion: nil, as: test.owner)
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(errors.compactMap { $0?.code } == [.waiting])
    }

    @Test func `one person or one device is wiped at once, and the third in an hour waits`() async throws {
        let (test, _) = try await DestructiveChangeTests.staffed(4, configuration: Self.small())
        let (admin, desk) = (test.service.administration, test.administrator(.deviceAdministrator))
        func wipe(_ number: Int) async -> ServiceError? {
            await failure {
                _ = try await admin.requestWipe(ofUser: "oid-\(number)", deviceTag: "tag-\(number)", as: desk)
            }
        }
        for number in [0, 1, 0, 1] { #expect(await wipe(number) == nil) }
        let refused = await wipe(2)
        #expect(refused?.code == .waiting)
        let asked = try await admin.approvals.change(try #require(refused?.place), as: test.owner)
        #expect(asked.changes == [MemberChange(member: "deviceTag", from: nil, to: "tag-2", direction: nil)])
        #expect(await failure { try await admin.blockUser("oid-3", as: desk) }?.code == .waiting)
        let unknown = await failure {
            _ = try await admin.requestWipe(ofUser: "oid-3", deviceTag: "any text", as: desk)
        }
        #expect(unknown?.code == .invalid, "nobody is asked to release what cannot be made")
        let alerts = try await admin.alerts(as: test.owner)
        #expect(Set(alerts.map(\.kind)) == [.changeWaits, .massWipe])
        _ = try await admin.approvals.release(try #require(refused?.place), as: test.owner)
        #expect(await wipe(2) == nil)
        test.clock.advance(by: 3_601)
        #expect(await failure { try await admin.blockUser("oid-3", as: desk) } == nil)
    }

    @Test func `who releases a change of a group sees who comes and who goes`() async throws {
        let (test, _) = try await DestructiveChangeTests.staffed(3, configuration: Self.small())
        try await test.protect(["minimumWipeOsVersion": "99"], name: "Deadly", to: .group("guests"))
        let provisioning = test.service.provisioning
        func shown(_ change: () async throws -> Void) async throws -> [String: JSONValue] {
            let refused = await failure { try await change() }
            #expect(refused?.code == .waiting)
            let asked = try await test.service.administration.approvals.change(
                try #require(refused?.place), as: second())
            return asked.changes.reduce(into: [:]) { $0[$1.member] = $1.to }
        }
        func users(_ numbers: Range<Int>) -> Set<DirectoryGroup.Member> { Set(numbers.map { .user("oid-\($0)") }) }
        let added: JSONValue = ["user/oid-0", "user/oid-1", "user/oid-2"]
        // Ben is not in the group.
        let some = try await shown {
            try await provisioning.changeMembers(
                ofGroup: "guests", adding: users(0..<3), removing: [.user("oid-ben")], as: test.owner)
        }
        #expect(some == ["added": added])
        try await provisioning.changeMembers(
            ofGroup: "guests", adding: [.user("oid-ben"), .user("oid-ada")], removing: [], as: test.owner)
        let all = try await shown {
            let guests = DirectoryGroup(
                id: "guests", displayName: "Guests", members: users(0..<3).union([.user("oid-ada")]))
            try await provisioning.saveGroup(guests, as: test.owner)
        }
        #expect(all == ["added": added, "removed": ["user/oid-ben"]])
        let many = try await shown {
            try await provisioning.changeMembers(
                ofGroup: "guests", adding: users(0..<250), removing: [], as: test.owner)
        }
        #expect(many["added"]?.array?.count == 200 && many["addedCount"] == 250)
    }

    @Test func `a release of a change of a group is good for those alone who were shown`() async throws {
        let (test, _) = try await DestructiveChangeTests.staffed(3, configuration: Self.small())
        try await test.protect(["minimumWipeOsVersion": "99"], name: "Deadly", to: .group("guests"))
        let provisioning = test.service.provisioning
        let all = Set((0..<3).map { DirectoryGroup.Member.user("oid-\($0)") })
        func add(_ members: Set<DirectoryGroup.Member>) async -> ServiceError? {
            await failure {
                try await provisioning.changeMembers(
                    ofGroup: "guests", adding: members, removing: [], as: test.owner)
            }
        }
        #expect(await add([.user("oid-2")]) == nil)
        let asked = try #require(await add(all)?.place)
        _ = try await test.service.administration.approvals.release(asked, as: second())
        // The same call would now put in another one, in place of one who loses nothing any more.
        try await provisioning.changeMembers(
            ofGroup: "guests", adding: [], removing: [.user("oid-2")], as: test.owner)
        var first = try await test.service.administration.user("oid-0", as: test.owner)
        first.accountEnabled = false
        try await provisioning.saveUser(first, as: test.owner)
        let again = await add(all)
        #expect(again?.code == .waiting && again?.place != asked)
    }

    @Test func `who releases the end of an account sees that it ends`() async throws {
        var configuration = Self.small()
        configuration.wipeBudget = 0
        let test = try await TestOrganisation.withPeople(configuration: configuration)
        try await test.protect(["appActionIfUnableToAuthenticateUser": "wipe"], to: .group("staff"))
        try await DestructiveChangeTests.join(test, 0..<1)
        let refused = await failure { try await test.service.provisioning.removeUser("oid-0", as: test.owner) }
        #expect(refused?.code == .waiting)
        let asked = try await test.service.administration.approvals.change(
            try #require(refused?.place), as: second())
        #expect(asked.changes == [MemberChange(member: "accountEnabled", from: true, to: false, direction: nil)])
    }

    @Test func `without a budget the impact of the first wipe says that it waits`() async throws {
        var configuration = Self.small()
        configuration.wipeBudget = 0
        let (test, _) = try await DestructiveChangeTests.staffed(1, configuration: configuration)
        let admin = test.service.administration
        let impact = try await admin.impact(of: .wipe("oid-0", deviceTag: "tag-0"), as: test.owner)
        #expect(impact.needsApproval && impact.losing.people == 1)
        let refused = await failure {
            _ = try await admin.requestWipe(ofUser: "oid-0", deviceTag: "tag-0", as: test.owner)
        }
        #expect(refused?.code == .waiting)
    }

    @Test func `who releases the return of an account sees that it comes back`() async throws {
        var configuration = Self.small()
        configuration.wipeBudget = 0
        let (test, policy) = try await DestructiveChangeTests.staffed(1, configuration: configuration)
        var person = try await test.service.administration.user("oid-0", as: test.owner)
        person.isLicensed = false
        try await test.service.provisioning.saveUser(person, as: test.owner)
        _ = try await test.service.administration.updatePolicy(
            policy.id, changes: Self.wipe, ifVersion: nil, as: test.owner)
        person.isLicensed = true
        let back = person
        let refused = await failure { try await test.service.provisioning.saveUser(back, as: test.owner) }
        #expect(refused?.code == .waiting)
        let asked = try await test.service.administration.approvals.change(
            try #require(refused?.place), as: second())
        #expect(asked.changes == [MemberChange(member: "isLicensed", from: false, to: true, direction: nil)])
    }

    @Test func `who may make roles cannot make a second person of their own`() async throws {
        let (test, _) = try await DestructiveChangeTests.staffed(1, configuration: Self.small())
        let admin = test.service.administration
        _ = try await admin.approvals.changes(as: test.owner)
        _ = try await admin.approvals.changes(as: second())
        func role(_ permissions: Set<Permission>, _ members: Set<String>) -> CustomRole {
            CustomRole(id: "friends", displayName: "Friends", permissions: permissions, members: members)
        }
        for permissions in [[.approve], [.manageTenant], [.read, .approve]] as [Set<Permission>] {
            let error = await failure {
                try await admin.saveResource(role(permissions, ["user:mallory"]), isNew: false, as: test.owner)
            }
            #expect(error?.code == .waiting)
        }
        let wanted = role([.approve], ["user:carol"])
        let id = try #require(
            await failure { try await admin.saveResource(wanted, isNew: false, as: test.owner) }?.place)
        // Who releases it sees whom it lets do what.
        let shown = try await admin.approvals.change(id, as: second()).changes
        #expect(shown.map(\.member) == ["displayName", "id", "members", "permissions"])
        #expect(shown.map(\.to) == ["Friends", "friends", ["user:carol"], ["approve"]])
        _ = try await admin.approvals.release(id, as: second())
        try await admin.saveResource(wanted, isNew: false, as: test.owner)
        #expect(try await admin.alerts(as: test.owner).contains { $0.kind == .roleGranted })
        // Nobody is asked to release what cannot be made.
        let namesake = CustomRole(
            id: "namesake", displayName: "friends", permissions: [.approve], members: ["user:mallory"])
        #expect(
            await failure { try await admin.saveResource(namesake, isNew: true, as: test.owner) }?.code == .conflict)
        // Who releases sees all that the role says then: what it says now may be another thing by that time.
        let read = CustomRole(
            id: "readers", displayName: "Readers", permissions: [.read], members: ["user:mallory"])
        try await admin.saveResource(read, isNew: true, as: test.owner)
        var wider = read
        wider.permissions = [.read, .approve]
        let grant = wider
        let asked = try #require(
            await failure { try await admin.saveResource(grant, isNew: false, as: test.owner) }?.place)
        let changes = try await admin.approvals.change(asked, as: second()).changes
        #expect(changes.first { $0.member == "members" }?.to == ["user:mallory"])
        #expect(changes.first { $0.member == "permissions" }?.from == ["read"])
        // Later it takes a second person to let more people in, and none to take a person out.
        let more = await failure {
            try await admin.saveResource(
                role([.approve], ["user:carol", "user:mallory"]), isNew: false, as: test.owner)
        }
        #expect(more?.code == .waiting)
        try await admin.saveResource(role([.read], ["user:dave"]), isNew: false, as: test.owner)
    }
}
