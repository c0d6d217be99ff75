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

@Suite struct GraphWipeTests {
    private static let root = "/v1.0/deviceAppManagement/managedAppRegistrations"

    @Test func `a wipe is asked for by tag, seen in the registration's operations, and cancelled while pending`()
        async throws
    {
        let service = try await TestService()
        _ = try await service.publishPolicy()
        let device = TestDevice()
        try await service.test { client in
            let id = try await client.register(device).registrationID
            let listed = try await client.administer(.get, Self.root).json["value"]?.array ?? []
            #expect(listed.count == 1)
            #expect(listed.first?["@odata.type"] == "#microsoft.graph.iosManagedAppRegistration")
            #expect(listed.first?["deviceTag"]?.string == device.tag)
            #expect(listed.first?["flaggedReasons"] == ["none"])
            #expect(listed.first?["userId"]?.string == TestPerson.workerA.id)
            let wiped = try await client.administer(
                .post, "/v1.0/users/worker-a%40contoso.example/wipeManagedAppRegistrationsByDeviceTag",
                ["deviceTag": .string(device.tag)])
            #expect(wiped.status == .noContent)
            let operations =
                try await client.administer(.get, "\(Self.root)/\(id)/operations").json["value"]?.array ?? []
            #expect(operations.map { $0["state"] } == ["pending"])
            let operation = try #require(operations.first?["id"]?.string)
            let other = try await client.administer(.get, "\(Self.root)/another/operations/\(operation)")
            #expect(other.status == .notFound)
            #expect(
                try await client.administer(.delete, "\(Self.root)/\(id)/operations/\(operation)").status == .noContent)
            let expanded = try await client.administer(.get, "\(Self.root)/\(id)?$expand=operations").json
            #expect(expanded["operations"]?.array?.first?["state"] == "cancelled")
        }
    }

    @Test func `a delivered wipe cannot be cancelled`() async throws {
        let service = try await TestService()
        _ = try await service.publishPolicy()
        let device = TestDevice()
        try await service.test { client in
            let id = try await client.register(device).registrationID
            try await client.administer(
                .post, "/beta/users('\(TestPerson.workerA.id)')/wipeManagedAppRegistrationByDeviceTag",
                ["deviceTag": .string(device.tag)])
            try await client.send(
                .post, "/mam/v1/registrations/\(id)/checkins", as: device, device.checkIn(at: service.clock.now))
            let operations =
                try await client.administer(.get, "\(Self.root)/\(id)/operations").json["value"]?.array ?? []
            let operation = try #require(operations.first)
            #expect(operation["state"] == "delivered")
            let answer = try await client.administer(
                .delete, "\(Self.root)/\(id)/operations/\(operation["id"]?.string ?? "")")
            #expect(answer.status == .conflict)
            #expect(answer.json["error"]?["code"] == "Conflict")
        }
    }

    @Test func `an unknown person is 404 and an unknown tag 400 that names the known ones`() async throws {
        let service = try await TestService()
        _ = try await service.publishPolicy()
        try await service.test { client in
            _ = try await client.register(TestDevice(tag: "tag-known"))
            let action = "wipeManagedAppRegistrationsByDeviceTag"
            let nobody = try await client.administer(.post, "/v1.0/users/nobody/\(action)", ["deviceTag": "x"])
            #expect(nobody.status == .notFound)
            #expect(nobody.json["error"]?["code"] == "Request_ResourceNotFound")
            let tag = try await client.administer(
                .post, "/v1.0/users/\(TestPerson.workerA.id)/\(action)", ["deviceTag": "x"])
            #expect(tag.status == .badRequest)
            #expect(tag.body.description.isEmpty == false)
            #expect(String(buffer: tag.body).contains("tag-known"))
            let none = try await client.administer(.post, "/v1.0/users/\(TestPerson.workerA.id)/\(action)", [:])
            #expect(none.json["error"]?["details"]?.array?.first?["target"] == "deviceTag")
        }
    }

    @Test func `a person is blocked, listed and unblocked`() async throws {
        let service = try await TestService()
        try await service.test { client in
            let user = "/beta/users/\(TestPerson.workerA.id)"
            #expect(try await client.administer(.post, user + "/wipeAndBlockManagedApps").status == .noContent)
            #expect(try await client.administer(.get, user + "/isManagedAppUserBlocked()").json["value"] == true)
            let blocked = try await client.administer(.get, "/beta/users/getManagedAppBlockedUsers()").json
            #expect(blocked["value"] == [.string(TestPerson.workerA.id)])
            #expect(try await client.administer(.post, user + "/unblockManagedApps").status == .noContent)
            #expect(try await client.administer(.get, user + "/isManagedAppUserBlocked()").json["value"] == false)
        }
    }

    @Test func `me is the person of the token, and of a program there is none`() async throws {
        let service = try await TestService()
        try await service.test { client in
            var claims = TestIssuer.administrationClaims(roles: [], scopes: "User.Read", at: service.clock.now)
            claims["oid"] = .string(TestPerson.workerB.id)
            let me = try await client.administer(.get, "/v1.0/me", claims: claims)
            #expect(me.json["userPrincipalName"]?.string == TestPerson.workerB.name)
            #expect(try await client.administer(.get, "/v1.0/users", claims: claims).status == .forbidden)
            claims["preferred_username"] = nil
            claims["client_id"] = claims["sub"]
            claims["auth_time"] = nil
            #expect(try await client.administer(.get, "/v1.0/me", claims: claims).status == .badRequest)
        }
    }

    @Test func `people and groups are read as Graph shows them`() async throws {
        let service = try await TestService()
        try await service.test { client in
            let people = try await client.administer(.get, "/v1.0/users").json["value"]?.array ?? []
            #expect(people.allSatisfy { $0["@odata.type"] == "#microsoft.graph.user" })
            let group =
                try await client.administer(
                    .get, "/v1.0/groups?%24filter=displayName+eq+%27Field+workers%27"
                ).json["value"]?.array ?? []
            #expect(group.map { $0["id"]?.string } == [TestService.group])
            #expect(group.first?["mailNickname"] == "Fieldworkers" && group.first?["groupTypes"] == [])
            #expect(group.first?["securityEnabled"] == true && group.first?["mailEnabled"] == false)
            for member in ["membershipRule", "membershipRuleProcessingState"] { #expect(group.first?[member] == .null) }
            let members = try await client.administer(.get, "/v1.0/groups/\(TestService.group)/members").json
            #expect(members["value"]?.array?.map { $0["userPrincipalName"]?.string } == [TestPerson.workerA.name])
            let of = try await client.administer(.get, "/v1.0/users/\(TestPerson.workerA.id)/transitiveMemberOf").json
            #expect(of["value"]?.array?.map { $0["id"]?.string } == [TestService.group])
            let made = try await client.administer(.post, "/v1.0/groups", ["displayName": "New"])
            #expect(made.status == .created)
            let organization = try await client.administer(.get, "/v1.0/organization").json
            #expect(organization["value"]?.array?.first?["id"]?.string == TestService.tenant.rawValue)
        }
    }

    @Test func `a person who left the directory is still wiped, blocked and unblocked`() async throws {
        let service = try await TestService()
        _ = try await service.publishPolicy()
        let device = TestDevice()
        try await service.test { client in
            _ = try await client.register(device)
            try await service.service.provisioning.removeUser(TestPerson.workerA.id, as: TestService.owner)
            let path = "/v1.0/users/\(TestPerson.workerA.id)"
            #expect(
                try await client.administer(
                    .post, path + "/wipeManagedAppRegistrationsByDeviceTag", ["deviceTag": .string(device.tag)]
                ).status == .noContent)
            #expect(try await client.administer(.post, path + "/wipeAndBlockManagedApps").status == .noContent)
            #expect(
                try await service.service.administration.blockedUsers(as: TestService.owner) == [TestPerson.workerA.id])
            #expect(try await client.administer(.post, path + "/unblockManagedApps").status == .noContent)
            #expect(try await service.service.administration.blockedUsers(as: TestService.owner).isEmpty)
            #expect(
                try await client.administer(.post, "/v1.0/users/nobody/wipeAndBlockManagedApps").status == .notFound)
        }
    }
}
