import CordonIdentity
import CordonSignIn
import CordonTesting
import Foundation
import Testing

/// What becomes of the tokens of a sign-in or sign-out that is cancelled while the provider answers.
@Suite(.timeLimit(.minutes(10))) struct CancelledSignInTests {
    private let fixture: SignInFixture

    init() throws { fixture = try SignInFixture() }

    /// Runs a sign-in whose answer from the token endpoint comes after it was cancelled.
    private func cancelled(
        _ client: (any HTTPTransport) throws -> SignInClient,
        _ signIn: @escaping @Sendable (SignInClient) async throws -> SignInResult
    ) async throws -> SignInError? {
        let held = HeldTransport(fixture.provider.transport, path: "/token")
        let client = try client(CancellableTransport(held))
        await held.hold()
        let late = Task { try await signIn(client) }
        await held.waitForHeldAnswer()
        #expect(await fixture.provider.liveRefreshTokens > 0, "the control: the provider has made the tokens")
        late.cancel()
        await held.release()
        return await failure { try await late.value }
    }

    @Test func `a sign-in that is cancelled while its code is redeemed leaves no refresh token alive`() async throws {
        let provider = fixture.provider
        let error = try await cancelled({ try fixture.client(transport: $0) }) {
            try await $0.signIn(SignInFixture.request, browser: provider.browser(signingInAs: .worker))
        }
        #expect(error?.code == .cancelled)
        try await until { await provider.liveRefreshTokens == 0 }
        try await until { try fixture.files("revocation").isEmpty }
        #expect(try await fixture.client().accounts().isEmpty)
        #expect(fixture.secrets.count == 0)
    }

    @Test func `a sign-in on another screen that is cancelled while its code is redeemed leaves none alive either`()
        async throws
    {
        let provider = fixture.provider
        let request = DeviceCodeRequest(scopes: SignInFixture.scopes, resource: SignInFixture.resource)
        let error = try await cancelled({ try fixture.client(transport: $0) }) {
            try await $0.signIn(request) { await provider.enter(userCode: $0.userCode, as: .worker) }
        }
        #expect(error?.code == .cancelled)
        try await until { await provider.liveRefreshTokens == 0 }
        #expect(try await fixture.client().accounts().isEmpty)
    }

    @Test func `a cancelled sign-in of the person who is signed in leaves the session that there is`() async throws {
        let provider = fixture.provider
        let before = try await fixture.signedInClient().accounts()
        let error = try await cancelled({ try fixture.client(transport: $0) }) {
            try await $0.signIn(SignInFixture.request, browser: provider.browser(signingInAs: .worker))
        }
        #expect(error?.code == .cancelled)
        try await until { await provider.liveRefreshTokens == 1 }
        let client = try fixture.client()
        #expect(try await client.accounts() == before)
        var options = TokenOptions()
        options.forcesRenewal = true
        _ = try await client.testToken(options: options)
    }

    @Test func `a sign-out that is cancelled while the provider is told is told once more`() async throws {
        let held = HeldTransport(fixture.provider.transport, path: "/revoke")
        let client = try await fixture.signedInClient(transport: CancellableTransport(held))
        await held.hold()
        let late = Task { try await client.signOut("oid-worker-a") }
        await held.waitForHeldAnswer()
        late.cancel()
        let report = try await late.value
        #expect(report.removal.isComplete && report.revocation == .queued)
        await held.release()
        try await until { try fixture.files("revocation").isEmpty }
        #expect(await fixture.provider.count(of: "/revoke") == 2)
    }
}
