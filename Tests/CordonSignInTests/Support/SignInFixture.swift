import CordonSignIn
import CordonTestSupport
import CordonTesting
import Foundation

/// A provider, a clock, a cache in a fresh folder, and clients that share them; the folder goes with the fixture.
final class SignInFixture: Sendable {
    let folder: URL
    let time = SteppingTime()
    let provider: FakeIdentityProvider
    let secrets = CountingSecretStore()
    let cache: TokenCache

    init() throws {
        folder = TemporaryFolder.newPath()
        let time = time
        provider = FakeIdentityProvider(now: { time.now })
        cache = try TokenCache(directory: folder, secrets: secrets)
    }

    deinit {
        try? FileManager.default.removeItem(at: folder)
    }

    func configuration(_ change: (inout SignInConfiguration) -> Void = { _ in }) -> SignInConfiguration {
        var configuration = SignInConfiguration(issuer: provider.issuer, clientID: provider.clientID)
        change(&configuration)
        return configuration
    }

    func client(
        transport: (any HTTPTransport)? = nil, _ change: (inout SignInConfiguration) -> Void = { _ in }
    ) throws -> SignInClient {
        try SignInClient(
            configuration: configuration(change), transport: transport ?? provider.transport, cache: cache,
            environment: time.environment)
    }

    /// A client in which the worker is signed in.
    func signedInClient(
        _ person: FakePerson = .worker, transport: (any HTTPTransport)? = nil,
        _ change: (inout SignInConfiguration) -> Void = { _ in }
    ) async throws -> SignInClient {
        let client = try client(transport: transport, change)
        _ = try await client.signIn(Self.request, browser: provider.browser(signingInAs: person))
        return client
    }

    static let resource = "https://service.contoso.example/check-in"
    static let scopes = ["mam.checkin"]
    static var request: SignInRequest { SignInRequest(scopes: scopes, resource: resource) }

    /// The names of the files of a kind.
    func files(_ kind: String) throws -> [URL] {
        try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .filter { $0.pathExtension == kind }
    }
}

extension SignInClient {
    /// The token that every test asks for.
    func testToken(_ person: FakePerson = .worker, options: TokenOptions = TokenOptions()) async throws -> AccessToken {
        try await accessToken(
            for: person.account, resource: SignInFixture.resource, scopes: SignInFixture.scopes, options: options)
    }
}

/// The error that the body throws, nil when it throws none or another kind.
func failure<Value>(_ body: () async throws -> Value) async -> SignInError? {
    do {
        _ = try await body()
        return nil
    } catch {
        return error as? SignInError
    }
}
