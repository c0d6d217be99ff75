import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonTestSupport
import Foundation
import Testing

@testable import CordonService

/// One session of an owner, stolen: by whatever route, it does not empty the organisation.
@Suite struct StolenSessionTests {
    fileprivate static let people = 24

    /// What a thief of it may try, each until it is refused; a refusal of one call is no reason to stop.
    enum Route: String, CaseIterable {
        case policyUpdate, policyCreate, defaultPolicy, policyAssign, policyApps, policyEnd, putBack, filter, appSet
        case wipes, blocks, erasures, role, accounts, removals, group, nestedGroup, emptiedFirst, unlicensedFirst
        case deletedFirst, easedFirst, parkedFirst, parkedPolicy
    }

    private struct Attempt {
        let test: TestOrganisation
        let thief: Administrator
        let plain: ManagedAppPolicy
        let deadly: ManagedAppPolicy

        private var admin: Administration { test.service.administration }
        private var directory: Provisioning { test.service.provisioning }

        /// Goes one route to its end.
        func run(_ route: Route) async {
            switch route {
            case .policyUpdate:
                await go { _ = try await admin.updatePolicy(plain.id, changes: wipe, ifVersion: nil, as: thief) }
            case .policyCreate:
                await go {
                    var document = wipe.object ?? [:]
                    document["displayName"] = "New"
                    document["appGroupType"] = "allApps"
                    document["assignments"] = [
                        ["target": ["@odata.type": "#microsoft.graph.allLicensedUsersAssignmentTarget"]]
                    ]
                    _ = try await admin.createPolicy(.iosManagedAppProtection, document: .object(document), as: thief)
                }
            case .defaultPolicy:
                await go {
                    _ = try await admin.createPolicy(
                        .defaultManagedAppProtection, document: ["displayName": "D", "minimumWipeOsVersion": "99"],
                        as: thief)
                    try await admin.deletePolicy(plain.id, ifVersion: nil, as: thief)
                }
            case .policyAssign:
                await go { _ = try await admin.assignPolicy(deadly.id, to: [.init(.allLicensedUsers)], as: thief) }
            case .policyApps:
                await go {
                    _ = try await admin.assignPolicy(deadly.id, to: [.init(.group("guests"))], as: thief)
                    _ = try await admin.targetApps([], group: .allApps, ofPolicy: deadly.id, as: thief)
                    _ = try await admin.assignPolicy(deadly.id, to: [.init(.group("staff"))], as: thief)
                }
            case .policyEnd:
                await go { try await admin.deletePolicy(plain.id, ifVersion: nil, as: thief) }
            case .putBack:
                await go {
                    _ = try await admin.history.putBackPolicy(
                        plain.id, version: deadly.version, ifVersion: nil, as: thief)
                }
            case .filter, .appSet:
                let filter = AssignmentFilter(
                    id: "f", displayName: "F", rule: #"(app.deviceModel -ne "x")"#, created: test.clock.now,
                    modified: test.clock.now)
                await go { try await admin.saveResource(filter, isNew: true, as: thief) }
                await go {
                    _ = try await admin.assignPolicy(
                        deadly.id, to: [.init(.group("staff"), filterID: "f", filterMode: .include)], as: thief)
                }
                let app = CatalogueApp(
                    bundleID: TestOrganisation.app, displayName: "Notes", groups: [.allMicrosoftApps])
                await go { try await admin.saveResource(app, isNew: true, as: thief) }
                await go {
                    _ = try await admin.targetApps([], group: .allMicrosoftApps, ofPolicy: deadly.id, as: thief)
                }
            case .wipes:
                await each { id in
                    _ = try await admin.requestWipe(ofUser: "oid-\(id)", deviceTag: "tag-\(id)", as: thief)
                }
            case .blocks: await each { id in try await admin.blockUser("oid-\(id)", as: thief) }
            case .erasures:
                await each { id in try await admin.personalData.eraseUser("oid-\(id)", wipingFirst: true, as: thief) }
            case .role:
                let role = CustomRole(
                    id: "r", displayName: "R", permissions: [.approve, .manageTenant], members: ["user:accomplice"])
                await go { try await admin.saveResource(role, isNew: true, as: thief) }
                // Who is no holder of a stored role releases nothing with it.
                var accomplice = Administrator(
                    tenant: TestOrganisation.tenant, id: "accomplice", name: "A", roles: [], customRoles: [role])
                accomplice.call.hasFreshSignIn = true
                await go { _ = try await admin.updatePolicy(plain.id, changes: wipe, ifVersion: nil, as: thief) }
                for change in (try? await admin.approvals.changes(as: thief)) ?? [] {
                    let helper = accomplice
                    await go { _ = try await admin.approvals.release(change.id, as: helper) }
                    await go { _ = try await admin.approvals.release(change.id, as: thief) }
                }
                await go { _ = try await admin.updatePolicy(plain.id, changes: wipe, ifVersion: nil, as: thief) }
            case .accounts: await disable()
            case .emptiedFirst:
                // No rules are meant for anybody then, and the apps still hold theirs.
                let all = Set((0..<StolenSessionTests.people).map { DirectoryGroup.Member.user("oid-\($0)") })
                await go { try await directory.changeMembers(ofGroup: "staff", adding: [], removing: all, as: thief) }
                await disable()
            case .unlicensedFirst:
                await each { id in try await save(id, licensed: false) }
                await disable(licensed: false)
            case .deletedFirst:
                // The apps do not hear of it before their people are disabled, and of nothing afterwards.
                await go { try await admin.deletePolicy(plain.id, ifVersion: nil, as: thief) }
                await disable()
            case .easedFirst:
                await go {
                    _ = try await admin.updatePolicy(
                        plain.id, changes: ["appActionIfUnableToAuthenticateUser": "block"], ifVersion: nil, as: thief)
                }
                await disable()
            case .parkedFirst:
                // Who is not served counts for no group and no policy, and gets their rules on coming back.
                await each { id in try await save(id, licensed: false) }
                let all = Set((0..<StolenSessionTests.people).map { DirectoryGroup.Member.user("oid-\($0)") })
                await go { try await directory.changeMembers(ofGroup: "lost", adding: all, removing: [], as: thief) }
                await each { id in try await save(id) }
            case .parkedPolicy:
                await each { id in try await save(id, licensed: false) }
                await run(.policyCreate)
                await each { id in try await save(id) }
            case .removals: await each { id in try await directory.removeUser("oid-\(id)", as: thief) }
            case .group:
                let all = Set((0..<StolenSessionTests.people).map { DirectoryGroup.Member.user("oid-\($0)") })
                await go { try await directory.changeMembers(ofGroup: "lost", adding: all, removing: [], as: thief) }
                await go {
                    try await directory.saveGroup(.init(id: "lost", displayName: "Lost", members: all), as: thief)
                }
                await each { id in
                    try await directory.changeMembers(
                        ofGroup: "lost", adding: [.user("oid-\(id)")], removing: [], as: thief)
                }
            case .nestedGroup:
                await go {
                    try await directory.changeMembers(
                        ofGroup: "lost", adding: [.group("staff")], removing: [], as: thief)
                }
            }
        }

        private var wipe: JSONValue { ["minimumWipeOsVersion": "99"] }

        private func save(_ id: Int, enabled: Bool = true, licensed: Bool = true) async throws {
            try await directory.saveUser(
                DirectoryUser(
                    id: "oid-\(id)", userPrincipalName: "\(id)@contoso.example", displayName: "\(id)",
                    accountEnabled: enabled, isLicensed: licensed), as: thief)
        }

        private func disable(licensed: Bool = true) async {
            await each { id in try await save(id, enabled: false, licensed: licensed) }
        }

        private func each(_ call: (Int) async throws -> Void) async {
            for id in 0..<StolenSessionTests.people { try? await call(id) }
        }

        /// With the number, as the thief can ask for it as well.
        private func go(_ call: () async throws -> Void) async { try? await call() }
    }

    /// How many people's apps would remove data, as each of them would work it out at its next check-in.
    private func lost(_ test: TestOrganisation) async throws -> Int {
        var lost = 0
        let now = test.clock.now
        let snapshot = try await test.storage.read(TestOrganisation.tenant) { records in
            try test.service.targeting.snapshot(of: TestOrganisation.tenant, in: records)
        }
        for number in 0..<Self.people {
            lost += try await test.storage.read(TestOrganisation.tenant) { records in
                let id = "oid-\(number)"
                let all = try records.records(Registration.self, where: (.user, id))
                guard let registration = all.first else { return 1 }
                if try !records.records(WipeOperation.self, where: (.registration, registration.id)).isEmpty {
                    return 1
                }
                let user = try records.record(DirectoryUser.self, id)
                var facts = DeviceFacts()
                facts.osVersion = VersionNumber(registration.device.osVersion)
                facts.accountDisabled = user.map { !$0.accountEnabled } ?? true
                facts.sinceCheckIn = .seconds(now.timeIntervalSince(registration.lastSync))
                guard let user, user.isEntitled else {
                    // It gets no envelope any more, and goes by what it was given.
                    let given = try records.records(DeliveredRules.self, where: (.registration, registration.id))
                    return try given.filter { $0.superseded == nil }.contains { given in
                        let rules = try VersionHistory.rules(
                            given, known: now, test.service.configuration.numericConflict, seenBy: test.owner,
                            in: records)
                        guard let settings = rules.settings else { return !rules.policies.isEmpty }
                        return PolicyDiff.removesData(try AppProtectionPolicy(graphJSON: settings), of: facts)
                    } ? 1 : 0
                }
                let rules = snapshot.intended(
                    for: user, in: try records.directGroups(ofPerson: id), bundleID: TestOrganisation.app,
                    facts: registration.filterFacts
                ).protections
                guard let policy = try snapshot.effectivePolicy(of: rules)?.policy.policy else { return 0 }
                return PolicyDiff.removesData(policy, of: facts) ? 1 : 0
            }
        }
        return lost
    }

    /// People with a plain policy that wipes when an account is disabled; a group whose policy wipes every phone and that
    /// no one is in; and another deadly policy that reaches no one.
    private func organisation() async throws -> Attempt {
        var configuration = ServiceConfiguration()
        configuration.impactLimit = 1_000
        let (test, policy) = try await DestructiveChangeTests.staffed(
            Self.people, ["appActionIfUnableToAuthenticateUser": "wipe"], configuration: configuration)
        let admin = test.service.administration
        _ = try await admin.approvals.changes(as: test.owner)
        var careful = test.owner
        careful.id = "owner-2"
        _ = try await admin.approvals.changes(as: careful)
        // What the organisation has, put there past the budget.
        let deadly = try await test.protect(["minimumWipeOsVersion": "99"], name: "Deadly")
        let room = DirectoryGroup(id: "lost", displayName: "Lost")
        try await test.service.provisioning.saveGroup(room, as: test.owner)
        try await test.protect(["minimumWipeOsVersion": "99"], name: "Lost", to: .group("lost"))
        return Attempt(test: test, thief: test.owner, plain: policy, deadly: deadly)
    }

    @Test(arguments: Route.allCases) func `it stops at the budget`(_ route: Route) async throws {
        let attempt = try await organisation()
        #expect(try await lost(attempt.test) == 0)
        await attempt.run(route)
        #expect(try await lost(attempt.test) <= attempt.test.service.configuration.wipeBudget, "\(route)")
    }

    @Test func `all routes one after the other stop at one budget`() async throws {
        let attempt = try await organisation()
        for route in Route.allCases where route != .erasures { await attempt.run(route) }
        #expect(try await lost(attempt.test) <= attempt.test.service.configuration.wipeBudget)
        let alerts = try await attempt.test.service.administration.alerts(as: attempt.test.owner)
        #expect(alerts.contains { $0.kind == .changeWaits } && alerts.contains { $0.kind == .massWipe })
    }

    @Test func `the control: the same calls empty a service without a budget`() async throws {
        var configuration = ServiceConfiguration()
        (configuration.wipeBudget, configuration.impactLimit) = (1_000, 1_000)
        let (test, policy) = try await DestructiveChangeTests.staffed(Self.people, configuration: configuration)
        let attempt = Attempt(test: test, thief: test.owner, plain: policy, deadly: policy)
        await attempt.run(.policyUpdate)
        #expect(try await lost(test) == Self.people)
    }
}
