import CordonBase
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Logging
import NIOCore
import Synchronization
import Testing

@testable import CordonServiceHTTP

@Suite struct LiveProviderTests {
    /// The port, known once the server is bound.
    final class BoundPort: Sendable {
        private let port = Mutex(0)
        var value: Int { port.withLock { $0 } }
        func set(_ value: Int) { port.withLock { $0 = value } }
    }

    @Test func `over a socket the issuer names the port that was bound, and a sign-in works`() async throws {
        let bound = BoundPort()
        let provider = try DevelopmentIdentityProvider(
            directory: try ProviderFixture.directory(),
            configuration: .development(checkIn: ProviderFixture.checkIn, admin: ProviderFixture.admin),
            issuer: { URL(string: "http://127.0.0.1:\(bound.value)/idp") ?? URL(filePath: "/") })
        let router = Router()
        IdentityProviderRoutes(provider: provider).add(to: router)
        var logger = Logger(label: "test")
        logger.logLevel = .error
        let application = Application(
            router: router, configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { bound.set($0.localAddress?.port ?? 0) }, logger: logger)
        try await application.test(.live) { client in
            let port = try #require(client.port)
            bound.set(port)
            let run = ProviderTestRun(fixture: try ProviderFixture(), browser: ProviderBrowser(client))
            let metadata = try await run.browser.get("/idp/.well-known/openid-configuration")
            #expect(metadata.text("issuer") == "http://127.0.0.1:\(port)/idp")
            let answer = try await run.browser.signIn(try await run.authorize())
            #expect(answer.parameter("iss") == "http://127.0.0.1:\(port)/idp")
            let token = "http://127.0.0.1:\(port)/idp/token"
            let tokens = try await run.exchange(
                try #require(answer.parameter("code")), proof: try run.key.proof(uri: token, at: Date()))
            #expect(tokens.status == .ok, "\(tokens.body)")
            #expect(
                ProviderTestRun.claims(tokens.text("access_token"))["iss"] as? String
                    == "http://127.0.0.1:\(port)/idp")
            let rebound = try await HummingbirdTesting.TestClient.withClient(host: "127.0.0.1", port: port) { client in
                try await client.execute(
                    HummingbirdTesting.TestClient.Request("/idp/keys", method: .get, authority: "attacker.example.test")
                )
            }
            #expect(rebound.status == .misdirectedRequest)
        }
    }
}
