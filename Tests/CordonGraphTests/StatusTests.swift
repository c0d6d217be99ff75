import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonService
import Foundation
import HTTPTypes
import HummingbirdTesting
import NIOCore
import Testing

@testable import CordonServiceHTTP

/// SRV-OP-069…073, SRV-RS-133…135: the named statuses that public scripts read, member by member.
@Suite struct StatusTests {
    private static let path = "/beta/deviceAppManagement/managedAppStatuses"

    /// A service with a protection and a configuration, and two people's devices of which one has both in force.
    private func reported(
        _ body: @escaping @Sendable (TestService, TestClient, RegistrationResult) async throws -> Void
    ) async throws {
        let service = try await TestService()
        let policy = try await service.publishPolicy()
        _ = try await service.service.administration.assignPolicy(
            policy.id, to: [PolicyAssignment(.allLicensedUsers)], as: TestService.owner)
        let configuration: JSONValue = [
            "displayName": "Servers", "description": "Where to find them",
            "customSettings": [["name": "server", "value": "a"]],
        ]
        let made = try await service.service.administration.createPolicy(
            .targetedManagedAppConfiguration, document: configuration, as: TestService.owner)
        _ = try await service.service.administration.targetApps(
            [MobileAppIdentifier(.ios, TestDevice.bundleID)], group: nil, ofPolicy: made.id, as: TestService.owner)
        _ = try await service.service.administration.assignPolicy(
            made.id, to: [PolicyAssignment(.allLicensedUsers)], as: TestService.owner)
        try await service.test { client in
            let first = TestDevice()
            let result = try await client.register(first)
            try await client.confirm(result, on: first)
            _ = try await client.register(TestDevice(tag: "tag-2", person: .workerB))
            try await body(service, client, result)
        }
    }

    /// The rows of an answer, each by the names of its columns.
    private func rows(_ answer: TestResponse) throws -> [[String: String]] {
        #expect(answer.status == .ok)
        #expect(answer.json["@odata.type"] == "#microsoft.graph.managedAppStatusRaw")
        let content = try #require(answer.json["content"])
        let names = (content["header"]?.array ?? []).compactMap { $0["columnName"]?.string }
        return try (content["body"]?.array ?? []).map { row in
            let values = (row["values"]?.array ?? []).compactMap(\.string)
            try #require(values.count == names.count)
            return Dictionary(uniqueKeysWithValues: zip(names, values))
        }
    }

    @Test func `the summary has every column, and what is in force of the kind that is asked for`() async throws {
        try await reported { service, client, result in
            let path = Self.path + "('appregistrationsummary')"
            let all = try rows(try await client.administer(.get, path + "?fetch=6000&policyMode=0"))
            #expect(all.count == 2)
            let row = try #require(all.first { $0["ApplicationInstanceId"] == result.registrationID })
            #expect(
                Set(row.keys) == [
                    "AccountId", "UserId", "DisplayName", "UserEmail", "IntuneLicensed", "ApplicationId",
                    "ApplicationVersion", "SdkVersion", "ApplicationName", "ApplicationInstanceId", "CreatedDate",
                    "LastCheckInDate", "Platform", "PlatformVersion", "DeviceId", "DeviceType", "DeviceName",
                    "DeviceHealth", "DeviceModel", "DeviceManufacturer", "AndroidPatchVersion", "AzureADDeviceId",
                    "MDMDeviceID", "ManagementLevel", "PolicySource", "PolicyId", "PolicyName", "PolicyDescription",
                    "ComplianceState",
                ])
            let expected = [
                "AccountId": TestService.tenant.rawValue, "UserId": "oid-a", "UserEmail": TestPerson.workerA.name,
                "IntuneLicensed": "true", "ApplicationId": TestDevice.bundleID, "ApplicationVersion": "3.1",
                "SdkVersion": "1.0", "Platform": "iOS", "PlatformVersion": "18.2", "DeviceId": "tag-1",
                "DeviceType": "iPhone", "DeviceModel": "iPhone15,2", "DeviceManufacturer": "Apple",
                "DeviceHealth": "none", "PolicyName": "Notes", "PolicySource": "Assigned", "PolicyDescription": "",
                "ComplianceState": "compliant", "LastCheckInDate": "2027-01-15T08:00:00.000Z",
            ]
            for (name, value) in expected { #expect(row[name] == value, "\(name)") }
            let other = try #require(all.first { $0["UserId"] == "oid-b" })
            #expect(other["PolicyName"] == "" && other["PolicyId"] == "", "nothing is in force yet")
            let mode = try rows(try await client.administer(.get, path + "?policyMode=1"))
            #expect(Set(mode.map { $0["PolicyName"] }) == ["Servers", ""])
            #expect(mode.contains { $0["PolicyDescription"] == "Where to find them" })
        }
    }

    @Test func `columns are chosen, pages are fetched until the token is empty`() async throws {
        try await reported { service, client, result in
            let path = Self.path + "/AppRegistrationSummary?columns=userId,PolicyName,none&fetch=1"
            let first = try await client.administer(.get, path)
            #expect(try rows(first).map { Set($0.keys) } == [["UserId", "PolicyName"]])
            let token = try #require(first.json["content"]?["skipToken"]?.string)
            #expect(!token.isEmpty)
            let second = try await client.administer(.get, path + "&seek=\(token)")
            #expect(second.json["content"]?["skipToken"] == "")
            let people = try (rows(first) + rows(second)).map { $0["UserId"] }
            #expect(people.count == 2 && Set(people) == ["oid-a", "oid-b"])
            let counted = try await client.administer(.get, path + "&seek=1")
            #expect(try rows(counted).map { $0["UserId"] } == [people[1]])
            for wrong in ["fetch=0", "fetch=6001", "fetch=x", "policyMode=2", "seek=-1", "seek=x"] {
                let answer = try await client.administer(.get, Self.path + "('appregistrationsummary')?" + wrong)
                #expect(answer.status == .badRequest, "\(wrong)")
            }
            // What ends meanwhile takes no other row with it.
            let ids = try rows(try await client.administer(.get, Self.path + "('appregistrationsummary')")).compactMap {
                $0["ApplicationInstanceId"]
            }
            try await service.service.administration.forgetRegistration(try #require(ids.first), as: TestService.owner)
            #expect(try rows(try await client.administer(.get, path + "&seek=\(token)")) == rows(second))
        }
    }

    @Test func `a person's status says what holds, in which app, and what to mend`() async throws {
        try await reported { service, client, result in
            let path = Self.path + "('userstatus')?userId="
            let answer = try await client.administer(.get, path + "worker-a%40contoso.example")
            let content = try #require(answer.json["content"])
            let checks = content["validationStatuses"]?.array ?? []
            let licence = try #require(checks.first { $0["validationName"] == "Intune License" })
            #expect(licence["state"] == "Pass" && licence["mitigationInstruction"] == "")
            #expect(checks.allSatisfy { $0["state"] == "Pass" })
            let rows = content["applicationRows"]?.array ?? []
            #expect(rows.map { $0["Policy"] } == ["Notes"] && rows.map { $0["AppProtectionStatus"] } == ["Protected"])
            let configuration = try await client.administer(.get, Self.path + "('userconfigstatus')?userId=oid-a")
            let others = configuration.json["content"]?["applicationRows"]?.array ?? []
            #expect(others.map { $0["Policy"] } == ["Servers"] && others.first?["AppProtectionStatus"] == nil)
            var user = try await service.service.administration.user("oid-a", as: TestService.owner)
            user.isLicensed = false
            try await service.service.provisioning.saveUser(user, as: TestService.owner)
            let after = try await client.administer(.get, path + "oid-a").json["content"]?["validationStatuses"]
            let failed = after?.array?.filter { $0["state"] == "Fail" } ?? []
            #expect(failed.contains { $0["validationName"] == "Intune License" })
            #expect(failed.allSatisfy { $0["mitigationInstruction"]?.string?.isEmpty == false })
            #expect(try await client.administer(.get, Self.path + "('userstatus')").status == .badRequest)
            #expect(try await client.administer(.get, path + "nobody").status == .notFound)
        }
    }

    @Test func `the statuses are listed, and that of another platform is a header alone`() async throws {
        try await TestService().test { client in
            let list = try await client.administer(.get, Self.path)
            #expect(
                list.json["value"]?.array?.map { $0["id"] } == [
                    "appregistrationsummary", "userconfigstatus", "userstatus", "windowsprotectionreport",
                ])
            #expect(try await client.administer(.get, Self.path + "/$count").body == .init(string: "4"))
            let windows = try await client.administer(.get, Self.path + "('windowsprotectionreport')").json["content"]
            #expect(windows?["header"]?.array?.isEmpty == false)
            #expect(windows?["body"] == [] && windows?["skipToken"] == "")
            #expect(try await client.administer(.get, Self.path + "('none')").status == .notFound)
        }
    }

    @Test func `a deployment summary counts people, per policy and per app`() async throws {
        // SRV-RS-079, 135
        try await reported { service, client, result in
            let id = try #require(
                try await service.service.administration.policies(of: [.iosManagedAppProtection], as: TestService.owner)
                    .first?.id)
            let item = "/beta/deviceAppManagement/iosManagedAppProtections/\(id)"
            let second = TestDevice(tag: "tag-3")
            try await client.confirm(try await client.register(second), on: second)
            let summary = try await client.administer(.get, item + "/deploymentSummary").json
            #expect(summary["@odata.type"] == "#microsoft.graph.managedAppPolicyDeploymentSummary")
            #expect(summary["displayName"] == "Notes" && summary["lastRefreshTime"]?.string?.hasSuffix("Z") == true)
            #expect(summary["configurationDeployedUserCount"] == 1, "two devices of one person")
            let perApp = summary["configurationDeploymentSummaryPerApp"]?.array ?? []
            #expect(perApp.map { $0["configurationAppliedUserCount"] } == [1])
            #expect(perApp.first?["mobileAppIdentifier"]?["bundleId"]?.string == TestDevice.bundleID)
            let whole = try await client.administer(.get, item + "?$expand=deploymentSummary")
            #expect(whole.json["deploymentSummary"]?["configurationDeployedUserCount"] == 1)
            // The same version of the policy may have another summary.
            let known: HTTPFields = [.ifNoneMatch: try #require(whole.headers[.eTag])]
            #expect(try await client.administer(.get, item, headers: known).status == .notModified)
            let again = try await client.administer(.get, item + "?$expand=deploymentSummary", headers: known)
            #expect(again.status == .ok)
            #expect(try await client.administer(.patch, item + "/deploymentSummary", [:]).status == .methodNotAllowed)
        }
    }
}
