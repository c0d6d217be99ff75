import CordonDemo
import CordonHTTPClient
import CordonSignIn
import CordonTestSupport
import Foundation
import HTTPTypes
import Testing

/// A provider's process with a fresh folder, a browser, and the app's client of it.
struct RunningProvider {
    let issuer: String
    let appPort: UInt16
    let transport: AsyncHTTPTransport
    let browser: HeadlessBrowser
    let folder: URL

    /// Starts a provider by its script, lets the work use it, and takes everything down again.
    static func run(
        _ script: String, issuerPath: String = "", _ work: (RunningProvider) async throws -> Void
    ) async throws {
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        let ports = try Providers.freePorts(2)
        let process = try ChildProcess(
            Providers.python, [Providers.script(script).path, folder.path, String(ports[0]), String(ports[1])])
        let transport = AsyncHTTPTransport()
        var failure: (any Error)?
        do {
            let provider = RunningProvider(
                issuer: "http://127.0.0.1:\(ports[0])\(issuerPath)", appPort: ports[1], transport: transport,
                browser: try HeadlessBrowser(), folder: folder)
            do {
                try await provider.answers(process)
                try await work(provider)
            } catch { failure = error }
            await provider.browser.close()
        } catch { failure = error }
        await transport.shutdown()
        await process.end()
        if let failure { throw failure }
    }

    /// Waits until the provider describes itself.
    private func answers(_ process: ChildProcess) async throws {
        let address = try #require(URL(string: issuer + "/.well-known/openid-configuration"))
        let request = HTTPRequest(
            method: .get, scheme: "http", authority: "127.0.0.1:\(address.port ?? 0)", path: address.path())
        for _ in 0..<600 {
            let answer = try? await transport.send(request, body: nil, limit: 1 << 20, timeout: .seconds(5))
            if answer?.head.status == .ok { return }
            try await Task.sleep(for: .milliseconds(200))
        }
        Issue.record("the provider does not answer: \(await process.standardErrorTail)")
    }

    /// A client with an empty cache of its own.
    func client(_ change: (inout SignInConfiguration) -> Void = { _ in }) throws -> SignInClient {
        var configuration = SignInConfiguration(issuer: issuer, clientID: "cordon-app")
        configuration.redirect = .loopback(ports: [appPort])
        configuration.reservedScopes = ["openid", "profile"]
        configuration.interactionTimeout = .seconds(120)
        change(&configuration)
        let cache = try TokenCache(
            directory: folder.appending(path: "cache-\(UUID().uuidString)"), secrets: MemorySecretStore())
        return try SignInClient(configuration: configuration, transport: transport, cache: cache)
    }
}
