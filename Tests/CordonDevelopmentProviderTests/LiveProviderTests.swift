import CordonIdentity
import CordonService
import CordonServiceHTTP
import Foundation
import HTTPTypes
import HummingbirdTesting
import Logging
import NIOCore
import Testing

@testable import CordonDevelopmentProvider

/// The provider inside the service's server, as `cordon serve --development` puts it there.
@Suite struct LiveProviderTests {
    private func server(_ provider: DevelopmentIdentityProvider) throws -> ServiceServer {
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        return try ServiceServer(
            development: ServiceServerConfiguration(tenant: TenantID("tenant-1")),
            service: ManagementService(
                storage: InMemoryStorage(), keyStore: InMemoryServiceKeyStore(), logger: logger),
            provider: EmbeddedProvider(
                path: DevelopmentIdentityProvider.path, routes: DevelopmentIdentityProvider.routes,
                largestBody: DevelopmentIdentityProvider.largestBody, start: { await provider.answer(at: $0) },
                answer: { await provider.answer($0, body: $1) },
                answerToken: { await provider.answerToken($0, body: $1, at: $2) },
                endSessions: { await provider.revokeGrants(ofPerson: $0) }),
            logger: logger)
    }

    @Test func `over a socket the issuer names the port that was bound, and a sign-in works`() async throws {
        try await serving { try await check($0, port: $1) }
    }

    @Test(arguments: ["Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Proto", "x-forwarded-host"])
    func `a request that a proxy passed on is refused on every route of the provider`(_ field: String) async throws {
        let headers: HTTPFields = [try #require(HTTPField.Name(field)): "1.1 proxy.example.test"]
        try await serving { client, port in
            let authority = "127.0.0.1:\(port)"
            for route in DevelopmentIdentityProvider.routes {
                let path = route.path
                let direct = try await client.execute(
                    TestClient.Request(path, method: route.method, authority: authority))
                #expect(direct.status != .misdirectedRequest, "the control: \(path)")
                let passedOn = try await client.execute(
                    TestClient.Request(path, method: route.method, authority: authority, headers: headers))
                #expect(passedOn.status == .misdirectedRequest, "\(path)")
            }
            let token = try await client.execute(
                TestClient.Request("/tenant-1/oauth2/v2.0/token", method: .post, authority: authority, headers: headers)
            )
            #expect(token.status == .misdirectedRequest)
        }
    }

    /// Runs a service with the provider in it, while the body asks it over a socket.
    private func serving(_ body: @escaping @Sendable (TestClient, Int) async throws -> Void) async throws {
        let provider = try DevelopmentIdentityProvider(
            directory: try ProviderFixture.directory(),
            configuration: .development(checkIn: ProviderFixture.checkIn, admin: ProviderFixture.admin))
        let server = try server(provider)
        let (ready, source) = AsyncStream.makeStream(of: ServiceServer.Address.self)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await server.run { source.yield($0) }
                source.finish()
            }
            let address = try #require(await ready.first { _ in true })
            let port = try #require(address.bound.port)
            try await TestClient.withClient(host: "127.0.0.1", port: port) { client in
                try await body(client, port)
            }
            await server.shutDown()
            try await group.waitForAll()
        }
    }

    private func check(_ client: TestClient, port: Int) async throws {
        let browser = ProviderBrowser(authority: "127.0.0.1:\(port)") { request, body in
            let response = try await client.execute(
                TestClient.Request(
                    request.path ?? "", method: request.method, authority: request.authority,
                    headers: request.headerFields, body: body.isEmpty ? nil : ByteBuffer(bytes: body)))
            return (
                HTTPResponse(status: response.status, headerFields: response.headers),
                response.body.map { Data($0.readableBytesView) } ?? Data()
            )
        }
        let run = ProviderTestRun(fixture: try ProviderFixture(), browser: browser)
        let metadata = try await browser.get("/idp/.well-known/openid-configuration")
        #expect(metadata.text("issuer") == "http://127.0.0.1:\(port)/idp")
        let answer = try await browser.signIn(try await run.authorize())
        #expect(answer.parameter("iss") == "http://127.0.0.1:\(port)/idp")
        let token = "http://127.0.0.1:\(port)/idp/token"
        let tokens = try await run.exchange(
            try #require(answer.parameter("code")), proof: try run.key.proof(uri: token, at: Date()))
        #expect(tokens.status == .ok, "\(tokens.body)")
        #expect(
            ProviderTestRun.claims(tokens.text("access_token"))["iss"] as? String == "http://127.0.0.1:\(port)/idp")
        let rebound = try await client.execute(
            TestClient.Request("/idp/keys", method: .get, authority: "attacker.example.test"))
        #expect(rebound.status == .misdirectedRequest)
    }
}
