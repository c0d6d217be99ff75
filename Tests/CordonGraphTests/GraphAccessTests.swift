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

/// Who may do what on the administration side.
@Suite struct GraphAccessTests {
    private static let path = "/v1.0/deviceAppManagement/iosManagedAppProtections"

    private func status(_ claims: [String: JSONValue], _ method: HTTPRequest.Method = .get) async throws -> (
        Int, String?
    ) {
        let service = try await TestService()
        return try await service.test { client in
            let answer = try await client.administer(
                method, Self.path, method == .get ? nil : ["displayName": "x"], claims: claims)
            return (Int(answer.status.code), answer.json["error"]?["code"]?.string)
        }
    }

    private let now = SettableClock().now

    @Test func `no token, no answer`() async throws {
        try await TestService().test { client in
            let answer = try await client.client.execute(uri: Self.path, method: .get)
            #expect(answer.status == .unauthorized)
            #expect(answer.headers[.wwwAuthenticate] == "Bearer")
            #expect(answer.json["error"]?["code"] == "InvalidAuthenticationToken")
        }
    }

    @Test func `an app's check-in token opens nothing`() async throws {
        let device = TestDevice()
        let claims = TestIssuer.checkInClaims(.workerA, key: device.key.publicKey, at: now)
        #expect(try await status(claims) == (401, "InvalidAuthenticationToken"))
    }

    @Test func `a person without a role is told so`() async throws {
        #expect(try await status(TestIssuer.administrationClaims(roles: [], at: now)) == (403, "Forbidden"))
    }

    @Test func `a reader reads and does not write`() async throws {
        let claims = TestIssuer.administrationClaims(roles: ["reader"], at: now)
        #expect(try await status(claims).0 == 200)
        #expect(try await status(claims, .post) == (403, "Forbidden"))
    }

    @Test func `an owner's token without the scope to write only reads`() async throws {
        let claims = TestIssuer.administrationClaims(scopes: "DeviceManagementApps.Read.All openid", at: now)
        #expect(try await status(claims).0 == 200)
        #expect(try await status(claims, .post) == (403, "Forbidden"))
    }

    @Test func `an owner's token without any of the scopes opens nothing`() async throws {
        #expect(try await status(TestIssuer.administrationClaims(scopes: "openid", at: now)) == (403, "Forbidden"))
    }

    @Test func `a program's Graph permissions count as roles`() async throws {
        var claims = TestIssuer.administrationClaims(roles: ["DeviceManagementApps.Read.All"], at: now)
        claims["preferred_username"] = nil
        claims["scp"] = nil
        claims["idtyp"] = "app"
        #expect(try await status(claims).0 == 200)
        #expect(try await status(claims, .post).0 == 403)
        claims["roles"] = ["DeviceManagementApps.ReadWrite.All"]
        #expect(try await status(claims, .post).0 == 201)
    }

    @Test func `a program's permission to read one kind of thing opens that, and nothing else`() async throws {
        // SRV-OP-019
        let service = try await TestService()
        let paths = [
            "/v1.0/users", "/v1.0/groups", "/v1.0/groups/\(TestService.group)/members", "/v1.0/organization",
            "/beta/deviceManagement/roleScopeTags", "/beta/deviceManagement/assignmentFilters", Self.path,
            "/v1.0/deviceManagement/auditEvents",
        ]
        let directory: Set = ["/v1.0/users", "/v1.0/groups", "/v1.0/groups/\(TestService.group)/members"]
        let opened: [(permission: String, paths: Set<String>)] = [
            ("Group.Read.All", directory), ("GroupMember.Read.All", directory), ("User.Read.All", directory),
            ("Organization.Read.All", ["/v1.0/organization"]),
            ("DeviceManagementRBAC.Read.All", ["/beta/deviceManagement/roleScopeTags"]),
            ("DeviceManagementConfiguration.Read.All", ["/beta/deviceManagement/assignmentFilters"]),
            ("Mail.Read", []), ("reading", []),
        ]
        try await service.test { client in
            for (permission, mine) in opened {
                var claims = TestIssuer.administrationClaims(roles: [permission], at: service.clock.now)
                claims["preferred_username"] = nil
                claims["scp"] = nil
                claims["idtyp"] = "app"
                for path in paths {
                    let status = try await client.administer(.get, path, claims: claims).status
                    #expect(
                        (status == .ok) == (mine.contains(path) || path == "/v1.0/organization"),
                        "\(permission) \(path)")
                    #expect(status == .ok || status == .forbidden)
                }
                let write = try await client.administer(.post, "/v1.0/groups", ["displayName": "x"], claims: claims)
                #expect(write.status == .forbidden, "\(permission)")
                let tag = try await client.administer(
                    .post, "/beta/deviceManagement/roleScopeTags", ["displayName": "x"], claims: claims)
                #expect(tag.status == .forbidden, "\(permission)")
            }
        }
    }

    @Test func `a token bound to a key is no bearer token`() async throws {
        let device = TestDevice()
        var claims = TestIssuer.administrationClaims(at: now)
        claims["cnf"] = ["jkt": .string(device.key.publicKey.thumbprint)]
        let bound = claims
        #expect(try await status(bound) == (401, "InvalidAuthenticationToken"))
        let service = try await TestService()
        try await service.test { client in
            let token = try service.issuer.token(bound)
            let headers: HTTPFields = [
                .authorization: "DPoP \(token)",
                .dpop: try await client.proof(device, .get, Self.path, token: token),
            ]
            #expect(try await client.client.execute(uri: Self.path, method: .get, headers: headers).status == .ok)
            let again = try await client.client.execute(uri: Self.path, method: .get, headers: headers)
            #expect(again.status == .unauthorized)
        }
    }

    @Test func `a body over a mebibyte is refused`() async throws {
        try await TestService().test { client in
            let answer = try await client.administer(
                .post, Self.path, ["displayName": .string(String(repeating: "x", count: 1 << 20))])
            #expect(answer.status == .contentTooLarge)
            #expect(answer.json["error"]?["code"] == "RequestEntityTooLarge")
        }
    }

    @Test func `the export of a person leaves a record and has every part`() async throws {
        let service = try await TestService()
        let now = Int64(service.clock.now.timeIntervalSince1970)
        try await service.service.provisioning.setWorkingTime(
            WorkingTimeReport(state: .clockedIn, asOf: now), ofUser: TestPerson.workerA.id, as: TestService.owner)
        let alert = OperatorAlert(
            id: "alert-1", kind: .wipeFailed, time: service.clock.now, operationID: "o", registrationID: "r",
            userID: TestPerson.workerA.id, bundleID: "com.example.notes", attempts: 3)
        try await service.storage.write(TestService.tenant) { try $0.save(alert) }
        try await service.test { client in
            let path = "/v1.0/users/\(TestPerson.workerA.name)/exportDeviceAndAppManagementData"
            let answer = try await client.administer(.get, path)
            #expect(answer.status == .ok)
            let sections = answer.json["content"]?.array ?? []
            let time = sections.first { $0["displayName"] == "Working time" }
            #expect(time?["data"]?.array?.count == 1)
            #expect(sections.contains { $0["displayName"] == "Telemetry" })
            let alerts = sections.first { $0["displayName"] == "Alerts" }
            #expect(alerts?["data"]?.array?.compactMap { $0["id"] } == ["alert-1"])
            #expect(sections.contains { $0["displayName"] == "Deliveries" })
            let data = try await service.service.administration.personalData.exportUser(
                TestPerson.workerA.id, as: TestService.owner)
            #expect(sections.count == Mirror(reflecting: data).children.count, "a part of what is kept is left out")
            for part in ["(skip=1,top=2)", "(Skip=1, top=2)", "()?skip=1&top=2"] {
                let some = try await client.administer(.get, path + part.replacing(" ", with: "%20"))
                #expect(some.json["content"]?.array == Array(sections[1...2]), "\(part)")
            }
            #expect(try await client.administer(.get, path + "?top=all").status == .badRequest)
            let records = try await service.service.administration.auditRecords(
                .init(limit: 1_000), as: TestService.owner)
            #expect(records.last?.action == "user.export")
            #expect(records.last?.target == "user/\(TestPerson.workerA.id)")
            let reader = TestIssuer.administrationClaims(roles: ["reader"], at: service.clock.now)
            #expect(try await client.administer(.get, path, claims: reader).status == .forbidden)
        }
    }

    @Test func `a page of the audit log reads no more of it than it shows`() async throws {
        let service = try await TestService()
        for number in 0..<2_100 {
            try await service.service.provisioning.setWorkingTime(
                WorkingTimeReport(state: number % 2 == 0 ? .clockedIn : .clockedOut, asOf: Int64(number)),
                ofUser: TestPerson.workerA.id, as: TestService.owner)
        }
        let path = "/v1.0/deviceManagement/auditEvents"
        try await service.test { client in
            func ids(_ answer: TestResponse) -> [Int] {
                (answer.json["value"]?.array ?? []).compactMap { $0["id"]?.string.flatMap { Int($0) } }
            }
            let first = try await client.administer(.get, path + "?$top=3")
            #expect(ids(first) == [1, 2, 3] && first.json["@odata.count"] == nil)
            let link = try #require(first.json["@odata.nextLink"]?.string.flatMap(URL.init(string:)))
            let second = try await client.administer(.get, "\(link.path())?\(link.query() ?? "")")
            #expect(ids(second) == [4, 5, 6])
            let skipped = try await client.administer(.get, path + "?$skip=2000&$top=2&$count=true")
            #expect(ids(skipped) == [2_001, 2_002])
            let total = try #require(skipped.json["@odata.count"])
            #expect(try await client.administer(.get, path + "/$count").json == total)
            let filter = "?$filter=activityType%20eq%20'workingTime.set'&$top=2"
            #expect(ids(try await client.administer(.get, path + filter)).count == 2)
            let newest = try await client.administer(.get, path + "?$orderby=activityDateTime%20desc,id&$top=1")
            #expect(newest.status == .ok && ids(newest).count == 1)
        }
    }
}
