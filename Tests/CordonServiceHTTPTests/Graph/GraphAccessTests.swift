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

    private let now = TestClock().now

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
}
