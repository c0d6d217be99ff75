import CordonIdentity
import CordonSignIn
import CordonTesting
import Foundation
import Testing

/// Apps of one organisation that share a token cache where no broker is present (SDK-AU-08, SI-085).
@Suite struct SharedCacheTests {
    /// An app of its own: its own view of the folder and the secrets, the organisation's client id.
    private func app(_ fixture: SignInFixture, clientID: String? = nil) throws -> SignInClient {
        var configuration = fixture.configuration()
        if let clientID { configuration.clientID = clientID }
        return try SignInClient(
            configuration: configuration, transport: fixture.provider.transport,
            cache: TokenCache(directory: fixture.folder, secrets: fixture.secrets),
            environment: fixture.time.environment)
    }

    @Test func `who signed in with one app is signed in with the next, without a page`() async throws {
        let fixture = try SignInFixture()
        let first = try app(fixture)
        let signedIn = try await first.signIn(
            SignInFixture.request, browser: fixture.provider.browser(signingInAs: .worker))
        let second = try app(fixture)
        #expect(try await second.accounts().map(\.id) == [signedIn.account.id])
        #expect(try await second.testToken().isBound)
        // Both renew, one after the other, and neither uses up the other's refresh token.
        fixture.time.advance(.seconds(1_000))
        async let one = first.testToken()
        async let two = second.testToken()
        let tokens = try await [one, two]
        #expect(tokens.filter(\.isBound).count == 2)
        #expect(await fixture.provider.liveRefreshTokens == 1)
    }

    @Test func `who signs in again with one app after a refusal is not refused by the other any longer`() async throws {
        let fixture = try SignInFixture()
        let (first, second) = (try app(fixture), try app(fixture))
        let browser = fixture.provider.browser(signingInAs: .worker)
        _ = try await first.signIn(SignInFixture.request, browser: browser)
        await fixture.provider.endEverySession()
        fixture.time.advance(.seconds(1_000))
        #expect(await failure { try await first.testToken() }?.details.oauthError == "invalid_grant")
        #expect(await failure { try await first.testToken() }?.details.isThrottled == true, "the control")
        _ = try await second.signIn(SignInFixture.request, browser: browser)
        #expect(try await first.testToken().isBound)
    }

    @Test func `a sign-out in one app is one in the other, and another client's session stays`() async throws {
        let fixture = try SignInFixture()
        let first = try app(fixture)
        _ = try await first.signIn(SignInFixture.request, browser: fixture.provider.browser(signingInAs: .worker))
        let second = try app(fixture)
        _ = try await second.testToken()
        let stranger = try app(fixture, clientID: "another-app")
        #expect(try await stranger.accounts().isEmpty)
        try await first.signOut(FakePerson.worker.account)
        #expect(await failure { try await second.testToken() }?.code == .interactionRequired)
        #expect(try await second.accounts().isEmpty)
    }
}
