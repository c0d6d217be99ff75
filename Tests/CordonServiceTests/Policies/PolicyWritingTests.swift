import CordonPolicy
import CordonProtocol
import CordonService
import Foundation
import Testing

/// SRV-RS-003, 004, 011…014, 017, 138 and SRV-TG-04 from the service's side.
struct PolicyWritingTests {
    @Test func `a new policy gets an id, a version and the defaults it leaves out`() async throws {
        let test = try await TestOrganisation.withPeople()
        let policy = try await test.service.administration.createPolicy(
            .iosManagedAppProtection, document: ["displayName": "P", "minimumPinLength": 6], as: test.owner)
        #expect(policy.id.wholeMatch(of: /T_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/) != nil)
        #expect(policy.document["minimumPinLength"] == 6)
        #expect(policy.document["maximumPinRetries"] == 5)
        #expect(!policy.version.isEmpty)
    }

    @Test(arguments: ["minimumRequiredSdkVersion", "minimumWipeSdkVersion", "minimumRequiredOsVersion"])
    func `a least version that cannot be read is refused by its name`(_ setting: String) async throws {
        let test = try await TestOrganisation.withPeople()
        for kind in [PolicyKind.iosManagedAppProtection, .defaultManagedAppProtection] {
            for text in ["one", "1.2.3-beta", "1.2.3.4.5"] {
                let error = await failure {
                    _ = try await test.service.administration.createPolicy(
                        kind, document: ["displayName": "P", setting: .string(text)], as: test.owner)
                }
                #expect(error?.code == .invalid && error?.problems.map(\.member) == [setting], "\(text)")
            }
        }
    }

    @Test(arguments: PolicyKind.allCases)
    func `a member that is nested deeper than apps read is refused by its name`(_ kind: PolicyKind) async throws {
        let test = try await TestOrganisation.withPeople()
        func nested(_ levels: Int) -> JSONValue { (0..<levels).reduce(1) { inner, _ in [inner] } }
        let error = await failure {
            _ = try await test.service.administration.createPolicy(
                kind, document: ["displayName": "P", "of a later version": nested(49)], as: test.owner)
        }
        #expect(error?.code == .invalid && error?.problems.map(\.member) == ["of a later version"])
        let kept = try await test.service.administration.createPolicy(
            kind, document: ["displayName": "P", "of a later version": nested(48)], as: test.owner)
        #expect(kept.document["of a later version"] == nested(48))
    }

    @Test(arguments: PolicyKind.allCases)
    func `members that are not known do not make a policy large, neither at once nor one by one`(
        _ kind: PolicyKind
    ) async throws {
        let test = try await TestOrganisation.withPeople()
        func unknown(_ count: Int, _ value: JSONValue = 1) -> JSONValue {
            let names = (0..<count).map { ("later\($0)", value) }
            return .object(Dictionary(uniqueKeysWithValues: names).merging(["displayName": "P"]) { own, _ in own })
        }
        let many = await failure {
            _ = try await test.service.administration.createPolicy(kind, document: unknown(101), as: test.owner)
        }
        #expect(many?.code == .invalid)
        let long = JSONValue.string(String(repeating: "a", count: 40_000))
        let large = await failure {
            _ = try await test.service.administration.createPolicy(kind, document: unknown(2, long), as: test.owner)
        }
        #expect(large?.code == .invalid)
        // The control: as many as there may be, and then not one more.
        let policy = try await test.service.administration.createPolicy(kind, document: unknown(100), as: test.owner)
        #expect(policy.document["later99"] == 1)
        for changes in [["later100": 1], ["later0": .string(String(repeating: "a", count: 66_000))]] as [JSONValue] {
            let added = await failure {
                _ = try await test.service.administration.updatePolicy(
                    policy.id, changes: changes, ifVersion: nil, as: test.owner)
            }
            #expect(added?.code == .invalid)
        }
        _ = try await test.service.administration.updatePolicy(
            policy.id, changes: ["later0": .null, "later100": 1], ifVersion: nil, as: test.owner)
    }

    @Test(arguments: ["MDM", "mdm, unmanaged", "mdm,Unspecified", "", .null] as [JSONValue])
    func `the kinds of device management are taken in any case and several at once`(levels: JSONValue) async throws {
        let test = try await TestOrganisation.withPeople()
        let policy = try await test.protect(to: .group("staff"))
        _ = try await test.service.administration.updatePolicy(
            policy.id, changes: ["targetedAppManagementLevels": levels], ifVersion: nil, as: test.owner)
        // Some of them reach nobody on iOS, and others do.
        for kind in [
            PolicyKind.iosManagedAppProtection, .androidManagedAppProtection, .targetedManagedAppConfiguration,
        ] {
            _ = try await test.service.administration.createPolicy(
                kind, document: ["displayName": "P", "targetedAppManagementLevels": "mdm,androidEnterprise"],
                as: test.owner)
        }
    }

    @Test(
        arguments: ["unmanged", "mdm;unmanaged", "unmanaged, other", 7, ["mdm"], "androidEnterprise"] as [JSONValue])
    func `a kind of device management that nobody knows is refused, since the policy would reach nobody`(
        levels: JSONValue
    ) async throws {
        let test = try await TestOrganisation.withPeople()
        let policy = try await test.protect(to: .group("staff"))
        let error = await failure {
            _ = try await test.service.administration.updatePolicy(
                policy.id, changes: ["targetedAppManagementLevels": levels], ifVersion: nil, as: test.owner)
        }
        #expect(error?.code == .invalid && Set(error?.problems.map(\.member) ?? []) == ["targetedAppManagementLevels"])
        #expect(try await test.service.administration.policy(policy.id, as: test.owner) == policy)
    }

    @Test(arguments: PolicyKind.allCases)
    func `a backup of a new policy has the members that every kind has`(_ kind: PolicyKind) async throws {
        // SRV-RS-018, 022, 074, 102
        let test = try await TestOrganisation.withPeople()
        let policy = try await test.service.administration.createPolicy(
            kind, document: ["displayName": "P"], as: test.owner)
        #expect(policy.graphEntity["description"] == "")
        #expect(policy.graphEntity["roleScopeTagIds"] == ["0"])
        let levels = policy.graphEntity["targetedAppManagementLevels"]
        #expect(levels == (kind == .defaultManagedAppProtection ? nil : "unspecified"))
        // Five settings of iOS that a default protection does not have.
        #expect((policy.graphEntity["screenCaptureConfigurationState"] != nil) == (kind == .iosManagedAppProtection))
        #expect((policy.graphEntity["exemptedUniversalLinks"] != nil) == (kind == .iosManagedAppProtection))
        let back = try await test.service.administration.updatePolicy(
            policy.id, changes: ["description": .null, "roleScopeTagIds": .null], ifVersion: nil, as: test.owner)
        #expect(back.document == policy.document)
    }

    @Test func `a default protection enforces also what its type does not have, once it is set`() async throws {
        let test = try await TestOrganisation.withPeople()
        let policy = try await test.service.administration.createPolicy(
            .defaultManagedAppProtection,
            document: ["displayName": "D", "screenCaptureConfigurationState": "blocked"], as: test.owner)
        #expect(policy.document["screenCaptureConfigurationState"] == "blocked")
    }

    @Test func `a policy for Android is kept in one spelling, and nothing of it is refused`() async throws {
        // SRV-RS-006, 007, 101
        let test = try await TestOrganisation.withPeople()
        let policy = try await test.service.administration.createPolicy(
            .androidManagedAppProtection,
            document: [
                "displayName": "A", "periodOfflineBeforeWipeIsEnforced": "90 days, 0:00:00",
                "periodOfflineBeforeAccessCheck": "12:00:00", "periodOnlineBeforeAccessCheck": "whenever",
                "periodBeforePinReset": 4, "pinCharacterSet": "NUMERIC", "screenCaptureBlocked": true,
                "minimumRequiredOsVersion": "12.0", "requiredAndroidSafetyNetEvaluationType": "basic",
            ], as: test.owner)
        #expect(policy.document["periodOfflineBeforeWipeIsEnforced"] == "P90D")
        #expect(policy.document["periodOfflineBeforeAccessCheck"] == "PT12H")
        #expect(policy.document["periodOnlineBeforeAccessCheck"] == "whenever")
        #expect(policy.document["periodBeforePinReset"] == 4)
        #expect(policy.document["pinCharacterSet"] == "numeric")
        #expect(policy.document["screenCaptureBlocked"] == true)
        #expect(policy.document["minimumRequiredOsVersion"] == "12.0")
        #expect(policy.document["minimumPinLength"] == nil, "a default of iOS is none of Android")
        let changed = try await test.service.administration.updatePolicy(
            policy.id, changes: ["periodBeforePinReset": "PT1440M"], ifVersion: nil, as: test.owner)
        #expect(changed.document["periodBeforePinReset"] == "P1D")
    }

    @Test func `the version changes with every write, assignment and targeting`() async throws {
        // SRV-RS-004
        let test = try await TestOrganisation.withPeople()
        let (service, owner) = (test.service, test.owner)
        let created = try await service.administration.createPolicy(
            .iosManagedAppProtection, document: ["displayName": "P"], as: owner)
        let updated = try await service.administration.updatePolicy(
            created.id, changes: ["description": "d"], ifVersion: created.version, as: owner)
        let assigned = try await service.administration.assignPolicy(
            created.id, to: [.init(.allLicensedUsers)], as: owner)
        let targeted = try await service.administration.targetApps(
            [.init(.ios, "a.b")], group: nil, ofPolicy: created.id, as: owner)
        #expect(Set([created, updated, assigned, targeted].map(\.version)).count == 4)
        #expect(try await service.administration.policy(created.id, as: owner) == targeted)
    }

    @Test func `unknown members are kept with every digit and named in the audit record`() async throws {
        // SRV-RS-011
        let test = try await TestOrganisation.withPeople()
        let unknown = try JSONValue(parsing: .init(#"{"deep":[1.0,12345678901234567890123456789012345678901.5]}"#.utf8))
        let policy = try await test.service.administration.createPolicy(
            .iosManagedAppProtection, document: ["displayName": "P", "fromTheFuture": unknown], as: test.owner)
        let read = try await test.service.administration.policy(policy.id, as: test.owner)
        #expect(read.document["fromTheFuture"] == unknown)
        let record = try await test.records().last { $0.action == "policy.create" }
        #expect(record?.details["unknownMembers"] == "fromTheFuture")
    }

    @Test func `the audit record names what no version of a kind knows, and what reaches apps unread`() async throws {
        // SRV-RS-011, 101, 117, 144
        let test = try await TestOrganisation.withPeople()
        func details(_ kind: PolicyKind, _ document: JSONValue) async throws -> [String: String] {
            _ = try await test.service.administration.createPolicy(kind, document: document, as: test.owner)
            let record = try await test.records().last { $0.action == "policy.create" }
            return (record?.details ?? [:]).filter { $0.key.hasPrefix("unknown") }
        }
        #expect(
            try await details(
                .androidManagedAppProtection,
                [
                    "displayName": "A", "keyboardsRestricted": true, "periodBeforePinReset": "never", "fromAfar": 1,
                    "approvedKeyboards": [],
                ]) == ["unknownMembers": "fromAfar"])
        let known = "{{UserPrincipalName}} {{mail}} {{partialupn}} {{accountid}} {{userid}} {{username}}"
        #expect(
            try await details(
                .targetedManagedAppConfiguration,
                [
                    "displayName": "C", "settings": [], "targetApps": 1,
                    "customSettings": [
                        ["name": "a", "value": .string(known + " {{PrimarySMTPAddress}}")],
                        ["name": "b", "value": "{{devicename}} {{ mail }} {{devicename}} {{open"],
                        ["name": "password", "value": "{{hunter2}}"],
                    ],
                ]) == ["unknownMembers": "targetApps", "unknownTokens": " mail , devicename"])
        #expect(try await details(.targetedManagedAppConfiguration, ["displayName": "D"]) == [:])
    }

    @Test func `members that the service owns are ignored`() async throws {
        // SRV-RS-012
        let test = try await TestOrganisation.withPeople()
        let policy = try await test.service.administration.createPolicy(
            .iosManagedAppProtection,
            document: [
                "displayName": "P", "id": "mine", "version": "mine", "isAssigned": true, "deployedAppCount": 9,
                "assignments@odata.context": "x", "createdDateTime": "1999-01-01T00:00:00Z",
            ], as: test.owner)
        #expect(policy.id != "mine" && policy.version != "mine" && !policy.isAssigned)
        #expect(policy.graphEntity["deployedAppCount"] == 0)
        #expect(policy.graphEntity["createdDateTime"] == "2027-01-15T08:00:00Z")
        #expect(policy.document["assignments@odata.context"] == nil)
    }

    @Test func `a change leaves absent members, unsets null ones and replaces collections`() async throws {
        // SRV-RS-013
        let test = try await TestOrganisation.withPeople()
        let policy = try await test.protect(
            ["description": "old", "minimumPinLength": 8, "printBlocked": true], to: .group("staff"))
        let changed = try await test.service.administration.updatePolicy(
            policy.id, changes: ["description": .null, "minimumPinLength": .null, "assignments": []], ifVersion: nil,
            as: test.owner)
        #expect(changed.document["description"] == "")
        #expect(changed.document["minimumPinLength"] == 4)
        #expect(changed.document["printBlocked"] == true)
        #expect(changed.assignments.isEmpty)
        #expect(changed.apps == policy.apps)
        let bare = try await test.service.administration.updatePolicy(
            policy.id, changes: ["apps": .null, "appGroupType": .null, "assignments": .null], ifVersion: nil,
            as: test.owner)
        #expect(bare.apps.isEmpty && bare.assignments.isEmpty && bare.appGroup == .selectedPublicApps)
        let again = try await test.service.administration.assignPolicy(
            policy.id, to: [.init(.allLicensedUsers)], as: test.owner)
        let unassigned = try await test.service.administration.updatePolicy(
            policy.id, changes: ["appGroupType": "allApps", "assignments": .null], ifVersion: nil, as: test.owner)
        #expect(again.isAssigned && !unassigned.isAssigned && unassigned.appGroup == .allApps)
        let listed = try await test.service.administration.updatePolicy(
            policy.id, changes: ["appGroupType": .null], ifVersion: nil, as: test.owner)
        #expect(listed.appGroup == .selectedPublicApps)
    }

    @Test func `every unacceptable member is named`() async throws {
        // SRV-OP-025
        let test = try await TestOrganisation.withPeople()
        let error = await failure {
            _ = try await test.service.administration.createPolicy(
                .iosManagedAppProtection, document: ["description": 1, "minimumPinLength": "four"], as: test.owner)
        }
        #expect(error?.code == .invalid)
        #expect(Set(error?.problems.map(\.member) ?? []) == ["displayName", "description", "minimumPinLength"])
        #expect(try await test.service.administration.policies(of: Set(PolicyKind.allCases), as: test.owner).isEmpty)
    }

    @Test func `a change based on an older version is refused`() async throws {
        let test = try await TestOrganisation.withPeople()
        let policy = try await test.protect(to: .group("staff"))
        #expect(
            await failure {
                _ = try await test.service.administration.updatePolicy(
                    policy.id, changes: ["displayName": "new"], ifVersion: "old", as: test.owner)
            }?.code == .preconditionFailed)
        #expect(
            await failure {
                try await test.service.administration.deletePolicy(policy.id, ifVersion: "old", as: test.owner)
            }?.code
                == .preconditionFailed)
        #expect(try await test.service.administration.policy(policy.id, as: test.owner) == policy)
    }

    @Test func `one group cannot be included and excluded`() async throws {
        // SRV-TG-04
        let test = try await TestOrganisation.withPeople()
        let policy = try await test.protect(to: .group("staff"))
        let error = await failure {
            _ = try await test.service.administration.assignPolicy(
                policy.id, to: [.init(.group("writers")), .init(.exclusionGroup("WRITERS"))], as: test.owner)
        }
        #expect(error?.code == .invalid)
        #expect(
            try await test.service.administration.policy(policy.id, as: test.owner).assignments == policy.assignments)
    }

    @Test func `a group is one target in whatever case its id is written`() async throws {
        let test = try await TestOrganisation.withPeople()
        let policy = try await test.protect(to: .group("staff"))
        let admin = test.service.administration
        let id = try await admin.policy(policy.id, as: test.owner).assignments.first?.id
        let same = try await admin.assignPolicy(
            policy.id, to: [.init(.group("STAFF")), .init(.group("Staff"))], as: test.owner)
        #expect(same.assignments.map(\.target) == [.group("STAFF")] && same.assignments.first?.id == id)
        let error = await failure {
            _ = try await admin.assignPolicy(
                policy.id, to: [.init(.group("staff")), .init(.group("STAFF"), filterID: "f", filterMode: .include)],
                as: test.owner)
        }
        #expect(error?.code == .invalid)
    }

    @Test func `an app of another platform is refused`() async throws {
        // SRV-RS-138
        let test = try await TestOrganisation.withPeople()
        let policy = try await test.protect(to: .group("staff"))
        let error = await failure {
            _ = try await test.service.administration.targetApps(
                [.init(.ios, "a.b"), .init(.android, "a.b")], group: nil, ofPolicy: policy.id, as: test.owner)
        }
        #expect(error?.problems.map(\.member) == ["apps[1]"])
    }

    @Test func `the Graph form carries apps and assignments that read back the same`() async throws {
        // SRV-RS-136…142
        let test = try await TestOrganisation.withPeople()
        let policy = try await test.protect(to: .group("staff"), .exclusionGroup("guests"), .allLicensedUsers)
        #expect(try GraphApps.apps(in: policy.graphApps) == policy.apps)
        #expect(try GraphAssignments.assignments(in: policy.graphAssignments) == policy.assignments)
        #expect(policy.graphApps.array?.first?["id"] == "com.example.notes.ios")
    }

    @Test func `a deleted policy is gone and leaves its record`() async throws {
        let test = try await TestOrganisation.withPeople()
        let policy = try await test.protect(to: .group("staff"))
        try await test.service.administration.deletePolicy(policy.id, ifVersion: policy.version, as: test.owner)
        #expect(
            await failure { _ = try await test.service.administration.policy(policy.id, as: test.owner) }?.code
                == .notFound)
        #expect(try await test.records().last?.action == "policy.delete")
    }
}
