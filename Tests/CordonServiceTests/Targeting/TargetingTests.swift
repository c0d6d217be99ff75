import CordonPolicy
import CordonProtocol
import CordonService
import CordonTestSupport
import Testing

/// SRV-TG-01…10: who gets which policy.
struct TargetingTests {
    private func intended(_ test: TestOrganisation, _ user: String = "ada", app: String = TestOrganisation.app)
        async throws
        -> [String]
    {
        try await test.service.administration.intendedPolicies(forUser: "oid-\(user)", bundleID: app, as: test.owner)
            .map(\.id)
    }

    @Test func `a policy reaches the members of its group, also through other groups`() async throws {
        // SRV-TG-04
        let test = try await TestOrganisation.withPeople()
        let policy = try await test.protect(to: .group("staff"))
        #expect(try await intended(test, "ada") == [policy.id])
        #expect(try await intended(test, "ben") == [policy.id])
    }

    @Test func `an exclusion wins over every inclusion`() async throws {
        // SRV-TG-04
        let test = try await TestOrganisation.withPeople()
        let policy = try await test.protect(to: .group("staff"), .exclusionGroup("Writers"), .allLicensedUsers)
        #expect(try await intended(test, "ada") == [])
        #expect(try await intended(test, "ben") == [policy.id])
    }

    @Test func `a policy with exclusions alone reaches no one`() async throws {
        // SRV-TG-05
        let test = try await TestOrganisation.withPeople()
        let policy = try await test.protect(to: .exclusionGroup("guests"))
        #expect(!policy.isAssigned)
        #expect(try await intended(test) == [])
    }

    @Test func `apps match without regard to case, and other apps not at all`() async throws {
        // SRV-TG-02, SRV-RS-138
        let test = try await TestOrganisation.withPeople()
        let policy = try await test.protect(app: "COM.Example.Notes", to: .allLicensedUsers)
        #expect(try await intended(test, app: "com.example.NOTES") == [policy.id])
        #expect(try await intended(test, app: "com.example.notes2") == [])
    }

    @Test func `a policy for all apps reaches any app`() async throws {
        // SRV-TG-03
        let test = try await TestOrganisation.withPeople()
        let policy = try await test.protect(to: .allLicensedUsers)
        _ = try await test.service.administration.targetApps([], group: .allApps, ofPolicy: policy.id, as: test.owner)
        #expect(try await intended(test, app: "org.other.app") == [policy.id])
    }

    @Test func `a policy for Android reaches no one here, whatever it is about`() async throws {
        // SRV-RS-101
        let test = try await TestOrganisation.withPeople()
        let policy = try await test.service.administration.createPolicy(
            .androidManagedAppProtection, document: ["displayName": "A", "printBlocked": true], as: test.owner)
        _ = try await test.service.administration.targetApps([], group: .allApps, ofPolicy: policy.id, as: test.owner)
        let assigned = try await test.service.administration.assignPolicy(
            policy.id, to: [.init(.allLicensedUsers)], as: test.owner)
        #expect(assigned.isAssigned)
        #expect(try await intended(test) == [])
        #expect(try await intended(test, app: "org.other.app") == [])
    }

    @Test(arguments: [
        ("unspecified", true, true), ("", true, true), ("unmanaged", true, false), ("mdm", false, true),
        ("mdm, Unmanaged", true, true),
    ])
    func `a policy for managed devices alone does not reach an unmanaged one`(
        levels: String, unmanaged: Bool, managed: Bool
    ) async throws {
        // SRV-TG-06
        let test = try await TestOrganisation.withPeople()
        try await test.protect(["targetedAppManagementLevels": .string(levels)], to: .group("staff"))
        for (management, reaches) in [
            (nil, unmanaged), (ApplicationFacts.Management.unmanaged, unmanaged), (.mdm, managed),
        ] {
            var app = TestApp(test, tag: "tag-\(management?.rawValue ?? "none")")
            app.management = management
            let error = await failure { try await app.register() }
            #expect(error?.status == (reaches ? nil : .notTargeted), "\(management?.rawValue ?? "none")")
        }
        #expect(try await !intended(test).isEmpty)
    }

    @Test func `an app that device management has configured since gets the rules for that, and back`() async throws {
        // SRV-TG-06, SRV-TG-07
        let test = try await TestOrganisation.withPeople()
        let free = try await test.protect(["targetedAppManagementLevels": "unmanaged"], to: .group("staff"))
        let managed = try await test.protect(
            ["targetedAppManagementLevels": "mdm", "printBlocked": true], name: "Managed", to: .group("staff"))
        var app = TestApp(test)
        try await app.register()
        let first = try await test.service.administration.intendedPolicies(
            ofRegistration: app.registrationID, as: test.owner)
        #expect(first.map(\.id) == [free.id])
        app.management = .mdm
        #expect(try await app.checkIn().response.statusCode == .newPolicies)
        let reached = try await test.service.administration.intendedPolicies(
            ofRegistration: app.registrationID, as: test.owner)
        #expect(reached.map(\.id) == [managed.id])
        app.management = .unmanaged
        #expect(try await app.checkIn().response.statusCode == .newPolicies)
        let again = try await test.service.administration.intendedPolicies(
            ofRegistration: app.registrationID, as: test.owner)
        #expect(again.map(\.id) == [free.id])
    }

    @Test func `the default protection applies only where no targeted policy does`() async throws {
        // SRV-TG-08, SRV-RS-102
        let test = try await TestOrganisation.withPeople()
        let fallback = try await test.service.administration.createPolicy(
            .defaultManagedAppProtection, document: ["displayName": "Default"], as: test.owner)
        #expect(fallback.id.hasPrefix("D_"))
        let policy = try await test.protect(to: .group("writers"))
        #expect(try await intended(test, "ada") == [policy.id])
        #expect(try await intended(test, "ben") == [fallback.id])
    }

    @Test func `several defaults for an app are merged to the strictest, and their author is warned`()
        async throws
    {
        // SRV-TG-08
        let test = try await TestOrganisation.withPeople()
        func makeDefault(_ name: String, _ setting: String, app: String) async throws -> ManagedAppPolicy {
            let made = try await test.service.administration.createPolicy(
                .defaultManagedAppProtection, document: ["displayName": .string(name), setting: true], as: test.owner)
            return try await test.service.administration.targetApps(
                [.init(.ios, app)], group: nil, ofPolicy: made.id, as: test.owner)
        }
        func warning() async throws -> String? { try await test.records().last?.details["severalDefaults"] }
        let first = try await makeDefault("One", "saveAsBlocked", app: TestOrganisation.app)
        #expect(try await warning() == nil)
        _ = try await makeDefault("Mail", "printBlocked", app: "com.example.mail")
        #expect(try await warning() == nil)
        let second = try await makeDefault("Two", "contactSyncBlocked", app: TestOrganisation.app)
        #expect(try await warning() == "merged with \(first.id)")
        #expect(try await intended(test, "ada") == [first.id, second.id].sorted())
        var app = TestApp(test)
        try await app.register()
        let policy = try #require(app.envelope?.policy?.policy)
        #expect(policy.completeGraphJSON["saveAsBlocked"] == true)
        #expect(policy.completeGraphJSON["contactSyncBlocked"] == true)
        #expect(policy.completeGraphJSON["printBlocked"] == false)
    }

    @Test func `groups that contain each other do not hang the service`() async throws {
        let test = try await TestOrganisation.withPeople()
        try await test.service.provisioning.saveGroup(
            DirectoryGroup(id: "writers", displayName: "W", members: [.group("staff"), .user("oid-ada")]),
            as: test.owner)
        let policy = try await test.protect(to: .group("writers"))
        #expect(try await intended(test, "ben") == [policy.id])
    }

    @Test func `a person who is disabled or not entitled gets nothing`() async throws {
        let test = try await TestOrganisation.withPeople()
        try await test.protect(to: .group("staff"), .allLicensedUsers)
        var ada = try await test.service.administration.user("ada@contoso.example", as: test.owner)
        ada.isLicensed = false
        try await test.service.provisioning.saveUser(ada, as: test.owner)
        #expect(try await intended(test, "ada") == [])
    }

    @Test func `several policies are merged to the strictest, and the envelope names the origin of each setting`()
        async throws
    {
        // SRV-TG-10, SRV-TG-11
        let test = try await TestOrganisation.withPeople()
        let loose = try await test.protect(["printBlocked": false, "minimumPinLength": 6], to: .group("staff"))
        let strict = try await test.protect(["printBlocked": true, "minimumPinLength": 4], to: .group("writers"))
        var app = TestApp(test)
        try await app.register()
        let policy = try #require(app.envelope?.policy)
        #expect(policy.policy.transfer.printBlocked)
        #expect(policy.origins["printBlocked"] == strict.id)
        #expect(policy.origins["minimumPinLength"] == loose.id)
        #expect(Set(policy.contributors.map(\.id)) == [loose.id, strict.id])
    }

    @Test func `a report and a scope tag leave targeting as it is, a filter does not`() async throws {
        let test = try await TestOrganisation.withPeople()
        func revision() async throws -> Int64 {
            try await test.storage.read(TestOrganisation.tenant) { records in
                try records.settings().targetingRevision
            }
        }
        let (before, now) = (try await revision(), test.clock.now)
        try await test.service.administration.saveResource(
            ExportJob(id: "job", reportName: "MAMAppProtectionStatus", format: "csv", columns: [], requested: now),
            isNew: true, as: test.owner)
        try await test.service.administration.saveResource(
            ScopeTag(id: "tag", displayName: "T"), isNew: true, as: test.owner)
        #expect(try await revision() == before)
        try await test.service.administration.saveResource(
            AssignmentFilter(
                id: "filter", displayName: "F", rule: "(app.osVersion -ge \"17\")", created: now, modified: now),
            isNew: true, as: test.owner)
        #expect(try await revision() == before + 1)
    }
}
