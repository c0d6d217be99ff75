import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonTestSupport
import Foundation
import Testing

@testable import CordonService

/// A policy that makes apps remove data is a wipe, whichever role publishes it.
@Suite struct DestructiveChangeTests {
    private static let wipe: JSONValue = ["minimumWipeOsVersion": "99"]

    /// A service whose group "staff" has that many people besides Ada and Ben, each with an app, and one policy.
    static func staffed(
        _ count: Int, _ settings: [String: JSONValue] = [:],
        configuration: ServiceConfiguration = ServiceConfiguration()
    ) async throws -> (test: TestOrganisation, policy: ManagedAppPolicy) {
        let test = try await TestOrganisation.withPeople(configuration: configuration)
        let policy = try await test.protect(settings, to: .group("staff"))
        try await join(test, 0..<count)
        return (test, policy)
    }

    /// Adds people with an app each to the group "staff".
    static func join(_ test: TestOrganisation, _ numbers: Range<Int>) async throws {
        let staff = try await test.service.administration.group("staff", as: test.owner)
        let members = staff.members.union(numbers.map { .user("oid-\($0)") })
        for number in numbers {
            try await test.service.provisioning.saveUser(
                DirectoryUser(
                    id: "oid-\(number)", userPrincipalName: "\(number)@contoso.example", displayName: "\(number)"),
                as: test.owner)
        }
        try await test.service.provisioning.saveGroup(
            DirectoryGroup(id: "staff", displayName: "Staff", members: members), as: test.owner)
        for number in numbers {
            var app = TestApp(test, user: String(number), tag: "tag-\(number)")
            try await app.register()
        }
    }

    private func publish(
        _ changes: JSONValue, _ policy: ManagedAppPolicy, _ test: TestOrganisation, as administrator: Administrator
    ) async -> ServiceError? {
        await failure {
            _ = try await test.service.administration.updatePolicy(
                policy.id, changes: changes, ifVersion: nil, as: administrator)
        }
    }

    @Test func `a policy administrator cannot wipe by a policy, and a session that is not fresh cannot either`()
        async throws
    {
        let (test, policy) = try await Self.staffed(3)
        let author = test.administrator(.policyAdministrator)
        #expect(await publish(Self.wipe, policy, test, as: author)?.code == .forbidden)
        #expect(try await test.records().last?.action == "call.refused")
        var stolen = test.owner
        stolen.call.hasFreshSignIn = false
        #expect(await publish(Self.wipe, policy, test, as: stolen)?.code == .staleSignIn)
        let both = test.administrator(.policyAdministrator, .deviceAdministrator)
        #expect(await publish(Self.wipe, policy, test, as: both) == nil)
        let record = try #require(try await test.records().last)
        #expect(record.action == "policy.update" && record.details["destroysOf"] == "3")
        let alert = try #require(try await test.service.administration.alerts(as: test.owner).first)
        #expect(alert.kind == .destructivePolicy && alert.people == 3 && alert.actor == both.id)
        // What is weaker, or as strict as before, needs no one else.
        #expect(await publish(["minimumWipeOsVersion": "98"], policy, test, as: author) == nil)
    }

    @Test(
        arguments: [
            ["maximumWipeOsVersion": "1"], ["minimumWipeAppVersion": "99"], ["minimumWipeSdkVersion": "99"],
            ["periodOfflineBeforeWipeIsEnforced": "PT1H"], ["appActionIfUnableToAuthenticateUser": "wipe"],
            ["deviceComplianceRequired": true, "appActionIfDeviceComplianceRequired": "wipe"],
            ["allowedIosDeviceModels": "none", "appActionIfIosDeviceModelNotAllowed": "wipe"],
            ["allowedIosDeviceModels": "none;Unlisted-Model", "appActionIfIosDeviceModelNotAllowed": "wipe"],
            ["pinRequired": true, "maximumPinRetries": 1, "appActionIfMaximumPinRetriesExceeded": "wipe"],
            ["maximumAllowedDeviceThreatLevel": "secured", "mobileThreatDefenseRemediationAction": "wipe"],
        ] as [JSONValue])
    func `every setting that wipes is one`(_ changes: JSONValue) async throws {
        let (test, policy) = try await Self.staffed(1)
        let author = test.administrator(.policyAdministrator)
        #expect(await publish(changes, policy, test, as: author)?.code == .forbidden)
        #expect(await publish(changes, policy, test, as: test.owner) == nil)
    }

    @Test func `what reaches no one passes, and what makes it reach a person is the wipe`() async throws {
        let (test, _) = try await Self.staffed(2)
        let author = test.administrator(.policyAdministrator)
        let hidden = try await test.service.administration.createPolicy(
            .iosManagedAppProtection, document: ["displayName": "Hidden", "minimumWipeOsVersion": "99"], as: author)
        _ = try await test.service.administration.targetApps(
            [.init(.ios, TestOrganisation.app)], group: nil, ofPolicy: hidden.id, as: author)
        let assigned = await failure {
            _ = try await test.service.administration.assignPolicy(
                hidden.id, to: [PolicyAssignment(.group("staff"))], as: author)
        }
        #expect(assigned?.code == .forbidden)
        let whole = await failure {
            _ = try await test.service.administration.createPolicy(
                .defaultManagedAppProtection, document: ["displayName": "D", "minimumWipeOsVersion": "99"], as: author)
        }
        #expect(whole?.code == .forbidden)
    }

    @Test func `a limit that meets the wipe of another policy is a wipe`() async throws {
        let (test, policy) = try await Self.staffed(2)
        let author = test.administrator(.policyAdministrator)
        _ = try await test.protect(
            ["pinRequired": true, "maximumPinRetries": 50, "appActionIfMaximumPinRetriesExceeded": "wipe"],
            name: "Old", to: .group("staff"))
        let limit: JSONValue = ["pinRequired": true, "maximumPinRetries": 1]
        let refusal = await publish(limit, policy, test, as: author)
        #expect(refusal?.code == .forbidden)
    }

    @Test func `a policy whose end leaves people to a default protection that wipes is one`() async throws {
        let (test, policy) = try await Self.staffed(2)
        _ = try await test.service.administration.createPolicy(
            .defaultManagedAppProtection, document: ["displayName": "D", "minimumWipeOsVersion": "99"], as: test.owner)
        let author = test.administrator(.policyAdministrator)
        let end = await failure {
            try await test.service.administration.deletePolicy(policy.id, ifVersion: nil, as: author)
        }
        #expect(end?.code == .forbidden)
        let elsewhere = await failure {
            _ = try await test.service.administration.assignPolicy(
                policy.id, to: [PolicyAssignment(.group("guests"))], as: author)
        }
        #expect(elsewhere?.code == .forbidden)
    }

    @Test func `a filter and a set of apps that let a wipe reach others are wipes`() async throws {
        let test = try await TestOrganisation.withPeople()
        let author = test.administrator(.policyAdministrator)
        var filter = AssignmentFilter(
            id: "f", displayName: "F", rule: #"(app.deviceModel -eq "none")"#, created: test.clock.now,
            modified: test.clock.now)
        try await test.service.administration.saveResource(filter, isNew: true, as: author)
        let policy = try await test.protect(["minimumWipeOsVersion": "99"])
        _ = try await test.service.administration.assignPolicy(
            policy.id, to: [PolicyAssignment(.group("staff"), filterID: "f", filterMode: .include)], as: test.owner)
        try await test.protect(name: "Plain", to: .group("staff"))
        var app = TestApp(test)
        try await app.register()
        filter.rule = #"(app.deviceModel -ne "none")"#
        let (wide, owner) = (filter, test.owner)
        #expect(
            await failure { try await test.service.administration.saveResource(wide, isNew: false, as: author) }?.code
                == .forbidden)
        let impact = try await test.service.administration.impact(of: .filter(wide), as: owner)
        #expect(impact.losing == Reach(people: 1, registrations: 1) && impact.needsWipePermission)
        try await test.service.administration.saveResource(wide, isNew: false, as: owner)
        let named = try await test.protect(["minimumWipeOsVersion": "99"], name: "Named", app: "org.example.x")
        _ = try await test.service.administration.targetApps(
            [], group: .allMicrosoftApps, ofPolicy: named.id, as: owner)
        _ = try await test.service.administration.assignPolicy(
            named.id, to: [PolicyAssignment(.group("staff"))], as: owner)
        let entry = CatalogueApp(bundleID: TestOrganisation.app, displayName: "Notes", groups: [.allMicrosoftApps])
        #expect(
            await failure { try await test.service.administration.saveResource(entry, isNew: true, as: author) }?.code
                == .forbidden)
        // A release is good for the sets alone, so that no other word of the entry is shown as what was released.
        let proposal = ProposedChange(
            app: entry, contents: (nil, entry.content), action: "app.save", entity: "app/\(entry.id)", base: nil,
            secrets: SecretValues(salt: ""))
        #expect(proposal.releasedChanges.map(\.member) == ["groups"] && proposal.changes.count > 1)
    }

    @Test func `a program needs the application permission, and Graph's own does not suffice`() async throws {
        let (test, policy) = try await Self.staffed(1)
        var program = test.administrator(.policyAdministrator, .deviceAdministrator)
        program.isProgram = true
        program.call.hasFreshSignIn = false
        #expect(await publish(Self.wipe, policy, test, as: program)?.code == .forbidden)
        program.applicationPermissions = [.wipe]
        #expect(await publish(Self.wipe, policy, test, as: program) == nil)
    }

    @Test func `above a reach the number is repeated, and a group that grew meanwhile is told anew`() async throws {
        let (test, policy) = try await Self.staffed(8)
        let refused = await publish(Self.wipe, policy, test, as: test.owner)
        #expect(refused?.code == .conflict)
        #expect(refused?.problems.map(\.reason) == ["8", "8"])
        var owner = test.owner
        let question = ImpactQuestion.policy(.update(policy.id, Self.wipe))
        let impact = try await test.service.administration.impact(of: question, as: owner)
        #expect(impact.losing == Reach(people: 8, registrations: 8) && impact.reach == impact.losing)
        #expect(impact.changes.map(\.member) == ["minimumWipeOsVersion"] && !impact.needsApproval)
        owner.call.impactToken = impact.token
        // Of another change, of another person, and after ten minutes it says nothing.
        #expect(await publish(["minimumWipeOsVersion": "98"], policy, test, as: owner)?.code == .conflict)
        var other = test.administrator(.policyAdministrator, .deviceAdministrator)
        other.call.impactToken = impact.token
        #expect(await publish(Self.wipe, policy, test, as: other)?.code == .conflict)
        try await Self.join(test, 100..<101)
        let grown = await publish(Self.wipe, policy, test, as: owner)
        #expect(grown?.problems.map(\.reason) == ["9", "9"])
        owner.call.impactToken = try await test.service.administration.impact(of: question, as: owner).token
        test.clock.advance(by: 601)
        #expect(await publish(Self.wipe, policy, test, as: owner)?.code == .conflict)
        owner.call.impactToken = try await test.service.administration.impact(of: question, as: owner).token
        #expect(await publish(Self.wipe, policy, test, as: owner) == nil)
    }

    @Test func `who is disabled counts by what the app may hold, whatever the policy says since`() async throws {
        var configuration = ServiceConfiguration()
        configuration.wipeBudget = 0
        let test = try await TestOrganisation.withPeople(configuration: configuration)
        let policy = try await test.protect(["appActionIfUnableToAuthenticateUser": "wipe"], to: .group("staff"))
        var app = TestApp(test)
        try await app.register()
        try await app.checkIn()
        func disable() async -> ServiceError? {
            await failure {
                try await test.service.provisioning.saveUser(
                    DirectoryUser(
                        id: "oid-ada", userPrincipalName: "ada@contoso.example", displayName: "Ada",
                        accountEnabled: false), as: test.owner)
            }
        }
        #expect(await publish(["appActionIfUnableToAuthenticateUser": "block"], policy, test, as: test.owner) == nil)
        #expect(await disable()?.code == .waiting, "it has not heard of the softer rules")
        try await app.checkIn()
        #expect(await disable()?.code == .waiting, "the answer may be lost")
        try await app.checkIn()
        #expect(await disable() == nil, "it has confirmed them")
    }

    @Test func `what was spent while the clock was ahead does not count once it is right`() {
        let now = Date(timeIntervalSince1970: 1_800_000_000)
        var budget = WipeBudget(id: "program")
        budget.spend(20, at: now + 366 * 86_400)
        #expect(budget.spent(at: now) == 0)
        budget.spend(1, at: now)
        #expect(budget.spent(at: now) == 1 && budget.entries.count == 1)
    }
}
