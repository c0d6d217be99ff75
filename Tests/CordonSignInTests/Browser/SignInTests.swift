import CordonBase
import CordonIdentity
import CordonProtocol
import CordonSignIn
import CordonTesting
import Foundation
import Testing

@Suite struct SignInTests {
    let fixture: SignInFixture

    init() throws { fixture = try SignInFixture() }

    private func signIn(
        _ request: SignInRequest = SignInFixture.request, as person: FakePerson = .worker
    ) async throws -> SignInResult {
        try await fixture.client().signIn(request, browser: fixture.provider.browser(signingInAs: person))
    }

    @Test func `a person signs in and the account carries the provider's facts`() async throws {
        let result = try await signIn()
        #expect(result.account.id == "oid-worker-a")
        #expect(result.account.tenant == TenantID("contoso"))
        #expect(result.account.userPrincipalName == "worker-a@contoso.example")
        #expect(result.account.managed.id == result.account.id)
        #expect(result.isRenewable)
        #expect(result.grantedScopes.contains("mam.checkin"))
    }

    @Test func `without directory claims the subject and the issuer are used`() async throws {
        let result = try await signIn(as: FakePerson("ada@example.test", subject: "s-1"))
        #expect(result.account.id == "s-1")
        #expect(result.account.tenant == TenantID(fixture.provider.issuer))
    }

    @Test func `the access token names its resource alone and is bound to the session's key`() async throws {
        let client = try fixture.client()
        let result = try await client.signIn(
            SignInFixture.request, browser: fixture.provider.browser(signingInAs: .worker))
        let body = claims(of: result.accessToken.text)
        #expect(body["aud"] as? String == SignInFixture.resource)
        let bound = (body["cnf"] as? [String: String])?["jkt"]
        #expect(result.accessToken.isBound)
        #expect(try await client.signer(for: result.account.id).publicKey.thumbprint == bound)
        #expect(result.accessToken.authorization.hasPrefix("DPoP "))
    }

    @Test func `a person who signs in again as the account that is asked for keeps the key that services know`()
        async throws
    {
        let client = try fixture.client()
        let browser = fixture.provider.browser(signingInAs: .worker)
        let account = try await client.signIn(SignInFixture.request, browser: browser).account.id
        let key = try await client.signer(for: account).publicKey
        var again = SignInFixture.request
        again.account = account
        _ = try await client.signIn(again, browser: browser)
        #expect(try await client.signer(for: account).publicKey == key)
        _ = try await client.removeAccount(account)
        _ = try await client.signIn(again, browser: browser)
        #expect(try await client.signer(for: account).publicKey != key)
    }

    @Test func `two sign-ins never share state, nonce, proof key or device key`() async throws {
        let pages = PageRecorder()
        for person in [FakePerson.worker, .otherWorker] {
            let browser = BrowserLauncher { page, _ in
                await pages.add(page)
                return await fixture.provider.visit(page, as: person)
            }
            _ = try await fixture.client().signIn(SignInFixture.request, browser: browser)
        }
        let queries = await pages.queries
        #expect(queries.count == 2)
        for name in ["state", "nonce", "code_challenge", "dpop_jkt", "redirect_uri"] {
            #expect(Set(queries.compactMap { $0[name] }).count == 2, "\(name) repeats")
        }
        let secrets = queries.flatMap { query in ["state", "nonce"].compactMap { query[$0] } }
        #expect(secrets.allSatisfy { Base64URL.decode($0)?.count == 32 }, "fewer than 256 bits")
        #expect(queries.allSatisfy { $0["code_challenge_method"] == "S256" && $0["response_type"] == "code" })
    }

    /// RFC 9700 §4.3.2: what is in an address is in histories and logs too.
    @Test func `no address that the app asks or opens holds a token, a code or a verifier`() async throws {
        let pages = PageRecorder()
        let browser = BrowserLauncher { page, _ in
            await pages.add(page)
            return await fixture.provider.visit(page, as: .worker)
        }
        let client = try fixture.client()
        _ = try await client.signIn(SignInFixture.request, browser: browser)
        var options = TokenOptions()
        options.forcesRenewal = true
        let token = try await client.testToken(options: options)
        _ = try await client.signOut(FakePerson.worker.account)
        let received = await fixture.provider.received
        let names = ["code", "code_verifier", "refresh_token", "token"]
        let secrets = received.flatMap { request in names.compactMap { request.parameters[$0] } } + [token.text]
        #expect(secrets.count >= 5, "the control: code, verifier and refresh tokens were sent in bodies")
        let opened = await pages.pages.map(\.absoluteString)
        for address in received.map(\.path) + opened {
            #expect(!secrets.contains { address.contains($0) }, "\(address)")
        }
    }

    @Test func `every field of a request reaches the authorization page`() async throws {
        var request = SignInFixture.request
        request.prompt = .selectAccount
        request.loginHint = "worker-a@contoso.example"
        request.domainHint = "contoso.example"
        request.extraScopesToConsent = ["later.scope"]
        request.claims = try ClaimsRequest(json: #"{"access_token":{"acrs":{"essential":true}}}"#)
        request.maximumAuthenticationAge = .zero
        request.extraParameters = ["ui_locales": "de fr"]
        let pages = PageRecorder()
        let browser = BrowserLauncher { page, _ in
            await pages.add(page)
            return await fixture.provider.visit(page, as: .worker)
        }
        let client = try fixture.client { $0.capabilities = ["CP1"] }
        let result = try await client.signIn(request, browser: browser)
        let query = try #require(await pages.queries.first)
        #expect(query["prompt"] == "select_account")
        #expect(query["login_hint"] == "worker-a@contoso.example")
        #expect(query["domain_hint"] == "contoso.example")
        #expect(query["scope"] == "openid profile offline_access mam.checkin later.scope")
        #expect(query["resource"] == SignInFixture.resource)
        #expect(query["max_age"] == "1")
        #expect(query["ui_locales"] == "de fr")
        #expect(query["claims"] == #"{"access_token":{"acrs":{"essential":true},"xms_cc":{"values":["CP1"]}}}"#)
        #expect(result.matchesHint == true)
        let token = await fixture.provider.received.last { $0.path == "/token" }
        #expect(token?.parameters["ui_locales"] == "de fr")
        #expect(token?.parameters["resource"] == SignInFixture.resource)
    }

    @Test func `another person than hinted may sign in, and the result says so`() async throws {
        var request = SignInFixture.request
        request.loginHint = "worker-a@contoso.example"
        let result = try await signIn(request, as: .otherWorker)
        #expect(result.matchesHint == false)
        #expect(result.account.id == "oid-worker-b")
    }

    @Test func `another person than required is refused and keeps nothing`() async throws {
        var request = SignInFixture.request
        request.account = "oid-worker-a"
        let error = await failure { try await signIn(request, as: .otherWorker) }
        #expect(error?.code == .accountMismatch)
        #expect(try fixture.files("session").isEmpty)
        #expect(await fixture.provider.liveRefreshTokens == 0)
    }

    @Test func `declined scopes are listed and the account is signed in all the same`() async throws {
        await fixture.provider.setFaults([.declinesScopes])
        let client = try fixture.client()
        let error = await failure {
            try await client.signIn(SignInFixture.request, browser: fixture.provider.browser(signingInAs: .worker))
        }
        #expect(error?.code == .declinedScopes)
        #expect(error?.details.declinedScopes == ["mam.checkin"])
        #expect(error?.details.grantedScopes.contains("openid") == true)
        #expect(try await client.accounts().map(\.id) == ["oid-worker-a"])
    }

    @Test func `a parameter of the library's own cannot be overridden`() async throws {
        for name in ["state", "redirect_uri", "code_challenge_method", "response_type", "client_id", "nonce"] {
            var request = SignInFixture.request
            request.extraParameters = [name: "x"]
            let error = await failure { try await signIn(request) }
            #expect(error?.code == .configuration, "\(name) was accepted")
        }
    }

    @Test func `a second interactive sign-in is refused and the first goes on`() async throws {
        let client = try fixture.client()
        let provider = fixture.provider
        let browser = BrowserLauncher { page, _ in
            let second = await failure {
                try await client.signIn(SignInFixture.request, browser: provider.browser(signingInAs: .worker))
            }
            #expect(second?.fault == .interactiveSessionRunning)
            #expect(second?.msalInternalCode == -42402)
            return await provider.visit(page, as: .worker)
        }
        let result = try await client.signIn(SignInFixture.request, browser: browser)
        #expect(result.account.id == "oid-worker-a")
    }

    @Test func `pushed requests are used when offered and an expired reference is pushed again once`() async throws {
        await fixture.provider.setFaults([.pushedRequests, .expiredReferenceOnce])
        _ = try await signIn()
        #expect(await fixture.provider.count(of: "/par") == 2)
    }

    @Test func `a provider that demands a nonce in proofs gets it`() async throws {
        await fixture.provider.setFaults([.demandsNonce])
        _ = try await signIn()
        #expect(await fixture.provider.count(of: "/token") == 2)
    }

    @Test func `a provider without proofs of possession gives plain bearer tokens`() async throws {
        await fixture.provider.setFaults([.noProofs])
        let result = try await signIn()
        #expect(!result.accessToken.isBound)
        #expect(await fixture.provider.received.allSatisfy { !$0.hasProof })
    }

    @Test func `a closed browser page is a cancellation`() async throws {
        let browser = BrowserLauncher { _, _ in throw CancellationError() }
        let error = await failure { try await fixture.client().signIn(SignInFixture.request, browser: browser) }
        #expect(error?.code == .cancelled)
        #expect(error?.msalCode == -50005)
    }

    @Test func `after removal the same account has to give credentials again`() async throws {
        let client = try await fixture.signedInClient()
        try await client.removeAccount("oid-worker-a")
        let pages = PageRecorder()
        let provider = fixture.provider
        let browser = BrowserLauncher { page, _ in
            await pages.add(page)
            return await provider.visit(page, as: .worker)
        }
        var request = SignInFixture.request
        request.account = "oid-worker-a"
        _ = try await client.signIn(request, browser: browser)
        #expect(await pages.queries.first?["prompt"] == "login")
        request.prompt = .consent
        _ = try await client.signIn(request, browser: browser)
        #expect(await pages.queries.last?["prompt"] == "consent")
    }
}

/// The pages that a browser was shown.
actor PageRecorder {
    private(set) var pages: [URL] = []

    func add(_ page: URL) { pages.append(page) }

    var queries: [[String: String]] {
        pages.map { page in
            let items = URLComponents(url: page, resolvingAgainstBaseURL: false)?.queryItems ?? []
            return Dictionary(items.map { ($0.name, $0.value ?? "") }) { $1 }
        }
    }
}
