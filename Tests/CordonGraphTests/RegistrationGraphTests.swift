import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonService
import CordonTestSupport
import Foundation
import HTTPTypes
import HummingbirdTesting
import NIOCore
import Testing

@testable import CordonServiceHTTP

/// SRV-RS-118…130, SRV-OP-051, 052, 055: a registration as both versions show it, and the policies below it.
@Suite struct RegistrationGraphTests {
    private static let path = "deviceAppManagement/managedAppRegistrations"

    @Test func `a registration shows what its app said of itself, in each version's members`() async throws {
        let service = try await TestService()
        _ = try await service.publishPolicy()
        try await service.test { client in
            let device = TestDevice()
            let result = try await client.register(device)
            let item = "\(Self.path)/\(result.registrationID)"
            let before = try await client.administer(.get, "/v1.0/" + item).json
            #expect(before["flaggedReasons"] == ["none"])
            let none = try await client.administer(.get, "/v1.0/\(Self.path)/getUserIdsWithFlaggedAppRegistration()")
            #expect(none.json["value"] == [])
            service.clock.advance(by: 7_200)
            try await client.confirm(result, on: device, health: [.rootedDevice])
            let old = try await client.administer(.get, "/v1.0/" + item).json
            let shared: [String: JSONValue] = [
                "@odata.type": "#microsoft.graph.iosManagedAppRegistration", "id": .string(result.registrationID),
                "createdDateTime": "2027-01-15T08:00:00.000Z", "lastSyncDateTime": "2027-01-15T10:00:00.000Z",
                "applicationVersion": "3.1", "managementSdkVersion": "1.0", "platformVersion": "18.2",
                "deviceType": "iPhone", "deviceTag": "tag-1", "deviceName": .null, "flaggedReasons": ["rootedDevice"],
                "userId": "oid-a",
                "appIdentifier": [
                    "@odata.type": "#microsoft.graph.iosMobileAppIdentifier",
                    "bundleId": .string(TestDevice.bundleID),
                ],
            ]
            let beta: [String: JSONValue] = [
                "deviceManufacturer": "Apple", "deviceModel": "iPhone15,2", "azureADDeviceId": "",
                "managedDeviceId": "",
            ]
            func own(_ entity: JSONValue) -> [String: JSONValue] {
                (entity.object ?? [:]).filter { !["@odata.context", "version"].contains($0.key) }
            }
            #expect(own(old) == shared)
            #expect(old["version"]?.string?.isEmpty == false && old["version"] != before["version"])
            let new = try await client.administer(.get, "/beta/" + item).json
            #expect(own(new) == shared.merging(beta) { _, new in new })
            for function in ["getUserIdsWithFlaggedAppRegistration()", "getUserIdsWithFlaggedAppRegistration"] {
                let flagged = try await client.administer(.get, "/v1.0/\(Self.path)/\(function)")
                #expect(flagged.json["value"] == ["oid-a"])
            }
            let filter = "?$filter=flaggedReasons/any(r:r%20eq%20'rootedDevice')%20and%20deviceTag%20eq%20'tag-1'"
            let found = try await client.administer(.get, "/v1.0/\(Self.path)\(filter)").json["value"]?.array
            #expect(found?.map { $0["id"]?.string } == [result.registrationID])
        }
    }

    @Test func `an app's version is shown with the build that it last reported, and a build that is none is refused`()
        async throws
    {
        let service = try await TestService()
        _ = try await service.publishPolicy()
        try await service.test { client in
            var device = TestDevice()
            device.build = "1204"
            let result = try await client.register(device)
            let item = "/v1.0/\(Self.path)/\(result.registrationID)"
            #expect(try await client.administer(.get, item).json["applicationVersion"] == "3.1 (1204)")
            device.build = "1205"
            try await client.confirm(result, on: device)
            #expect(try await client.administer(.get, item).json["applicationVersion"] == "3.1 (1205)")
            for flaw in ["", "1\u{1B}[2J", String(repeating: "1", count: 129)] {
                device.build = flaw
                await #expect(throws: TestClient.NotConfirmed.self) { try await client.confirm(result, on: device) }
            }
        }
    }

    @Test func `what is applied has the version that the app confirmed, what is intended the newest`() async throws {
        let service = try await TestService()
        let policy = try await service.publishPolicy()
        try await service.test { client in
            let device = TestDevice()
            let result = try await client.register(device)
            try await client.confirm(result, on: device)
            let changed = try await service.service.administration.updatePolicy(
                policy.id, changes: ["printBlocked": true], ifVersion: nil, as: TestService.owner)
            let item = "/v1.0/\(Self.path)/\(result.registrationID)"
            for (list, version) in [("appliedPolicies", policy.version), ("intendedPolicies", changed.version)] {
                let all = try await client.administer(.get, "\(item)/\(list)").json["value"]?.array ?? []
                #expect(all.map { $0["id"]?.string } == [policy.id] && all.map { $0["version"]?.string } == [version])
                #expect(all.first?["@odata.type"] == "#microsoft.graph.iosManagedAppProtection")
                let one = try await client.administer(.get, "\(item)/\(list)/\(policy.id)?$expand=apps")
                #expect(one.json["version"]?.string == version && one.json["apps"]?.array?.count == 1)
                #expect(try await client.administer(.get, "\(item)/\(list)/$count").body == .init(string: "1"))
                #expect(try await client.administer(.get, "\(item)/\(list)/none").status == .notFound)
                #expect(try await client.administer(.post, "\(item)/\(list)", [:]).status == .methodNotAllowed)
                #expect(
                    try await client.administer(.delete, "\(item)/\(list)/\(policy.id)").status == .methodNotAllowed)
            }
            let expanded = try await client.administer(.get, item + "?$expand=appliedPolicies,intendedPolicies").json
            #expect(expanded["appliedPolicies"]?.array?.map { $0["version"]?.string } == [policy.version])
            #expect(expanded["intendedPolicies"]?.array?.map { $0["version"]?.string } == [changed.version])
            let some = "$expand=appliedPolicies($select=displayName,version),intendedPolicies($SELECT=id)"
            for path in [item, "/v1.0/\(Self.path)"] {
                let answer = try await client.administer(.get, "\(path)?\(some)").json
                let cut = answer["value"]?.array?.first ?? answer
                let names = ["appliedPolicies", "intendedPolicies"].map { list in
                    Set((cut[list]?.array?.first?.object ?? [:]).keys.filter { !$0.contains("@") })
                }
                #expect(names == [["id", "displayName", "version"], ["id"]])
                #expect(cut["appliedPolicies"]?.array?.first?["version"]?.string == policy.version)
            }
            // What the query looks at is looked at before it is cut; a star is everything; what is not closed, or is more, is refused.
            let list =
                "/v1.0/\(Self.path)?$filter=appliedPolicies/any(p:p/displayName%20eq%20'Notes')&$expand=appliedPolicies"
            let found = try await client.administer(.get, list + "($select=id)").json["value"]?.array
            #expect(found?.first?["appliedPolicies"]?.array?.first?["displayName"] == nil && found?.count == 1)
            for options in ["($select=*)", "()"] {
                let all = try await client.administer(.get, list + options).json["value"]?.array?.first
                #expect(all?["appliedPolicies"]?.array?.first?["displayName"] == "Notes", "\(options)")
            }
            for options in [
                "($select=id", "($select=id;$top=5)", "($expand=apps($select=id))", "($filter=id%20eq%20';$select=id')",
            ] {
                let answer = try await client.administer(.get, item + "?$expand=appliedPolicies" + options)
                #expect(answer.status == .badRequest, "\(options)")
            }
            let policies = "/v1.0/deviceAppManagement/iosManagedAppProtections?$expand=apps($select=id),assignments"
            let first = try await client.administer(.get, policies).json["value"]?.array?.first
            #expect(first?["apps"]?.array?.first?.object?.keys.filter { !$0.contains("@") } == ["id"])
            #expect(first?["assignments"]?.array?.first?["target"] != nil && first?["displayName"] != nil)
        }
    }

    @Test func `the actions below a registration are those of the policy`() async throws {
        let service = try await TestService()
        let policy = try await service.publishPolicy()
        try await service.test { client in
            let device = TestDevice()
            let result = try await client.register(device)
            try await client.confirm(result, on: device)
            let item = "/beta/\(Self.path)/\(result.registrationID)/appliedPolicies/\(policy.id)"
            let everybody: JSONValue = [
                "assignments": [["target": ["@odata.type": "#microsoft.graph.allLicensedUsersAssignmentTarget"]]]
            ]
            #expect(try await client.administer(.post, item + "/assign", everybody).status == .noContent)
            #expect(
                try await client.administer(.post, item + "/targetApps", ["appGroupType": "allApps"]).status
                    == .noContent)
            let now = try await service.service.administration.policy(policy.id, as: TestService.owner)
            #expect(now.assignments.map(\.target) == [.allLicensedUsers] && now.appGroup == .allApps)
            let reader = TestIssuer.administrationClaims(roles: ["reader"], at: service.clock.now)
            #expect(
                try await client.administer(.post, item + "/assign", everybody, claims: reader).status == .forbidden)
        }
    }

    @Test func `an app is asked for its logs, and the request shows how far they are`() async throws {
        // SRV-RS-132, SRV-OP-067
        let service = try await TestService()
        _ = try await service.publishPolicy()
        try await service.test { client in
            let device = TestDevice()
            let result = try await client.register(device)
            let path = "/beta/users/\(TestPerson.workerA.name)/managedAppLogCollectionRequests"
            #expect(try await client.administer(.get, path).json["value"] == [])
            let body: JSONValue = ["managedAppRegistrationId": .string(result.registrationID)]
            let made = try await client.administer(.post, path, body)
            #expect(made.status == .created)
            let id = try #require(made.json["id"]?.string)
            #expect(made.headers[.location]?.hasSuffix("managedAppLogCollectionRequests('\(id)')") == true)
            let again = try await client.administer(.post, path, body)
            #expect(again.json["id"]?.string == id, "one request at a time")
            let wrong = try await client.administer(.post, path, ["managedAppRegistrationId": "none"])
            #expect(wrong.status == .badRequest)
            let others = "/beta/users/\(TestPerson.workerB.id)/managedAppLogCollectionRequests"
            #expect(try await client.administer(.post, others, body).status == .badRequest)
            #expect(try await client.administer(.get, others).json["value"] == [])
            func shown() async throws -> JSONValue {
                let expanded = try await client.administer(
                    .get, "/beta/\(Self.path)/\(result.registrationID)?$expand=managedAppLogCollectionRequests")
                let entry = expanded.json["managedAppLogCollectionRequests"]?.array?.first ?? .null
                #expect(try await client.administer(.get, path).json["value"] == [entry])
                let one = try await client.administer(.get, path + "('\(id)')")
                #expect(one.json["id"] == entry["id"] && one.json["uploadedLogs"] == entry["uploadedLogs"])
                #expect(try await client.administer(.get, others + "('\(id)')").status == .notFound)
                return entry
            }
            let pending = try await shown()
            #expect(pending["managedAppRegistrationId"]?.string == result.registrationID)
            #expect(pending["requestedByUserPrincipalName"] == "oid-ada", "Ada is not in this directory")
            #expect(pending["requestedDateTime"] == "2027-01-15T08:00:00.000Z")
            #expect(pending["completedDateTime"] == .null && pending["userLogUploadConsent"] == "unknown")
            #expect(pending["uploadedLogs"]?.array?.map { $0["status"] } == ["pending"])
            service.clock.advance(by: 60)
            let caller = DeviceCaller(
                account: result.account, key: device.key.publicKey, authenticated: nil)
            for (offset, status) in [(0, "inProgress"), (2, "completed")] {
                _ = try await service.service.devices.receiveLogs(
                    Data("ab".utf8), at: offset, of: 4, request: id, registration: result.registrationID, by: caller)
                let entry = try await shown()
                #expect(entry["uploadedLogs"]?.array?.map { $0["status"]?.string } == [status])
                #expect(entry["userLogUploadConsent"] == "accepted" && entry["version"] != pending["version"])
            }
            #expect(try await shown()["completedDateTime"] == "2027-01-15T08:01:00.000Z")
            let next = try await client.administer(.post, path, body)
            #expect(next.json["id"]?.string != id)
            service.clock.advance(by: 86_400 * 400)
            let late = try await client.administer(.get, path).json["value"]?.array?.first
            #expect(late?["uploadedLogs"]?.array?.map { $0["status"] } == ["timedOut"])
        }
    }
}
