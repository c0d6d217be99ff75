import CordonPolicy
import CordonProtocol
import CordonService
import CordonTestSupport
import Foundation
import HTTPTypes
import HummingbirdTesting
import Testing

@testable import CordonServiceHTTP

/// An administrator ends a person's sessions (SI-182).
@Suite struct SessionRoutesTests {
    private static let path = "/v1.0/users/worker-a%40contoso.example/revokeSignInSessions"

    @Test func `sessions that an administrator ends refuse the person's tokens from before, and no one else's`()
        async throws
    {
        let service = try await TestService()
        _ = try await service.publishPolicy()
        try await service.test { client in
            let device = TestDevice()
            let id = try await client.register(device).registrationID
            let old = try client.token(device)
            service.clock.advance(by: 60)
            let answer = try await client.administer(.post, Self.path)
            #expect(answer.status == .ok && answer.json["value"] == true)
            let path = "/mam/v1/registrations/\(id)/checkins"
            let refused = try await client.send(
                .post, path, as: device, device.checkIn(at: service.clock.now), .init(token: old))
            #expect(refused.status == .unauthorized && refused.problem == "access-token")
            service.clock.advance(by: 1)
            let fresh = try await client.send(.post, path, as: device, device.checkIn(at: service.clock.now))
            #expect(fresh.status == .ok)
            #expect(try await client.administer(.get, "/v1.0/users").status == .ok, "the administrator's own go on")
            let nobody = try await client.administer(.post, "/v1.0/users/nobody/revokeSignInSessions")
            #expect(nobody.status == .notFound)
        }
    }

    @Test func `the scope of ending sessions is enough for it, and for nothing else`() async throws {
        let service = try await TestService()
        try await service.test { client in
            let claims = TestIssuer.administrationClaims(
                roles: ["deviceAdministrator"], scopes: "User.RevokeSessions.All", at: service.clock.now)
            let ended = try await client.administer(.post, Self.path, claims: claims)
            #expect(ended.status == .ok)
            let block = "/v1.0/users/\(TestPerson.workerB.id)/wipeAndBlockManagedApps"
            let blocked = try await client.administer(.post, block, claims: claims)
            #expect(blocked.status == .forbidden)
        }
    }
}
