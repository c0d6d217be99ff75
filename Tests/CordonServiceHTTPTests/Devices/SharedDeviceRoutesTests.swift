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

/// Shared devices: joined, listed, heard and released.
@Suite struct SharedDeviceRoutesTests {
    private let key = SoftwareSigningKey()
    private static let id = "0d4c6a1e-device"

    private func statement(
        tenant: TenantID = TestService.tenant, id: String = id, key: SoftwareSigningKey? = nil, names: String? = nil
    ) throws -> JSONValue {
        let key = key ?? self.key
        let facts = DeviceRegistrationStatement(
            deviceID: id, tenant: tenant, issuer: TestIssuer.name, keyThumbprint: names ?? key.publicKey.thumbprint,
            since: Date(timeIntervalSince1970: 1_800_000_000))
        let text = try CompactJWS.sign(
            MessageCoding.encode(facts), type: .deviceRegistration, with: key, embedsKey: true)
        return ["request": .string(text), "name": "Ward 3"]
    }

    private func administrator(_ service: TestService, _ role: String = "Cloud Device Administrator")
        -> [String: JSONValue]
    {
        TestIssuer.administrationClaims(roles: [role], scopes: "Device.ReadWrite.All", at: service.clock.now)
    }

    private func session(
        _ number: Int64, _ account: String?, _ client: TestClient, key: SoftwareSigningKey? = nil, id: String = id
    ) async throws -> HTTPResponse.Status {
        let statement = DeviceSessionStatement(
            deviceID: id, session: number, account: account.map { AccountID($0) }, since: 1_800_000_000)
        let body: JSONValue = ["statement": .string(try statement.signed(by: key ?? self.key))]
        return try await client.client.execute(
            uri: "/cordon/v1/devices/\(Self.id)/session", method: .post, headers: [.contentType: "application/json"],
            body: ByteBuffer(string: body.text())
        ).status
    }

    @Test func `statements that come too often are held back, for that device alone`() async throws {
        let service = try await TestService()
        let claims = administrator(service)
        try await service.test { client in
            _ = try await client.administer(.post, "/cordon/v1/devices", statement(), claims: claims)
            for number in 1...10 { #expect(try await session(Int64(number), "oid-a", client) == .noContent) }
            #expect(try await session(11, "oid-a", client) == .tooManyRequests)
            let other = try await client.client.execute(
                uri: "/cordon/v1/devices/other/session", method: .post, headers: [.contentType: "application/json"],
                body: ByteBuffer(string: #"{"statement":"x"}"#))
            #expect(other.status == .notFound)
            service.clock.advance(by: 10)
            #expect(try await session(11, "oid-a", client) == .noContent)
        }
    }

    @Test func `what a stranger says in a device's name does not keep the device from being heard`() async throws {
        let service = try await TestService()
        let claims = administrator(service)
        try await service.test { client in
            _ = try await client.administer(.post, "/cordon/v1/devices", statement(), claims: claims)
            for number in 1...20 {
                #expect(try await session(Int64(number), "oid-a", client, key: SoftwareSigningKey()) == .forbidden)
            }
            #expect(try await session(1, "oid-a", client) == .noContent)
        }
    }

    @Test func `a device joins, says who is on it, and is released`() async throws {
        let service = try await TestService()
        let claims = administrator(service)
        let body = try statement()
        try await service.test { client in
            let joined = try await client.administer(.post, "/cordon/v1/devices", body, claims: claims)
            #expect(joined.status == .created && joined.json["keyThumbprint"]?.string == key.publicKey.thumbprint)
            let again = try await client.administer(.post, "/cordon/v1/devices", body, claims: claims)
            #expect(again.json["registered"] == joined.json["registered"])

            #expect(try await session(1, "oid-a", client) == .noContent)
            #expect(try await session(2, nil, client) == .noContent)
            // A statement that was held back on its way changes nothing.
            #expect(try await session(1, "oid-a", client) == .noContent)
            var devices = try await client.administer(.get, "/admin/v1/devices").json
            #expect(devices.array?.first?["account"] == nil && devices.array?.first?["name"] == "Ward 3")
            #expect(try await session(3, "oid-b", client) == .noContent)
            devices = try await client.administer(.get, "/admin/v1/devices").json
            #expect(devices.array?.first?["account"] == "oid-b")

            let path = "/admin/v1/devices/\(Self.id)"
            #expect(try await client.administer(.delete, path, claims: claims).status == .noContent)
            #expect(try await session(4, nil, client) == .notFound)
        }
        let actions = try await service.service.administration.auditRecords(AuditQuery(), as: TestService.owner).map(
            \.action)
        #expect(
            actions.filter { $0.hasPrefix("device.") } == [
                "device.register", "device.signIn", "device.signOut", "device.signIn", "device.release",
            ])
    }

    @Test func `no device is joined without the role, for another organisation, or with a key that is not its own`()
        async throws
    {
        let service = try await TestService()
        let other = SoftwareSigningKey()
        try await service.test { client in
            for role in ["reader", "helpDesk", "policyAdministrator"] {
                let answer = try await client.administer(
                    .post, "/cordon/v1/devices", try statement(), claims: administrator(service, role))
                #expect(answer.status == .forbidden)
            }
            let claims = administrator(service)
            for bad in [
                try statement(tenant: TenantID("fabrikam")), try statement(names: other.publicKey.thumbprint),
                try statement(id: "../x"), ["request": "a.b.c"],
            ] {
                let answer = try await client.administer(.post, "/cordon/v1/devices", bad, claims: claims)
                #expect(answer.status == .badRequest)
            }
            #expect(
                try await client.administer(.post, "/cordon/v1/devices", try statement(), claims: claims).status
                    == .created)
            let taken = try await client.administer(
                .post, "/cordon/v1/devices", try statement(key: other), claims: claims)
            #expect(taken.status == .conflict)
            #expect(try await session(1, "oid-a", client, key: other) == .forbidden)
            #expect(try await session(1, "oid-a", client, id: "another") == .forbidden)
        }
    }
}
