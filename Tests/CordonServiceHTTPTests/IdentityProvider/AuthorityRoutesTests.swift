import AsyncHTTPClient
import CordonIdentity
import CordonPolicy
import CordonService
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Logging
import NIOCore
import Testing

@testable import CordonServiceHTTP

/// What MSAL and azure-identity ask of an authority (SRV-OP-017, 018).
@Suite struct AuthorityRoutesTests {
    private static let base = "http://localhost:8080"
    private static let discovery = "/contoso/v2.0/.well-known/openid-configuration"

    /// The whole service in front of the embedded provider, on a router.
    private func run(
        isBehindProxy: Bool = false, publicURL: URL? = nil,
        _ test: @escaping @Sendable (any TestClientProtocol) async throws -> Void
    ) async throws {
        let fixture = try ProviderFixture()
        let clock = fixture.clock
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let service = StoredManagementService(
            storage: InMemoryStorage(), keyStore: InMemoryKeyStore(), clock: { clock.now }, logger: logger)
        let tenant = TenantID("tenant-1")
        try await service.open(tenant)
        var configuration = ServiceServerConfiguration(tenant: tenant)
        configuration.administrationAudiences = [ProviderFixture.admin, ServiceServerConfiguration.graphAudience]
        configuration.checkInAudience = ProviderFixture.checkIn
        configuration.isBehindProxy = isBehindProxy
        configuration.publicURL = publicURL
        let router = ServiceRouter(
            configuration: configuration, base: publicURL?.absoluteString ?? Self.base,
            issuer: try #require(URL(string: ProviderFixture.issuer)), service: service,
            documents: EmbeddedIssuer(provider: fixture.provider), provider: fixture.provider, logger: logger,
            now: { clock.now })
        let responder = DeferredResponder()
        responder.install(router.responder())
        try await Application(responder: responder, logger: logger).test(.router) { try await test($0) }
    }

    private func form(_ members: [(String, String)]) -> ByteBuffer {
        ByteBuffer(
            string: members.map { "\($0)=\(ProviderParameters.escape($1))" }.joined(separator: "&"))
    }

    private func token(_ client: any TestClientProtocol, secret: String = ProviderFixture.secret) async throws
        -> TestResponse
    {
        try await client.execute(
            uri: "/contoso/oauth2/v2.0/token", method: .post,
            headers: [.contentType: "application/x-www-form-urlencoded"],
            body: form([
                ("client_id", "nightly"), ("client_secret", secret), ("grant_type", "client_credentials"),
                ("scope", "https://graph.microsoft.com/.default"), ("client_info", "1"),
            ]))
    }

    @Test func `the discovery document names a token endpoint on the host that was asked`() async throws {
        try await run { client in
            let document = try await client.execute(uri: Self.discovery, method: .get).json
            #expect(document["token_endpoint"]?.string?.hasSuffix("/contoso/oauth2/v2.0/token") == true)
            #expect(document["authorization_endpoint"]?.string == ProviderFixture.issuer + "/authorize")
            #expect(document["issuer"]?.string == ProviderFixture.issuer)
        }
    }

    @Test func `a program's token from there administers as far as its permissions go`() async throws {
        try await run { client in
            let answer = try await token(client)
            #expect(answer.status == .ok)
            #expect(answer.json["token_type"]?.string == "Bearer")
            #expect(answer.json["expires_in"]?.integer ?? 0 > 0)
            let bearer = HTTPFields([
                HTTPField(name: .authorization, value: "Bearer " + (answer.json["access_token"]?.string ?? ""))
            ])
            let policies = try await client.execute(
                uri: "/beta/deviceAppManagement/managedAppPolicies", method: .get, headers: bearer)
            #expect(policies.status == .ok)
            let audit = try await client.execute(uri: "/admin/v1/audit", method: .get, headers: bearer)
            #expect(audit.status == .forbidden)
        }
    }

    @Test func `a wrong secret gets the error that clients expect`() async throws {
        try await run { client in
            let answer = try await token(client, secret: "guessed")
            #expect(answer.status == .unauthorized)
            #expect(answer.json["error"]?.string == "invalid_client")
            #expect(answer.json["error_description"]?.string != nil)
        }
    }

    @Test func `instance discovery leads back here and repeats no strange tenant`() async throws {
        try await run { client in
            let asked = "https%3A%2F%2Flogin.example.test%2Fcontoso%2Foauth2%2Fv2.0%2Fauthorize"
            let answer = try await client.execute(
                uri: "/common/discovery/instance?api-version=1.1&authorization_endpoint=\(asked)", method: .get
            ).json
            #expect(answer["tenant_discovery_endpoint"]?.string?.hasSuffix(Self.discovery) == true)
            let strange = try await client.execute(
                uri: "/common/discovery/instance?authorization_endpoint=https%3A%2F%2Fx%2F%22%3Ca%3E", method: .get
            ).json
            #expect(
                strange["tenant_discovery_endpoint"]?.string?
                    .hasSuffix("/common/v2.0/.well-known/openid-configuration") == true)
        }
    }

    @Test func `a proxy's scheme counts only where the operator said so, and never above the public address`()
        async throws
    {
        let forwarded: HTTPFields = [.forwardedProtocol: "https"]
        @Sendable func endpoint(_ client: any TestClientProtocol, _ headers: HTTPFields) async throws -> String {
            try await client.execute(uri: Self.discovery, method: .get, headers: headers).json["token_endpoint"]?
                .string ?? ""
        }
        try await run { client in
            let plain = try await endpoint(client, forwarded)
            #expect(plain.hasPrefix("http://"))
        }
        try await run(isBehindProxy: true) { client in
            let secure = try await endpoint(client, forwarded)
            #expect(secure.hasPrefix("https://"))
            let strange = try await endpoint(client, [.forwardedProtocol: "javascript"])
            #expect(strange.hasPrefix("http://"))
        }
        try await run(isBehindProxy: true, publicURL: URL(string: "https://mam.example.test")) { client in
            let fixed = try await endpoint(client, [:])
            #expect(fixed == "https://mam.example.test/contoso/oauth2/v2.0/token")
        }
    }
}
