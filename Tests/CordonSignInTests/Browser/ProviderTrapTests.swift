import CordonIdentity
import CordonProtocol
import CordonSignIn
import CordonTesting
import Foundation
import Testing

/// What real providers were found to do, each tolerated or refused on purpose (SI-212). The provider where it was seen
/// stands beside the test; other suites hold the same behaviour in other company.
@Suite struct ProviderTrapTests {
    let fixture: SignInFixture

    init() throws { fixture = try SignInFixture() }

    /// A transport that changes the token endpoint's answers.
    private func rewriting(
        _ change: @escaping @Sendable (inout [String: Any]) -> Void
    ) -> RewritingTransport {
        RewritingTransport(inner: fixture.provider.transport) { path, body in
            guard path == "/token", var answer = try JSONSerialization.jsonObject(with: body) as? [String: Any] else {
                return body
            }
            change(&answer)
            return try JSONSerialization.data(withJSONObject: answer)
        }
    }

    // MARK: canaille

    @Test func `two renewals within a second give status 500, and the session outlives it`() async throws {
        let client = try await fixture.signedInClient()
        fixture.time.advance(.seconds(1_000))
        await fixture.provider.setFaults([.failsOnce])
        _ = try await client.testToken()
        await fixture.provider.setFaults([])
        fixture.time.advance(.seconds(1_000))
        #expect(try await client.testToken().isBound)
    }

    @Test func `a first access token that lives ten days is believed for one`() async throws {
        let client = try fixture.client(transport: rewriting { $0["expires_in"] = 864_000 })
        let first = try await client.signIn(
            SignInFixture.request, browser: fixture.provider.browser(signingInAs: .worker))
        #expect(first.accessToken.expires == fixture.time.now.addingTimeInterval(86_400))
    }

    @Test func `a renewal that brings no ID token keeps the earlier claims`() async throws {
        let client = try await fixture.signedInClient()
        let before = try await client.account(FakePerson.worker.account)
        await fixture.provider.setFaults([.noIDTokenOnRenewal])
        fixture.time.advance(.seconds(1_000))
        _ = try await client.testToken()
        #expect(try await client.account(FakePerson.worker.account) == before)
    }

    @Test func `a renewal ends the access token before it, so that only the new one is given out`() async throws {
        let client = try await fixture.signedInClient()
        let first = try await client.testToken()
        var options = TokenOptions()
        options.forcesRenewal = true
        let second = try await client.testToken(options: options)
        #expect(second.text != first.text)
        #expect(try await client.testToken().text == second.text)
    }

    @Test func `a maximum age of zero is asked for as one second, since zero never ends`() async throws {
        let provider = fixture.provider
        let asked = AskedAge()
        let client = try fixture.client()
        var request = SignInFixture.request
        request.maximumAuthenticationAge = .zero
        _ = await failure {
            try await client.signIn(
                request,
                browser: BrowserLauncher { page, _ in
                    await asked.note(page)
                    return await provider.visit(page, as: .worker)
                })
        }
        #expect(await asked.value == "1")
    }

    @Test func `a fractional time of authentication is read`() async throws {
        await fixture.provider.setFaults([.fractionalAuthenticationTime])
        #expect(try await fixture.signedInClient().accounts().count == 1)
    }

    @Test func `an ID token for no audience is refused, and nothing is kept`() async throws {
        await fixture.provider.setFaults([.emptyAudience])
        #expect(await failure { try await fixture.signedInClient() }?.fault == .invalidIDToken)
        #expect(try fixture.files("session").isEmpty)
    }

    @Test func `that "none" is among the announced algorithms does not make an unsigned ID token good`() async throws {
        await fixture.provider.setFaults([.unsignedIDToken])
        #expect(await failure { try await fixture.signedInClient() }?.fault == .invalidIDToken)
    }

    @Test func `a key that changes with every start of the provider ends no session`() async throws {
        let client = try await fixture.signedInClient()
        for _ in 0..<3 {
            await fixture.provider.rotateKey()
            fixture.time.advance(.seconds(4_000))
            _ = try await client.testToken()
        }
    }

    @Test func `a refusal that comes only after the password is told as what it is`() async throws {
        await fixture.provider.setFaults([.accessDenied])
        #expect(await failure { try await fixture.signedInClient() }?.fault == .accessDenied)
    }

    // MARK: Glewlwyd

    @Test func `a first poll that is answered "slow down" makes the next interval longer`() async throws {
        let provider = fixture.provider
        await provider.setFaults([.slowDownOnce])
        let request = DeviceCodeRequest(scopes: SignInFixture.scopes, resource: SignInFixture.resource)
        _ = try await fixture.client().signIn(request) { await provider.enter(userCode: $0.userCode, as: .worker) }
        #expect(fixture.time.slept == [.seconds(5), .seconds(10)])
    }

    @Test func `an access token's audience is not the app's affair`() async throws {
        // Asked for without a resource it is meant for something that the app never heard of.
        let client = try fixture.client()
        let result = try await client.signIn(
            SignInRequest(scopes: SignInFixture.scopes), browser: fixture.provider.browser(signingInAs: .worker))
        #expect(!result.accessToken.text.isEmpty)
    }

    @Test func `a subject that is random is an account's own id, never its name`() async throws {
        let client = try await fixture.signedInClient()
        let account = try #require(try await client.accounts().first)
        #expect(account.subject == FakePerson.worker.subject && account.subject != account.userPrincipalName)
    }

    // MARK: django-oauth-toolkit

    @Test func `a device flow that gives no ID token names no person to sign in, and is refused`() async throws {
        let provider = fixture.provider
        await provider.setFaults([.noIDToken])
        let request = DeviceCodeRequest(scopes: SignInFixture.scopes, resource: SignInFixture.resource)
        let error = await failure {
            try await fixture.client().signIn(request) { await provider.enter(userCode: $0.userCode, as: .worker) }
        }
        #expect(error?.code == .server)
        #expect(try fixture.files("session").isEmpty)
    }

    @Test func `an endpoint that answers 500 for good is the provider's fault, not the person's`() async throws {
        let transport = FlakyTransport(fixture.provider.transport, failures: 100, path: "/token")
        let error = await failure { try await fixture.signedInClient(transport: transport) }
        #expect(error?.code == .network || error?.code == .server || error?.code == .serverBusy)
    }

    // MARK: oidc-provider-mock

    @Test func `a provider that would take a wrong verifier gets the right one all the same`() async throws {
        await fixture.provider.setFaults([.hidesProofKeys])
        #expect(await failure { try await fixture.signedInClient() }?.fault == .proofKeyUnsupported)
        let client = try await fixture.signedInClient { $0.requiresAnnouncedS256 = false }
        #expect(try await client.accounts().count == 1)
    }
}

/// The `max_age` of the page that was shown.
private actor AskedAge {
    private(set) var value: String?

    func note(_ page: URL) {
        value =
            URLComponents(url: page, resolvingAgainstBaseURL: false)?.queryItems?.first { $0.name == "max_age" }?
            .value
    }
}
