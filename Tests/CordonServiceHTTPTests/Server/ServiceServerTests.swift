import AsyncHTTPClient
import CordonDevelopmentProvider
import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonService
import Foundation
import Logging
import NIOCore
import NIOHTTP1
import Testing

@testable import CordonServiceHTTP

/// The server on a real socket, with the embedded provider.
@Suite struct ServiceServerTests {
    private static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    private func server(port: Int = 0) async throws -> (ServiceServer, DevelopmentIdentityProvider) {
        let service = ManagementService(
            storage: InMemoryStorage(), keyStore: InMemoryServiceKeyStore(), logger: Self.logger)
        try await service.open(TestService.tenant)
        var configuration = ServiceServerConfiguration(tenant: TestService.tenant)
        configuration.port = port
        let provider = try TestProvider.make(for: configuration)
        let server = try ServiceServer(
            development: configuration, service: service, provider: EmbeddedProvider(provider), logger: Self.logger)
        return (server, provider)
    }

    /// Runs the server while the test looks at it, and drains it afterwards.
    private func serve<Value: Sendable>(
        _ server: ServiceServer, _ body: @escaping @Sendable (ServiceServer.Address) async throws -> Value
    ) async throws -> Value {
        let (ready, source) = AsyncStream.makeStream(of: ServiceServer.Address.self)
        return try await withThrowingTaskGroup(of: Value?.self) { group in
            group.addTask {
                try await server.run { source.yield($0) }
                source.finish()
                return nil
            }
            group.addTask {
                guard let address = await ready.first(where: { _ in true }) else { return nil }
                defer { Task { await server.shutDown() } }
                return try await body(address)
            }
            var value: Value?
            for try await result in group { value = result ?? value }
            return try #require(value)
        }
    }

    private func get(_ url: String, _ headers: [(String, String)] = []) async throws -> HTTPClientResponse {
        var request = HTTPClientRequest(url: url)
        for (name, value) in headers { request.headers.add(name: name, value: value) }
        return try await HTTPClient.shared.execute(request, timeout: .seconds(30))
    }

    @Test func `the server tells its address, answers there and stops when told`() async throws {
        let (server, _) = try await server()
        let documents = try await serve(server) { address in
            #expect(address.bound.port != 0)
            #expect(address.issuer.absoluteString == address.base.absoluteString + "/idp")
            var bodies: [String: String] = [:]
            for path in ["/healthz", "/readyz", "/.well-known/cordon-mam", "/idp/.well-known/openid-configuration"] {
                let response = try await get(address.base.absoluteString + path)
                #expect(response.status == .ok, "\(path)")
                bodies[path] = String(buffer: try await response.body.collect(upTo: 1 << 20))
            }
            return bodies
        }
        let discovery = try MessageCoding.decode(
            ServiceDiscovery.self, from: Data((documents["/.well-known/cordon-mam"] ?? "").utf8))
        #expect(discovery.tenant == TestService.tenant)
        #expect(documents["/idp/.well-known/openid-configuration"]?.contains(discovery.issuer.absoluteString) == true)
    }

    @Test func `a provider's keys are found over the network by its discovery document`() async throws {
        let (server, embedded) = try await server()
        try await serve(server) { address in
            let documents = NetworkIssuerDocuments()
            let found = try await documents.keySet(of: address.issuer.absoluteString)
            #expect(found == embedded.keySet)
            for issuer in [
                address.issuer.absoluteString + "/", address.base.absoluteString, "http://login.example.test",
                "file:///etc", "not a URL",
            ] {
                await #expect(throws: TokenRefusal(.issuerUnavailable, ""), "\(issuer)") {
                    try await documents.keySet(of: issuer)
                }
            }
            // Operators are told what is there instead.
            do throws(TokenRefusal) {
                _ = try await documents.keySet(of: address.issuer.absoluteString + "/")
            } catch {
                #expect(error.note?.contains("names the issuer \(address.issuer.absoluteString),") == true)
            }
        }
    }

    @Test(.timeLimit(.minutes(10))) func `a request that never ends does not keep the service from ending`()
        async throws
    {
        let service = ManagementService(
            storage: InMemoryStorage(), keyStore: InMemoryServiceKeyStore(), logger: Self.logger)
        try await service.open(TestService.tenant)
        var configuration = ServiceServerConfiguration(tenant: TestService.tenant)
        configuration.drainTimeout = .milliseconds(200)
        let provider = try TestProvider.make(for: configuration)
        let server = try ServiceServer(
            development: configuration, service: service, provider: EmbeddedProvider(provider), logger: Self.logger)
        let (ready, source) = AsyncStream.makeStream(of: ServiceServer.Address.self)
        let running = Task { try await server.run { source.yield($0) } }
        let port = try #require(await ready.first { _ in true }?.bound.port)
        let head = "POST /idp/token HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/x-www-form-urlencoded\r\n"
        // An answer to the first request shows that the second one has come, of whose body the end never does.
        let text = "GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" + head + "Content-Length: 9\r\n\r\na"
        try await RawConnection.beside(port: port, text) {
            await server.shutDown()
            try await running.value
        }
    }

    @Test func `a port in use is a clear error`() async throws {
        let (first, _) = try await server()
        try await serve(first) { address in
            let (second, _) = try await self.server(port: address.bound.port ?? 0)
            await #expect(throws: ProgramError(.addressInUse, reason: "", place: "", hint: "")) {
                try await second.run { _ in }
            }
        }
    }

    @Test(arguments: ["0.0.0.0", "::", "192.0.2.7", "cordon.example.test"])
    func `the embedded provider is refused an address that others can reach`(_ host: String) async throws {
        var configuration = ServiceServerConfiguration(tenant: TestService.tenant)
        configuration.host = host
        let service = ManagementService(
            storage: InMemoryStorage(), keyStore: InMemoryServiceKeyStore(), logger: Self.logger)
        let provider = EmbeddedProvider(try TestProvider.make(for: configuration))
        #expect(throws: ProgramError(.notLoopback, reason: "", place: "", hint: "")) {
            _ = try ServiceServer(
                development: configuration, service: service, provider: provider, logger: Self.logger)
        }
    }

    @Test(arguments: [true, false])
    func `the embedded provider is refused a proxy that would open it to others`(_ isBehindProxy: Bool) async throws {
        var configuration = ServiceServerConfiguration(tenant: TestService.tenant)
        configuration.isBehindProxy = isBehindProxy
        if !isBehindProxy { configuration.publicURL = URL(string: "https://demo.example.test") }
        let service = ManagementService(
            storage: InMemoryStorage(), keyStore: InMemoryServiceKeyStore(), logger: Self.logger)
        let provider = EmbeddedProvider(try TestProvider.make(for: configuration))
        let refused = configuration
        #expect(throws: ProgramError(.notLoopback, reason: "", place: "", hint: "")) {
            _ = try ServiceServer(
                development: refused, service: service, provider: provider, logger: Self.logger)
        }
    }

    @Test func `a server without any provider does not start`() async throws {
        let service = ManagementService(
            storage: InMemoryStorage(), keyStore: InMemoryServiceKeyStore(), logger: Self.logger)
        #expect(throws: ProgramError(.configurationInvalid, reason: "", place: "", hint: "")) {
            _ = try ServiceServer(
                ServiceServerConfiguration(tenant: TestService.tenant), service: service, logger: Self.logger)
        }
    }
}
