import AsyncHTTPClient
import CordonBase
import CordonDevelopmentProvider
import CordonGraph
import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonService
import CordonTestSupport
import Crypto
import CryptoExtras
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Logging
import NIOCore
import Testing

@testable import CordonServiceHTTP

/// What MSAL and azure-identity ask of an authority (SRV-OP-017, 018).
@Suite(.tags(.machineAlone)) struct AuthorityRoutesTests {
    private static let base = "http://localhost:8080"
    private static let issuer = base + "/idp"
    private static let discovery = "/contoso/v2.0/.well-known/openid-configuration"

    /// The whole service in front of the embedded provider, on a router.
    ///
    /// - Parameters:
    ///   - clients: Programs that the provider knows besides the nightly job; they administer.
    ///   - start: What the clock says.
    private func run(
        isBehindProxy: Bool = false, publicURL: URL? = nil, clients: [IdentityProviderClient] = [],
        at start: Date = Date(timeIntervalSince1970: 1_800_000_000), on setup: TestingSetup = .router,
        _ test: @escaping @Sendable (any TestClientProtocol) async throws -> Void
    ) async throws {
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let service = ManagementService(
            storage: InMemoryStorage(), keyStore: InMemoryServiceKeyStore(), clock: { start }, logger: logger)
        let tenant = TenantID("tenant-1")
        try await service.open(tenant)
        var configuration = ServiceServerConfiguration(tenant: tenant)
        configuration.isBehindProxy = isBehindProxy
        configuration.publicURL = publicURL
        let provider = EmbeddedProvider(
            try TestProvider.make(
                for: configuration, issuer: URL(string: Self.issuer), clients: clients, clock: { start }))
        let router = ServiceRouter(
            configuration: configuration, base: publicURL?.absoluteString ?? Self.base,
            issuer: try #require(URL(string: Self.issuer)), service: service,
            documents: EmbeddedIssuer(provider: provider), provider: provider, extensions: [.graph], logger: logger,
            now: { start })
        try await Application(
            responder: router.router().buildResponder(), configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            logger: logger
        ).test(setup) { try await test($0) }
    }

    private func form(_ members: [(String, String)]) -> ByteBuffer {
        ByteBuffer(
            string: members.map { name, value in
                "\(name)=\(value.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")"
            }.joined(separator: "&"))
    }

    private func token(_ client: any TestClientProtocol, secret: String = TestProvider.secret) async throws
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
            #expect(document["authorization_endpoint"]?.string == Self.issuer + "/authorize")
            #expect(document["issuer"]?.string == Self.issuer)
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

    /// A client that is known by an RSA key.
    private func certified(_ key: RSAClientKey) -> IdentityProviderClient {
        var job = IdentityProviderClient(
            id: "certified", displayName: "Certified job", grants: [.clientCredentials],
            resources: [ServiceServerConfiguration.usualAdministrationAudience],
            applicationRoles: ["DeviceManagementApps.Read.All"], secret: nil)
        job.rsaKeys = [key]
        return job
    }

    @Test(.enabled(if: PythonClient.has("azure.identity", "cryptography"), "needs azure-identity"))
    func `azure-identity gets its token with a certificate`() async throws {
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        let file = folder.appending(path: "client.pem")
        let made = try await PythonClient.run(
            "azure_certificate.py", ["CORDON_STEP": "make", "CORDON_CERTIFICATE": file.path])
        try #require(made.status == 0, "\(made.output)")
        // Libraries may warn before.
        let line = try #require(made.output.split(separator: "\n").last)
        let key = try JSONDecoder().decode(RSAClientKey.self, from: Data(line.utf8))
        // It takes no token endpoint without https.
        let address = URL(string: "https://authority.cordon.test")
        try await run(publicURL: address, clients: [certified(key)], at: Date(), on: .live) { client in
            let used = try await PythonClient.run(
                "azure_certificate.py",
                [
                    "CORDON_STEP": "use", "CORDON_CERTIFICATE": file.path, "CORDON_CLIENT": "certified",
                    "CORDON_BASE": "http://127.0.0.1:\(try #require(client.port))",
                ])
            #expect(used.status == 0, "\(used.output)")
        }
    }

    @Test func `an assertion for this address counts, and one for a host that was made up does not`() async throws {
        let key = try _RSA.Signing.PrivateKey(keySize: .bits2048)
        let parts = try key.publicKey.getKeyPrimitives()
        let client = try RSAClientKey(modulus: parts.modulus, exponent: parts.publicExponent)
        try await run(clients: [certified(client)], on: .live) { client in
            let port = try #require(client.port)
            for (host, expected) in [
                ("localhost:8080", HTTPResponse.Status.ok), ("evil.example", .unauthorized),
            ] {
                let header = #"{"alg":"PS256","typ":"JWT","x5t":"abc"}"#
                let claims =
                    #"{"iss":"certified","sub":"certified","aud":"http://\#(host)/contoso/oauth2/v2.0/token","#
                    + #""exp":1800000300,"iat":1800000000,"jti":"\#(UUID().uuidString)"}"#
                let text = [header, claims].map { Base64URL.encode(Data($0.utf8)) }.joined(separator: ".")
                let signature = try key.signature(for: SHA256.hash(data: Data(text.utf8)), padding: .PSS)
                let body = form([
                    ("client_id", "certified"), ("grant_type", "client_credentials"),
                    ("scope", "https://graph.microsoft.com/.default"),
                    ("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"),
                    ("client_assertion", text + "." + Base64URL.encode(signature.rawRepresentation)),
                ])
                // On a socket, because only there a client chooses the name it asks for.
                let answer = try await HummingbirdTesting.TestClient.withClient(host: "127.0.0.1", port: port) {
                    client in
                    try await client.execute(
                        HummingbirdTesting.TestClient.Request(
                            "/contoso/oauth2/v2.0/token", method: .post, authority: host,
                            headers: [.contentType: "application/x-www-form-urlencoded"], body: body))
                }
                #expect(answer.status == expected, "\(host)")
            }
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
            for tenant in ["common", "contoso"] {
                let path = "/\(tenant)/v2.0/.well-known/openid-configuration"
                #expect(try await client.execute(uri: path, method: .get).status == .ok, "\(path)")
            }
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
