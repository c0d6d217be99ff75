import CordonPolicy
import CordonService
import CordonTestSupport
import Foundation
import HTTPTypes
import HummingbirdTesting
import Testing

@testable import CordonServiceHTTP

/// What a restored store that waits answers, and whom it believes.
@Suite struct RestorationRoutesTests {
    private static let path = "/admin/v1/restoration"

    private func restored() async throws -> TestService {
        let service = try await TestService()
        try await service.service.noteRestoration(
            StoreRestoration(made: service.clock.now, manifest: "ab"), of: TestService.tenant)
        return service
    }

    @Test func `people who administer sign in again after a restore, also once it is confirmed, and programs go on`()
        async throws
    {
        let service = try await restored()
        // The session of either may have been ended in what was lost.
        let person = TestIssuer.administrationClaims(at: service.clock.now)
        let unaged = person.filter { $0.key != "iat" }
        let program = TestIssuer.administrationClaims(roles: ["cordon.reader"], at: service.clock.now)
            .filter { !["preferred_username", "scp", "auth_time"].contains($0.key) }.merging(["idtyp": "app"]) { $1 }
        try await service.test { client in
            service.clock.advance(by: 60)
            for claims in [person, unaged] {
                #expect(try await client.administer(.get, "/admin/v1/me", claims: claims).status == .unauthorized)
                #expect(try await client.administer(.delete, Self.path, claims: claims).status == .unauthorized)
            }
            let shown = try await client.administer(.get, Self.path, claims: program)
            #expect(shown.json["isWaiting"] == true)
            #expect(try await client.administer(.delete, Self.path).status == .noContent)
            #expect(try await client.administer(.get, "/admin/v1/me", claims: person).status == .unauthorized)
            let unagedNow = TestIssuer.administrationClaims(at: service.clock.now).filter { $0.key != "iat" }
            #expect(try await client.administer(.get, "/admin/v1/me", claims: unagedNow).status == .ok)
        }
    }

    @Test
    func
        `a restore under a clock that was ahead shuts nobody out once the clock is right and the service starts again`()
        async throws
    {
        let service = try await TestService()
        let year: TimeInterval = 365 * 86_400
        service.clock.advance(by: year)
        try await service.service.noteRestoration(
            StoreRestoration(made: service.clock.now, manifest: "ab"), of: TestService.tenant)
        service.clock.advance(by: -year)
        try await service.service.open(TestService.tenant)
        let former = TestIssuer.administrationClaims(at: service.clock.now)
        try await service.test { client in
            service.clock.advance(by: 60)
            let refused = try await client.administer(.get, "/admin/v1/me", claims: former)
            #expect(refused.status == .unauthorized)
            #expect(try await client.administer(.delete, Self.path).status == .noContent)
        }
        // A start later leaves the moment as it is.
        service.clock.advance(by: 60)
        let since = try await service.service.provisioning.administratorsSince(of: TestService.tenant)
        try await service.service.open(TestService.tenant)
        #expect(try await service.service.provisioning.administratorsSince(of: TestService.tenant) == since)
    }

    @Test func `a token that never says how old it is counts again once those from before the restore have ended`()
        async throws
    {
        let service = try await restored()
        @Sendable func claims() -> [String: JSONValue] {
            TestIssuer.administrationClaims(at: service.clock.now).filter { !["iat", "auth_time"].contains($0.key) }
        }
        try await service.test { client in
            service.clock.advance(by: 3_600)
            let early = try await client.administer(.get, "/admin/v1/me", claims: claims())
            #expect(early.status == .unauthorized)
            service.clock.advance(by: 86_400)
            #expect(try await client.administer(.get, "/admin/v1/me", claims: claims()).status == .ok)
        }
    }

    @Test func `apps are asked to come back for the key set`() async throws {
        let service = try await restored()
        try await service.test { client in
            let refused = try await client.client.execute(uri: "/mam/v1/keys", method: .get)
            #expect(refused.status == .serviceUnavailable && refused.json["code"] == 222)
            #expect(refused.headers[.retryAfter] == "900")
            service.clock.advance(by: 60)
            #expect(try await client.administer(.delete, Self.path).status == .noContent)
            #expect(try await client.client.execute(uri: "/mam/v1/keys", method: .get).status == .ok)
        }
    }
}
