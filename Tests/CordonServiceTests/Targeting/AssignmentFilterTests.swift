import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonService
import CordonTestSupport
import Testing

/// SRV-TG-03, SRV-TG-07: assignments with filters, and the named sets of apps.
struct AssignmentFilterTests {
    private func save(_ test: TestOrganisation, _ rule: String, id: String = "f1") async throws {
        try await test.service.administration.saveResource(
            AssignmentFilter(
                id: id, displayName: "Filter \(id)", rule: rule, created: test.clock.now, modified: test.clock.now),
            isNew: false, as: test.owner)
    }

    private func assign(
        _ policy: ManagedAppPolicy, _ mode: PolicyAssignment.FilterMode, in test: TestOrganisation
    ) async throws {
        _ = try await test.service.administration.assignPolicy(
            policy.id, to: [PolicyAssignment(.group("staff"), filterID: "F1", filterMode: mode)], as: test.owner)
    }

    @Test func `an app gets the policies whose filters let it through, and hears of a changed rule`() async throws {
        let test = try await TestOrganisation.withPeople()
        try await save(test, #"(app.osVersion -startsWith "18")"#)
        let always = try await test.protect(to: .allLicensedUsers)
        let filtered = try await test.protect(["printBlocked": true], name: "New", to: .group("staff"))
        try await assign(filtered, .include, in: test)
        var app = TestApp(test)
        try await app.register()
        func intended() async throws -> Set<String> {
            Set(
                try await test.service.administration.intendedPolicies(
                    ofRegistration: app.registrationID, as: test.owner
                ).map(\.id))
        }
        #expect(try await intended() == [always.id, filtered.id])
        #expect(app.envelope?.policy?.policy.transfer.printBlocked == true)

        try await assign(filtered, .exclude, in: test)
        #expect(try await intended() == [always.id])
        try await app.checkIn()
        #expect(app.envelope?.policy?.policy.transfer.printBlocked == false)

        try await save(test, #"(app.osVersion -startsWith "17")"#)
        #expect(try await intended() == [always.id, filtered.id])
        let outcome = try await app.checkIn()
        #expect(outcome.response.envelope != nil)
    }

    @Test func `a filter that does not exist is refused, and one that is used stays`() async throws {
        let test = try await TestOrganisation.withPeople()
        let policy = try await test.protect(to: .group("staff"))
        await #expect(throws: ServiceError(.invalid, "")) { try await assign(policy, .include, in: test) }
        await #expect(throws: ServiceError(.invalid, "")) { try await save(test, "app.osVersion -near 1") }
        try await save(test, #"app.osVersion -eq "18.2""#)
        try await assign(policy, .include, in: test)
        await #expect(throws: ServiceError(.conflict, "")) {
            try await test.service.administration.removeResource(AssignmentFilter.self, "f1", as: test.owner)
        }
        _ = try await test.service.administration.assignPolicy(policy.id, to: [], as: test.owner)
        try await test.service.administration.removeResource(AssignmentFilter.self, "F1", as: test.owner)
        #expect(try await test.service.administration.resources(AssignmentFilter.self, as: test.owner).isEmpty)
    }

    @Test func `an unknown filter type is refused, not taken for none`() throws {
        let entry: JSONValue = [
            "target": [
                "@odata.type": "#microsoft.graph.allLicensedUsersAssignmentTarget",
                "deviceAndAppManagementAssignmentFilterType": "sometimes",
            ]
        ]
        #expect(throws: ServiceError(.invalid, "")) { try GraphAssignments.assignments(in: .array([entry])) }
    }

    @Test func `the catalogue says which apps a named set has`() async throws {
        let test = try await TestOrganisation.withPeople()
        let policy = try await test.protect(to: .allLicensedUsers)
        _ = try await test.service.administration.targetApps(
            [], group: .allMicrosoftApps, ofPolicy: policy.id, as: test.owner)
        func reached() async throws -> Bool {
            try await !test.service.administration.intendedPolicies(
                forUser: "oid-ada", bundleID: "com.example.SHEETS", as: test.owner
            ).isEmpty
        }
        #expect(try await !reached())
        try await test.service.administration.saveResource(
            CatalogueApp(bundleID: "com.example.sheets", displayName: "Sheets", groups: [.allMicrosoftApps]),
            isNew: true, as: test.owner)
        #expect(try await reached())
        try await test.service.administration.removeResource(CatalogueApp.self, "com.example.sheets", as: test.owner)
        #expect(try await !reached())
    }

    @Test func `names of tags and filters are the only ones, and the default tag is not changed`() async throws {
        let test = try await TestOrganisation.withPeople()
        try await test.service.administration.saveResource(
            ScopeTag(id: "t1", displayName: "North"), isNew: true, as: test.owner)
        await #expect(throws: ServiceError(.conflict, "")) {
            try await test.service.administration.saveResource(
                ScopeTag(id: "t2", displayName: "north"), isNew: true, as: test.owner)
        }
        await #expect(throws: ServiceError(.conflict, "")) {
            try await test.service.administration.saveResource(
                ScopeTag(id: "0", displayName: "X"), isNew: true, as: test.owner)
        }
        try await test.protect(["roleScopeTagIds": ["t1"]], to: .allLicensedUsers)
        await #expect(throws: ServiceError(.conflict, "")) {
            try await test.service.administration.removeResource(ScopeTag.self, "t1", as: test.owner)
        }
        let stranger = test.administrator(.owner, tenant: TenantID("fabrikam.example"))
        #expect(try await test.service.administration.resources(ScopeTag.self, as: stranger).isEmpty)
        await #expect(throws: ServiceError(.notFound, "")) {
            try await test.service.administration.resource(ScopeTag.self, "t1", as: stranger)
        }
    }

    @Test func `values are kept in one spelling, and every bad one is named`() async throws {
        // SRV-RS-006…008, SRV-OP-025
        let test = try await TestOrganisation.withPeople()
        let policy = try await test.service.administration.createPolicy(
            .iosManagedAppProtection,
            document: [
                "displayName": "P", "periodOfflineBeforeAccessCheck": "12:00:00",
                "periodOfflineBeforeWipeIsEnforced": "90 days, 0:00:00", "periodOnlineBeforeAccessCheck": "PT1440M",
                "pinCharacterSet": "NUMERIC", "allowedDataStorageLocations": ["SHAREPOINT", "box"],
                "minimumRequiredOsVersion": "17.0",
            ], as: test.owner)
        #expect(policy.document["periodOfflineBeforeAccessCheck"] == "PT12H")
        #expect(policy.document["periodOfflineBeforeWipeIsEnforced"] == "P90D")
        #expect(policy.document["periodOnlineBeforeAccessCheck"] == "P1D")
        #expect(policy.document["pinCharacterSet"] == "numeric")
        #expect(policy.document["allowedDataStorageLocations"] == ["sharePoint", "box"])
        #expect(policy.document["minimumRequiredOsVersion"] == "17.0")
        do {
            _ = try await test.service.administration.createPolicy(
                .iosManagedAppProtection,
                document: ["displayName": "", "pinRequired": "yes", "minimumPinLength": "4", "printBlocked": true],
                as: test.owner)
            Issue.record("accepted")
        } catch {
            #expect(Set(error.problems.map(\.member)) == ["displayName", "pinRequired", "minimumPinLength"])
        }
    }
}
