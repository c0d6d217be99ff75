import CordonBase
import CordonIdentity
import CordonProtocol
import CordonSignIn
import CordonTesting
import Foundation
import HTTPTypes
import Testing

@Suite struct RenewalTests {
    let fixture: SignInFixture

    init() throws { fixture = try SignInFixture() }

    private func renewals() async -> Int {
        await fixture.provider.received.count { $0.parameters["grant_type"] == "refresh_token" }
    }

    @Test func `a good token comes from memory`() async throws {
        let client = try await fixture.signedInClient()
        let first = try await client.testToken()
        #expect(try await client.testToken() == first)
        #expect(await renewals() == 0)
    }

    @Test(arguments: [(301, 0), (299, 1)])
    func `a token is renewed once it is nearer to its end than the buffer`(left: Int, expected: Int) async throws {
        await fixture.provider.setAccessTokenLifetime(3_600)
        let client = try await fixture.signedInClient()
        fixture.time.advance(.seconds(3_600 - left))
        _ = try await client.testToken()
        #expect(await renewals() == expected)
    }

    @Test func `a token that lives shorter than the buffer is used for half its life`() async throws {
        await fixture.provider.setAccessTokenLifetime(60)
        let client = try await fixture.signedInClient()
        fixture.time.advance(.seconds(29))
        _ = try await client.testToken()
        #expect(await renewals() == 0)
        fixture.time.advance(.seconds(2))
        _ = try await client.testToken()
        #expect(await renewals() == 1)
    }

    @Test func `a clock set back far makes the token due`() async throws {
        let client = try await fixture.signedInClient()
        fixture.time.advance(.seconds(-86_400))
        _ = try await client.testToken()
        #expect(await renewals() == 1)
    }

    @Test func `force and claims skip the token in memory`() async throws {
        let client = try await fixture.signedInClient()
        var options = TokenOptions()
        options.forcesRenewal = true
        _ = try await client.testToken(options: options)
        options = TokenOptions()
        options.claims = ClaimsRequest(
            challenge:
                #"Bearer error="insufficient_claims", claims="eyJhY2Nlc3NfdG9rZW4iOnsiYWNycyI6eyJlc3NlbnRpYWwiOnRydWV9fX0=""#
        )
        #expect(options.claims != nil)
        _ = try await client.testToken(options: options)
        #expect(await renewals() == 2)
        let last = await fixture.provider.received.last { $0.path == "/token" }
        #expect(last?.parameters["claims"] == #"{"access_token":{"acrs":{"essential":true}}}"#)
    }

    @Test func `fifty callers share one renewal`() async throws {
        let client = try await fixture.signedInClient()
        fixture.time.advance(.seconds(1_000))
        let tokens = try await withThrowingTaskGroup(of: AccessToken.self) { group in
            for _ in 0..<50 { group.addTask { try await client.testToken() } }
            return try await group.reduce(into: Set<String>()) { $0.insert($1.text) }
        }
        #expect(tokens.count == 1)
        #expect(await renewals() == 1)
    }

    @Test func `twenty clients of one cache renew one after the other and never reuse a refresh token`() async throws {
        _ = try await fixture.signedInClient()
        fixture.time.advance(.seconds(1_000))
        let fixture = fixture
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<20 { group.addTask { _ = try await fixture.client().testToken() } }
            try await group.waitForAll()
        }
        let used = await fixture.provider.received.compactMap { $0.parameters["refresh_token"] }
        #expect(used.count == 20)
        #expect(Set(used).count == 20)
        #expect(await fixture.provider.liveRefreshTokens == 1)
    }

    @Test func `a session survives the process`() async throws {
        let first = try await fixture.signedInClient()
        let key = try await first.signer(for: "oid-worker-a").publicKey
        let second = try fixture.client()
        #expect(try await second.accounts().map(\.userPrincipalName) == ["worker-a@contoso.example"])
        #expect(try await second.testToken().isBound)
        #expect(try await second.signer(for: "oid-worker-a").publicKey == key)
    }

    @Test func `an app's own key binds the tokens and is needed again`() async throws {
        let key = SoftwareSigningKey()
        func client(_ signer: (any MessageSigner)?) throws -> SignInClient {
            try SignInClient(
                configuration: fixture.configuration(), transport: fixture.provider.transport, cache: fixture.cache,
                signer: signer, environment: fixture.time.environment)
        }
        let result = try await client(key).signIn(
            SignInFixture.request, browser: fixture.provider.browser(signingInAs: .worker))
        #expect((claims(of: result.accessToken.text)["cnf"] as? [String: String])?["jkt"] == key.publicKey.thumbprint)
        #expect(try await client(key).testToken().isBound)
        #expect(await failure { try await client(nil).testToken() }?.code == .configuration)
    }

    @Test func `a stolen refresh token without the key is refused by the provider`() async throws {
        _ = try await fixture.signedInClient()
        let refreshToken = try #require(await fixture.provider.anyLiveRefreshToken)
        let form = "client_id=cordon-app&grant_type=refresh_token&refresh_token=\(refreshToken)"
        let answer = try await fixture.provider.transport.send(
            HTTPRequest(method: .post, scheme: "https", authority: "id.contoso.example", path: "/token"),
            body: Data(form.utf8), limit: 65_536, timeout: .seconds(60))
        #expect(answer.head.status == .badRequest)
    }

    @Test func `a refused renewal ends the session until the person signs in again`() async throws {
        let client = try await fixture.signedInClient()
        await fixture.provider.endEverySession()
        fixture.time.advance(.seconds(1_000))
        let error = await failure { try await client.testToken() }
        #expect(error?.code == .interactionRequired)
        #expect(error?.msalCode == -50002)
        #expect(try await client.accounts().isEmpty)
        let before = await renewals()
        #expect(await failure { try await client.testToken() }?.code == .interactionRequired)
        #expect(await renewals() == before, "a dead refresh token was sent again")
        _ = try await client.signIn(SignInFixture.request, browser: fixture.provider.browser(signingInAs: .worker))
        _ = try await client.testToken()
    }

    @Test func `no network is its own error and ends nothing`() async throws {
        let client = try await fixture.signedInClient()
        fixture.time.advance(.seconds(1_000))
        await fixture.provider.setFaults([.unreachable])
        let error = await failure { try await client.testToken() }
        #expect(error?.code == .network)
        #expect(error?.msalCode == nil)
        await fixture.provider.setFaults([])
        _ = try await client.testToken()
    }

    @Test func `a busy provider is left alone for as long as it asks`() async throws {
        let client = try await fixture.signedInClient()
        fixture.time.advance(.seconds(1_000))
        await fixture.provider.setFaults([.overloaded])
        let first = await failure { try await client.testToken() }
        #expect(first?.code == .serverBusy)
        #expect(first?.details.retryAfter == .seconds(90))
        await fixture.provider.setFaults([])
        let second = await failure { try await client.testToken() }
        #expect(second?.details.isThrottled == true)
        #expect(await renewals() == 1)
        fixture.time.advance(.seconds(91))
        _ = try await client.testToken()
    }

    @Test func `a failing provider is asked once more after half a second`() async throws {
        let client = try await fixture.signedInClient()
        fixture.time.advance(.seconds(1_000))
        await fixture.provider.setFaults([.failsOnce])
        _ = try await client.testToken()
        #expect(fixture.time.slept == [.milliseconds(500)])
    }

    @Test func `a renewal does not wait forever for a process that was stopped in the middle of one`() async throws {
        let client = try await fixture.signedInClient { $0.requestTimeout = .milliseconds(50) }
        var forced = TokenOptions()
        forced.forcesRenewal = true
        let options = forced
        _ = try await client.testToken(options: options)
        let held = RawLock.hold(try #require(try fixture.files("renewal").first))
        let error = await failure { try await client.testToken(options: options) }
        #expect(error?.code == .network && error?.fault == .timedOut)
        RawLock.letGo(held)
        _ = try await client.testToken(options: options)
    }

    @Test func `an answer that arrives after sign-out brings nothing back`() async throws {
        let transport = HeldTransport(fixture.provider.transport, path: "/token")
        // Who cancels a request never hears what it gave, and could not revoke it.
        let heeding = RewritingTransport(inner: transport) { _, body in
            try Task.checkCancellation()
            return body
        }
        let client = try await fixture.signedInClient(transport: heeding)
        fixture.time.advance(.seconds(1_000))
        await transport.hold()
        let late = Task { try await client.testToken() }
        await transport.waitForHeldAnswer()
        try await client.signOut("oid-worker-a")
        await transport.release()
        let error = await failure { try await late.value }
        #expect(error?.code == .interactionRequired)
        #expect(try await client.accounts().isEmpty)
        #expect(try fixture.files("session").isEmpty)
        #expect(await failure { try await client.testToken() }?.fault == .signedOut)
        #expect(await fixture.provider.liveRefreshTokens == 0)
    }

    @Test(arguments: [[], [.noRotation]] as [Set<FakeIdentityProviderFault>])
    func `a renewal that names another person ends the session, and its tokens are given to no one`(
        faults: Set<FakeIdentityProviderFault>
    ) async throws {
        let client = try await fixture.signedInClient()
        fixture.time.advance(.seconds(1_000))
        await fixture.provider.setFaults(faults.union([.otherPersonOnRenewal]))
        let error = await failure { try await client.testToken() }
        #expect(error?.code == .interactionRequired && error?.fault == .mismatchedUser)
        #expect(await fixture.provider.liveRefreshTokens == 0)
        // From here on no answer says whose tokens it has.
        await fixture.provider.setFaults([.noIDTokenOnRenewal])
        fixture.time.advance(.seconds(1_000))
        #expect(await failure { try await client.testToken() }?.code == .interactionRequired)
        #expect(await renewals() == 1)
    }

    @Test(arguments: [false, true])
    func `after an ID token that was not verified no token is given out before another one says whose it is`(
        storeFails: Bool
    ) async throws {
        let isRenewing = Locked(false)
        let secrets = fixture.secrets
        let transport = RewritingTransport(inner: fixture.provider.transport) { path, body in
            if path == "/token", isRenewing.withLock({ $0 }) { secrets.lock(true) }
            return body
        }
        let client = try await fixture.signedInClient(transport: transport)
        fixture.time.advance(.seconds(1_000))
        await fixture.provider.setFaults([.otherPersonOnRenewal, .forgedIDToken])
        isRenewing.withLock { $0 = storeFails }
        let first = await failure { try await client.testToken() }
        #expect(first?.fault == (storeFails ? .storeUnavailable : .invalidIDToken))
        isRenewing.withLock { $0 = false }
        secrets.lock(false)
        await fixture.provider.setFaults([.noIDTokenOnRenewal])
        // What the disk took, another process knows as well.
        let next = storeFails ? client : try fixture.client()
        #expect(await failure { try await next.testToken() }?.fault == .invalidIDToken)
        await fixture.provider.setFaults([])
        #expect(await failure { try await next.testToken() }?.fault == .mismatchedUser)
    }

    @Test func `after an ID token that was not verified the next one that is lets the session go on`() async throws {
        let client = try await fixture.signedInClient()
        for faults in [[.forgedIDToken], [], [.noIDTokenOnRenewal]] as [Set<FakeIdentityProviderFault>] {
            fixture.time.advance(.seconds(1_000))
            await fixture.provider.setFaults(faults)
            let error = await failure { try await client.testToken() }
            #expect(error?.fault == (faults == [.forgedIDToken] ? .invalidIDToken : nil))
        }
    }

    @Test func `a renewal whose tokens are bound to no key fails, and the next one goes on with what it rotated`()
        async throws
    {
        let client = try await fixture.signedInClient()
        fixture.time.advance(.seconds(1_000))
        await fixture.provider.setFaults([.unboundTokens])
        #expect(await failure { try await client.testToken() }?.fault == .unboundToken)
        await fixture.provider.setFaults([])
        #expect(try await client.testToken().isBound)
    }

    @Test(arguments: [FakeIdentityProviderFault.noIDTokenOnRenewal, .noRotation, .demandsNonce])
    func `renewals differ between providers and work all the same`(fault: FakeIdentityProviderFault) async throws {
        let client = try await fixture.signedInClient()
        await fixture.provider.setFaults([fault])
        for _ in 0..<3 {
            fixture.time.advance(.seconds(1_000))
            _ = try await client.testToken()
        }
    }

    @Test func `claims that were not vouched for in a long time ask for the person`() async throws {
        let client = try await fixture.signedInClient { $0.claimsLifetime = .seconds(5_000) }
        await fixture.provider.setFaults([.noIDTokenOnRenewal])
        fixture.time.advance(.seconds(4_000))
        _ = try await client.testToken()
        fixture.time.advance(.seconds(1_100))
        #expect(await failure { try await client.testToken() }?.code == .interactionRequired)
    }

    @Test func `without refresh tokens the account ends with its access token`() async throws {
        await fixture.provider.setFaults([.noRefreshTokens])
        let client = try await fixture.signedInClient()
        _ = try await client.testToken()
        fixture.time.advance(.seconds(1_000))
        #expect(await failure { try await client.testToken() }?.code == .interactionRequired)
    }

    @Test func `a provider that rotates its signing key keeps its people`() async throws {
        let client = try await fixture.signedInClient()
        await fixture.provider.rotateKey()
        fixture.time.advance(.seconds(1_000))
        _ = try await client.testToken()
        #expect(await fixture.provider.count(of: "/keys") == 2)
    }

    @Test func `a provider that rotates its signing key and names none in its tokens keeps its people`() async throws {
        await fixture.provider.setFaults([.noKeyID])
        let client = try await fixture.signedInClient()
        await fixture.provider.rotateKey()
        fixture.time.advance(.seconds(1_000))
        _ = try await client.testToken()
        #expect(await fixture.provider.count(of: "/keys") == 2)
    }

    @Test func `ID tokens that no key signed have the keys fetched again, but not again and again`() async throws {
        let client = try await fixture.signedInClient()
        await fixture.provider.setFaults([.forgedIDToken])
        fixture.time.advance(.seconds(1_000))
        for _ in 0..<5 { #expect(await failure { try await client.testToken() }?.fault == .invalidIDToken) }
        // Once before the first page, and once for the first signature.
        #expect(await fixture.provider.count(of: "/keys") == 2)
    }

    @Test func `a scope that was never granted asks for the person`() async throws {
        let client = try await fixture.signedInClient()
        let error = await failure {
            try await client.accessToken(for: "oid-worker-a", resource: SignInFixture.resource, scopes: ["admin.all"])
        }
        #expect(error?.code == .interactionRequired)
        #expect(error?.fault == .invalidScope)
    }

    @Test func `an unknown account asks for the person`() async throws {
        let error = await failure { try await fixture.client().testToken() }
        #expect(error?.code == .interactionRequired)
        #expect(error?.fault == .accountRequired)
    }

    @Test func `a refusal is not repeated for two minutes, and a sign-in clears it`() async throws {
        let client = try await fixture.signedInClient()
        func ask() async -> SignInError? {
            await failure {
                try await client.accessToken(
                    for: "oid-worker-a", resource: SignInFixture.resource, scopes: ["admin.all"])
            }
        }
        #expect(await ask()?.details.isThrottled == false)
        #expect(await ask()?.details.isThrottled == true)
        fixture.time.advance(.seconds(121))
        #expect(await ask()?.details.isThrottled == false)
        _ = try await client.signIn(SignInFixture.request, browser: fixture.provider.browser(signingInAs: .worker))
        #expect(await ask()?.details.isThrottled == false)
    }

    @Test func `scopes that are not granted are asked for once in two minutes, and the others come from memory`()
        async throws
    {
        let client = try await fixture.signedInClient()
        await fixture.provider.setFaults([.declinesScopes])
        fixture.time.advance(.seconds(1_000))
        for attempt in 0..<5 {
            let error = await failure { try await client.testToken() }
            #expect(error?.details.declinedScopes == SignInFixture.scopes)
            #expect(error?.details.isThrottled == (attempt > 0))
        }
        #expect(await renewals() == 1)
        _ = try await client.accessToken(
            for: "oid-worker-a", resource: SignInFixture.resource, scopes: ["openid"])
        #expect(await renewals() == 1)
        await fixture.provider.setFaults([])
        fixture.time.advance(.seconds(121))
        _ = try await client.testToken()
    }

    @Test func `a renewal holds the account's lock until the new token is on disk`() async throws {
        let transport = HeldTransport(fixture.provider.transport, path: "/token")
        let client = try await fixture.signedInClient(transport: transport)
        fixture.time.advance(.seconds(1_000))
        await transport.hold()
        let renewal = Task { try await client.testToken() }
        await transport.waitForHeldAnswer()
        let file = try #require(try fixture.files("renewal").first)
        #expect(!RawLock.isFree(file), "another process could renew at the same time")
        await transport.release()
        _ = try await renewal.value
        #expect(RawLock.isFree(file))
    }

    @Test func `an answer for an earlier session does not touch the later one`() async throws {
        let transport = HeldTransport(fixture.provider.transport, path: "/token")
        let first = try await fixture.signedInClient(transport: transport)
        fixture.time.advance(.seconds(1_000))
        await transport.hold()
        let late = Task { try await first.testToken() }
        await transport.waitForHeldAnswer()
        // Another process signs the same person in again meanwhile.
        let second = try await fixture.signedInClient()
        await transport.release()
        #expect(await failure { try await late.value }?.fault == .signedOut)
        fixture.time.advance(.seconds(1_000))
        _ = try await second.testToken()
        #expect(await fixture.provider.liveRefreshTokens == 1)
    }

    @Test func `a rotated refresh token that the store would not take is kept and stored later`() async throws {
        let isRenewing = Locked(false)
        let secrets = fixture.secrets
        let transport = RewritingTransport(inner: fixture.provider.transport) { path, body in
            if path == "/token", isRenewing.withLock({ $0 }) { secrets.lock(true) }
            return body
        }
        let client = try await fixture.signedInClient(transport: transport)
        fixture.time.advance(.seconds(3_400))
        isRenewing.withLock { $0 = true }
        #expect(await failure { try await client.testToken() }?.fault == .storeUnavailable)
        #expect(await failure { try await client.accounts() }?.fault == .storeUnavailable)
        isRenewing.withLock { $0 = false }
        secrets.lock(false)
        #expect(await fixture.provider.liveRefreshTokens == 1)
        _ = try await client.testToken()
        // Stored by now: another process goes on with it.
        fixture.time.advance(.seconds(3_400))
        _ = try await fixture.client().testToken()
    }

    @Test func `a refresh token is not used up while the disk would not take the next one`() async throws {
        let client = try await fixture.signedInClient()
        fixture.time.advance(.seconds(3_400))
        // Where the session's next version is written first lies a folder.
        let session = try #require(try fixture.files("session").first).lastPathComponent
        let draft = fixture.folder.appending(path: ".\(session).new")
        try FileManager.default.createDirectory(at: draft, withIntermediateDirectories: false)
        let asked = await fixture.provider.count(of: "/token")
        #expect(await failure { try await client.testToken() }?.fault == .storeUnavailable)
        #expect(await fixture.provider.count(of: "/token") == asked)
        try FileManager.default.removeItem(at: draft)
        // Another process goes on with it, as after a restart.
        _ = try await fixture.client().testToken()
    }

    @Test func `neither description nor dump of a token shows it`() {
        let token = AccessToken(text: "very-secret", expires: Date(timeIntervalSince1970: 0))
        var text = "\(token)"
        dump(token, to: &text)
        dump([token], to: &text)
        #expect(text.contains("AccessToken"))
        #expect(!text.contains("very-secret"))
    }
}
