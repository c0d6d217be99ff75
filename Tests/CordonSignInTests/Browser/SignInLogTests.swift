import CordonBase
import CordonIdentity
import CordonSignIn
import CordonTesting
import Foundation
import HTTPTypes
import Logging
import Testing

/// SDK-LG-02: what sign-in says to the app's log, and what it never says.
@Suite struct SignInLogTests {
    private let log = LogRecorder()

    @Test func `signing in, renewing and signing out say how they ended, without names and tokens`() async throws {
        let fixture = try SignInFixture()
        let client = try fixture.client()
        client.log(to: log.logger)
        _ = try await client.signIn(SignInFixture.request, browser: fixture.provider.browser(signingInAs: .worker))
        var options = TokenOptions()
        options.forcesRenewal = true
        let token = try await client.testToken(options: options)
        await fixture.provider.demandProtection(for: [SignInFixture.resource])
        #expect(await failure { try await client.testToken(options: options) }?.code == .protectionRequired)
        _ = try await client.signOut(FakePerson.worker.account)
        let said = log.lines
        let provider = "provider=\(fixture.provider.issuer)"
        #expect(
            said == [
                "info sign-in by browser succeeded \(provider)", "info renewal succeeded \(provider)",
                "warning renewal failed code=protectionRequired fault=protectionPolicyRequired \(provider)",
                "info sign-out succeeded \(provider)",
            ])
        for secret in [token.text, "worker-a", FakePerson.worker.account.rawValue] {
            #expect(!said.contains { $0.contains(secret) })
        }
    }

    @Test(arguments: Logger.Level.allCases)
    func `a log hears failures alone where its level says so, and nothing secret at any level`(
        level: Logger.Level
    ) async throws {
        let fixture = try SignInFixture()
        let client = try fixture.client()
        var logger = log.logger
        logger.logLevel = level
        client.log(to: logger)
        let token = try await client.signIn(
            SignInFixture.request, browser: fixture.provider.browser(signingInAs: .worker)
        ).accessToken
        await fixture.provider.demandProtection(for: [SignInFixture.resource])
        var options = TokenOptions()
        options.forcesRenewal = true
        #expect(await failure { try await client.testToken(options: options) }?.code == .protectionRequired)
        _ = try await client.signOut(FakePerson.worker.account)
        let count = level <= .info ? 3 : level <= .warning ? 1 : 0
        #expect(log.lines.count == count)
        let person = FakePerson.worker
        for secret in [token.text, "refresh-", person.userName, person.name, person.account.rawValue, person.subject] {
            #expect(!log.lines.contains { $0.contains(secret) })
        }
    }

    @Test func `everything that goes out is asked of the provider, whatever fails and however a person signs in`()
        async throws
    {
        let fixture = try SignInFixture()
        let (provider, watched) = (fixture.provider, WatchedTransport(fixture.provider.transport))
        let client = try fixture.client(transport: watched)
        client.log(to: log.logger)
        _ = try await client.signIn(SignInFixture.request, browser: provider.browser(signingInAs: .worker))
        var options = TokenOptions()
        options.forcesRenewal = true
        _ = try await client.testToken(options: options)
        await provider.demandProtection(for: [SignInFixture.resource])
        #expect(await failure { try await client.testToken(options: options) } != nil)
        await provider.demandProtection(for: [])
        let request = DeviceCodeRequest(scopes: SignInFixture.scopes, resource: SignInFixture.resource)
        _ = try await client.signIn(request) { await provider.enter(userCode: $0.userCode, as: .otherWorker) }
        for person in [FakePerson.worker, .otherWorker] { _ = try await client.signOut(person.account) }
        #expect(
            watched.addresses
                == Set(
                    ["/.well-known/openid-configuration", "/keys", "/token", "/device", "/revoke"]
                        .map { provider.issuer + $0 }))
    }

    @Test func `a person who turns away is no warning, and without a log nothing is written`() async throws {
        let fixture = try SignInFixture()
        await fixture.provider.setFaults([.accessDenied])
        let client = try fixture.client()
        let browser = fixture.provider.browser(signingInAs: .worker)
        _ = await failure { try await client.signIn(SignInFixture.request, browser: browser) }
        #expect(log.lines.isEmpty)
        client.log(to: log.logger)
        _ = await failure { try await client.signIn(SignInFixture.request, browser: browser) }
        #expect(log.lines.map { $0.hasPrefix("info sign-in by browser failed code=cancelled") } == [true])
    }
}

/// Notes what is asked for on its way.
private final class WatchedTransport: HTTPTransport {
    private let inner: any HTTPTransport
    private let seen = Locked<Set<String>>([])

    init(_ inner: any HTTPTransport) { self.inner = inner }

    var addresses: Set<String> { seen.withLock { $0 } }

    private func note(_ request: HTTPRequest) {
        seen.withLock { _ = $0.insert("\(request.scheme ?? "")://\(request.authority ?? "")\(request.path ?? "")") }
    }

    func send(
        _ request: HTTPRequest, body: Data?, limit: Int, timeout: Duration
    ) async throws(TransportError) -> HTTPAnswer {
        note(request)
        return try await inner.send(request, body: body, limit: limit, timeout: timeout)
    }

    func stream(_ request: HTTPRequest, timeout: Duration) async throws(TransportError) -> HTTPAnswerStream {
        note(request)
        return try await inner.stream(request, timeout: timeout)
    }
}
