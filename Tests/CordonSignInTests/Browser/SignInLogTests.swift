import CordonIdentity
import CordonSignIn
import CordonTesting
import Foundation
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
