import CordonIdentity
import CordonSignIn
import CordonTesting
import Foundation
import Testing

/// What becomes of the tokens of a sign-in that comes to no session, and of a session whose beginning is not finished.
@Suite struct UnkeptSignInTests {
    private let fixture: SignInFixture
    private let secrets = StubbornSecretStore()

    init() throws { fixture = try SignInFixture() }

    private func client() throws -> SignInClient {
        try SignInClient(
            configuration: fixture.configuration(), transport: fixture.provider.transport,
            cache: TokenCache(directory: fixture.folder, secrets: secrets), environment: fixture.time.environment)
    }

    @Test func `a sign-in that a full disk does not take leaves no refresh token alive`() async throws {
        let client = try client()
        secrets.fill(true)
        let error = await failure {
            try await client.signIn(SignInFixture.request, browser: fixture.provider.browser(signingInAs: .worker))
        }
        #expect(error?.fault == .storeUnavailable)
        #expect(await fixture.provider.liveRefreshTokens == 0)
        #expect(try await client.accounts().isEmpty)
        secrets.fill(false)
        #expect(try await client.deliverRevocations() == 0)
    }

    @Test(
        arguments: [
            .noIDToken, .forgedIDToken, .expiredIDToken, .wrongNonce, .unboundTokens,
        ] as [FakeIdentityProviderFault])
    func `a sign-in with a bad ID token, or none, or tokens bound to no key, leaves no refresh token alive`(
        fault: FakeIdentityProviderFault
    ) async throws {
        await fixture.provider.setFaults([fault])
        let error = await failure { try await fixture.signedInClient() }
        #expect(error?.code == .server)
        #expect(await fixture.provider.liveRefreshTokens == 0)
    }

    @Test(
        arguments: [
            (.noIDToken, .invalidIDToken), (.unboundTokens, .unboundToken),
        ] as [(FakeIdentityProviderFault, SignInFault)])
    func `a device code's tokens without an ID token, or bound to no key, are revoked, too`(
        fault: FakeIdentityProviderFault, expected: SignInFault
    ) async throws {
        let provider = fixture.provider
        await provider.setFaults([fault])
        let request = DeviceCodeRequest(scopes: SignInFixture.scopes, resource: SignInFixture.resource)
        let error = await failure {
            try await fixture.client().signIn(request) { await provider.enter(userCode: $0.userCode, as: .worker) }
        }
        #expect(error?.fault == expected)
        #expect(await provider.liveRefreshTokens == 0)
    }

    @Test func `tokens that the provider cannot take back at once are revoked later`() async throws {
        let transport = InterceptedTransport(fixture.provider.transport, path: "/revoke")
        transport.intercept(status: 502, body: "")
        await fixture.provider.setFaults([.noIDToken])
        let client = try fixture.client(transport: transport)
        _ = await failure {
            try await client.signIn(SignInFixture.request, browser: fixture.provider.browser(signingInAs: .worker))
        }
        #expect(await fixture.provider.liveRefreshTokens == 1)
        transport.letPass()
        #expect(try await client.deliverRevocations() == 0)
        #expect(await fixture.provider.liveRefreshTokens == 0)
    }

    @Test func `a session that replaced one whose key cannot be destroyed just now has begun`() async throws {
        let client = try client()
        let browser = fixture.provider.browser(signingInAs: .worker)
        let first = try await client.signIn(SignInFixture.request, browser: browser)
        secrets.refuse()
        let second = try await client.signIn(SignInFixture.request, browser: browser)
        #expect(try await client.accounts().map(\.session) == [second.account.session])
        #expect(second.account.session != first.account.session)
        fixture.time.advance(.seconds(1_000))
        _ = try await client.testToken()
        #expect(try !fixture.files("changing").isEmpty, "the control: the earlier key is still to be destroyed")
        secrets.refuse(false)
        _ = try self.client()
        #expect(try fixture.files("changing").isEmpty)
        #expect(try await client.accounts().count == 1)
    }

    @Test func `a person who signs in again is not signed out, also where an earlier key stays`() async throws {
        let client = try client()
        let browser = fixture.provider.browser(signingInAs: .worker)
        _ = try await client.signIn(SignInFixture.request, browser: browser)
        let file = try #require(try fixture.files("session").first)
        let earlier = try Data(contentsOf: file)
        try await client.signOut("oid-worker-a")
        #expect(try fixture.files("signed-out").count == 1)
        try earlier.write(to: file)
        secrets.refuse()
        _ = try await client.signIn(SignInFixture.request, browser: browser)
        #expect(try fixture.files("signed-out").isEmpty)
        #expect(try !fixture.files("changing").isEmpty, "the control: the earlier key could not be destroyed")
    }
}
