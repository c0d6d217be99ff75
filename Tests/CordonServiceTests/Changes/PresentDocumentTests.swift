import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonTestSupport
import Foundation
import Testing

@testable import CordonService

/// What files of policies are made from, and what a change of a group would do.
@Suite struct PresentDocumentTests {
    private func configuration(_ values: [String: String]) -> JSONValue {
        [
            "displayName": "VPN",
            "customSettings": .array(
                values.sorted { $0.key < $1.key }.map { ["name": .string($0.key), "value": .string($0.value)] }),
        ]
    }

    private func values(_ document: JSONValue?) -> [String: String] {
        (document?["customSettings"]?.array ?? []).reduce(into: [:]) { values, pair in
            values[pair["name"]?.string ?? ""] = pair["value"]?.string
        }
    }

    @Test func `documents name secret values by digests, and an update may name the present one so`() async throws {
        let test = try await TestOrganisation.withPeople()
        let admin = test.service.administration
        let policy = try await admin.createPolicy(
            .targetedManagedAppConfiguration, document: configuration(["vpnPassword": "hunter2", "server": "a"]),
            as: test.owner)
        let present = try #require(try await admin.history.present(as: test.owner).first)
        #expect(present.id == policy.id && present.version == policy.version && present.author?.id == test.owner.id)
        let digest = try #require(values(present.document)["vpnPassword"])
        #expect(digest.hasPrefix("cordon-secret:") && !present.document.text().contains("hunter2"))

        let changed = try await admin.updatePolicy(
            policy.id, changes: configuration(["vpnPassword": digest, "server": "b"]), ifVersion: policy.version,
            as: test.owner)
        #expect(values(changed.document) == ["vpnPassword": "hunter2", "server": "b"])
        // Of another value there is nothing but the digest.
        let other = try await admin.updatePolicy(
            policy.id, changes: configuration(["vpnPassword": "another", "server": "b"]), ifVersion: nil,
            as: test.owner)
        let refused = await failure {
            _ = try await admin.updatePolicy(
                policy.id, changes: configuration(["vpnPassword": digest]), ifVersion: nil, as: test.owner)
        }
        #expect(refused?.code == .invalid)
        #expect(try await admin.policy(policy.id, as: test.owner) == other)
        let new = await failure {
            _ = try await admin.createPolicy(
                .targetedManagedAppConfiguration, document: configuration(["vpnPassword": digest]), as: test.owner)
        }
        #expect(new?.code == .invalid)
    }

    @Test func `secret values are shown to who may write the configuration, and to others as their digests`()
        async throws
    {
        let test = try await TestOrganisation.withPeople()
        let admin = test.service.administration
        let made = try await admin.createPolicy(
            .targetedManagedAppConfiguration, document: configuration(["vpnPassword": "hunter2", "server": "a"]),
            as: test.owner)
        _ = try await admin.targetApps(
            [MobileAppIdentifier(.ios, TestOrganisation.app)], group: nil, ofPolicy: made.id, as: test.owner)
        _ = try await admin.assignPolicy(made.id, to: [PolicyAssignment(.group("staff"))], as: test.owner)
        try await test.protect(to: .group("staff"))
        var app = TestApp(test)
        try await app.register()
        let present = try await admin.history.present(as: test.owner).first { $0.id == made.id }
        let digest = try #require(values(present?.document)["vpnPassword"])
        func caller(
            _ roles: Set<AdministratorRole>, _ custom: [CustomRole] = [], isProgram: Bool = false
        ) -> Administrator {
            Administrator(
                tenant: TestOrganisation.tenant, id: "caller", name: "Caller", roles: roles, customRoles: custom,
                isProgram: isProgram)
        }
        func read(as caller: Administrator) async throws -> [[String: String]] {
            let all = try await admin.policies(of: [.targetedManagedAppConfiguration], as: caller)
            let one = try await admin.policy(made.id, as: caller)
            let person = try await admin.intendedPolicies(
                forUser: "oid-ada", bundleID: TestOrganisation.app, as: caller)
            let device = try await admin.intendedPolicies(ofRegistration: app.registrationID, as: caller)
            return (all + [one] + person + device).filter { $0.id == made.id }.map { values($0.document) }
        }
        let tagged = CustomRole(
            id: "r", displayName: "R", permissions: [.read, .writePolicies], members: [],
            scopeTags: [ScopeTag.defaultID])
        for writer in [caller([.owner]), caller([.policyAdministrator]), caller([], [tagged])] {
            let shown = try await read(as: writer)
            #expect(shown == Array(repeating: ["vpnPassword": "hunter2", "server": "a"], count: 4))
        }
        let others = [
            caller([.reader]), caller([.helpDesk]), caller([.cloudDeviceAdministrator]),
            caller([.directoryAdministrator], isProgram: true),
        ]
        for reader in others {
            let shown = try await read(as: reader)
            #expect(shown == Array(repeating: ["vpnPassword": digest, "server": "a"], count: 4))
        }
    }

    @Test func `an impact shows no secret value, and the same change the same digests`() async throws {
        let test = try await TestOrganisation.withPeople()
        let admin = test.service.administration
        let question = ImpactQuestion.policy(
            .create(.targetedManagedAppConfiguration, configuration(["vpnPassword": "hunter2"])))
        let first = try await admin.impact(of: question, as: test.owner).changes
        #expect(!String(describing: first).contains("hunter2") && String(describing: first).contains("cordon-secret:"))
        #expect(try await admin.impact(of: question, as: test.owner).changes == first)
    }

    /// A default protection with a secret value, and Ada's app under it.
    private func protectedByDefault(
        _ configuration: ServiceConfiguration
    ) async throws -> (TestOrganisation, ManagedAppPolicy) {
        let test = try await TestOrganisation.withPeople(configuration: configuration)
        let policy = try await test.service.administration.createPolicy(
            .defaultManagedAppProtection, document: self.configuration(["vpnPassword": "hunter2"]), as: test.owner)
        var app = TestApp(test)
        try await app.register()
        return (test, policy)
    }

    @Test func `a change that waits tells no secret value, nor does its digest`() async throws {
        var limits = ServiceConfiguration()
        limits.wipeBudget = 0
        let (test, policy) = try await protectedByDefault(limits)
        var changes = configuration(["vpnPassword": "hunter3"]).object ?? [:]
        changes["minimumWipeOsVersion"] = "99"
        let document = JSONValue.object(changes)
        let refused = await failure {
            _ = try await test.service.administration.updatePolicy(
                policy.id, changes: document, ifVersion: nil, as: test.owner)
        }
        #expect(refused?.code == .waiting)
        let waiting = try await test.service.administration.approvals.change(
            try #require(refused?.place), as: test.administrator(.reader))
        #expect(waiting.changes.contains { $0.member == "customSettings[vpnPassword]" })
        let text = String(describing: waiting)
        #expect(!text.contains("hunter") && text.contains("cordon-secret:"))
        func digest(_ policy: ManagedAppPolicy, _ salt: String) -> String {
            ProposedChange(
                after: policy, action: "policy.update", entity: "policy", base: nil, secrets: SecretValues(salt: salt)
            ).digest
        }
        let plain = try await test.protect()
        #expect(digest(plain, "a") == digest(plain, "b"), "the control")
        #expect(digest(policy, "a") != digest(policy, "b"))
    }

    @Test
    func `a change with a secret value that was released passes after a restart, also in a store from before digests`()
        async throws
    {
        var limits = ServiceConfiguration()
        limits.wipeBudget = 0
        let (before, policy) = try await protectedByDefault(limits)
        try await before.storage.write(TestOrganisation.tenant) { records in
            var settings = try #require(try records.record(TenantSettings.self, TenantSettings.id))
            settings.secretSalt = nil
            try records.save(settings)
        }
        func restarted() async throws -> TestOrganisation {
            try await TestOrganisation(
                storage: before.storage, keyStore: before.keyStore, clock: before.clock, configuration: limits)
        }
        var changes = configuration(["vpnPassword": "hunter3"]).object ?? [:]
        changes["minimumWipeOsVersion"] = "99"
        let document = JSONValue.object(changes)
        let first = try await restarted()
        let refused = await failure {
            _ = try await first.service.administration.updatePolicy(
                policy.id, changes: document, ifVersion: nil, as: first.owner)
        }
        #expect(refused?.code == .waiting)
        let second = Administrator(
            tenant: TestOrganisation.tenant, id: "owner-2", name: "Second", roles: [.owner],
            call: CallFacts(hasFreshSignIn: true))
        _ = try await first.service.administration.approvals.release(try #require(refused?.place), as: second)
        let deadly = try await restarted().service.administration.updatePolicy(
            policy.id, changes: document, ifVersion: nil, as: first.owner)
        #expect(deadly.document["minimumWipeOsVersion"] == "99")
    }

    @Test func `the impact of putting a version back is that of the call, also of a policy that was removed`()
        async throws
    {
        var limits = ServiceConfiguration()
        limits.impactLimit = 0
        let (test, policy) = try await protectedByDefault(limits)
        let (admin, wipe) = (test.service.administration, ["minimumWipeOsVersion": "99"] as JSONValue)
        var owner = test.owner
        owner.call.impactToken = try await admin.impact(of: .policy(.update(policy.id, wipe)), as: owner).token
        let deadly = try await admin.updatePolicy(policy.id, changes: wipe, ifVersion: nil, as: owner)
        let tame = try await admin.updatePolicy(
            policy.id, changes: ["minimumWipeOsVersion": .null], ifVersion: nil, as: owner)
        let impact = try await admin.impact(of: .putBack(tame.id, version: deadly.version), as: owner)
        #expect(impact.losing.people == 1 && impact.changes.map(\.member) == ["minimumWipeOsVersion"])
        owner.call.impactToken = impact.token
        let back = try await admin.history.putBackPolicy(
            tame.id, version: deadly.version, ifVersion: nil, as: owner)
        #expect(back.document == deadly.document)
        let plain = try await test.protect(["printBlocked": true])
        try await admin.deletePolicy(plain.id, ifVersion: nil, as: test.owner)
        let again = try await admin.impact(of: .putBack(plain.id, version: plain.version), as: test.owner)
        #expect(again.changes.contains { $0.member == "printBlocked" && $0.from == nil && $0.to == true })
    }

    @Test func `a filter is written and removed at its version alone`() async throws {
        let test = try await TestOrganisation.withPeople()
        let admin = test.service.administration
        var filter = AssignmentFilter(
            id: "f", displayName: "F", rule: #"(app.deviceModel -ne "x")"#, created: test.clock.now,
            modified: test.clock.now)
        try await admin.saveResource(filter, isNew: true, as: test.owner)
        let version = try #require(try await admin.history.present(as: test.owner).first?.version)
        filter.rule = #"(app.deviceModel -ne "y")"#
        try await admin.saveResource(filter, isNew: false, ifVersion: version, as: test.owner)
        let stale = await failure {
            try await admin.saveResource(filter, isNew: false, ifVersion: version, as: test.owner)
        }
        #expect(stale?.code == .preconditionFailed)
        let kept = await failure {
            try await admin.removeResource(AssignmentFilter.self, "f", ifVersion: version, as: test.owner)
        }
        #expect(kept?.code == .preconditionFailed)
        // Nor is one written in place of another than the caller has read.
        var (old, new) = (filter, filter)
        (old.rule, new.description) = (#"(app.deviceModel -ne "x")"#, "D")
        let (read, written) = (old, new)
        let lost = await failure { try await admin.replaceResource(read, with: written, as: test.owner) }
        #expect(lost?.code == .preconditionFailed)
        let now = try await admin.history.present(as: test.owner).first?.version
        try await admin.removeResource(AssignmentFilter.self, "f", ifVersion: now, as: test.owner)
    }

    @Test func `an assignment to a group that does not exist waits for it where that is asked`() async throws {
        let test = try await TestOrganisation.withPeople()
        let admin = test.service.administration
        let policy = try await test.protect()
        let targets = [PolicyAssignment(.group("later"))]
        let refused = await failure { _ = try await admin.assignPolicy(policy.id, to: targets, as: test.owner) }
        #expect(refused?.code == .invalid)
        var patient = test.owner
        patient.call.keepsUnknownGroups = true
        _ = try await admin.assignPolicy(policy.id, to: targets, as: patient)
        #expect(try await test.records().last?.details["waitingGroups"] == "later")
        func reaches() async throws -> Bool {
            try await !admin.intendedPolicies(forUser: "oid-ada", bundleID: TestOrganisation.app, as: test.owner)
                .isEmpty
        }
        #expect(try await !reaches())
        try await test.service.provisioning.saveGroup(
            DirectoryGroup(id: "later", displayName: "Later", members: [.user("oid-ada")]), as: test.owner)
        #expect(try await reaches())
    }

    @Test func `the impact of a group says whose rules change and whose devices would be wiped`() async throws {
        let (test, _) = try await DestructiveChangeTests.staffed(2)
        try await test.protect(["minimumWipeOsVersion": "99"], name: "Deadly", to: .group("guests"))
        let admin = test.service.administration
        let joins: Set<DirectoryGroup.Member> = [.user("oid-0"), .user("oid-ben")]
        let impact = try await admin.impact(
            of: .group("guests", adding: joins, removing: []), as: test.administrator(.reader))
        #expect(impact.reach == Reach(people: 1, registrations: 1) && impact.losing == impact.reach)
        let leaves = try await admin.impact(
            of: .group("staff", adding: [], removing: [.user("oid-0")]), as: test.owner)
        #expect(leaves.reach.people == 1 && leaves.losing == .nobody)
        let unknown = await failure {
            _ = try await admin.impact(of: .group("nowhere", adding: joins, removing: []), as: test.owner)
        }
        #expect(unknown?.code == .notFound)
    }
}
