import CordonIdentity
import CordonSignIn
import CordonTesting
import Foundation
import Testing

@Suite struct SignOutTests {
    let fixture: SignInFixture

    init() throws { fixture = try SignInFixture() }

    @Test func `signing out destroys key and file and revokes at the provider`() async throws {
        let client = try await fixture.signedInClient()
        #expect(fixture.secrets.count == 3)
        let report = try await client.signOut("oid-worker-a")
        #expect(report.removal.hadSession)
        #expect(report.removal.isComplete)
        #expect(report.revocation == .revoked)
        #expect(report.browserSession == .notAsked)
        #expect(fixture.secrets.count == 0)
        #expect(try fixture.files("session").isEmpty)
        #expect(try fixture.files("revocation").isEmpty)
        #expect(await fixture.provider.liveRefreshTokens == 0)
    }

    @Test func `signing out twice is harmless`() async throws {
        let client = try await fixture.signedInClient()
        try await client.signOut("oid-worker-a")
        let report = try await client.signOut("oid-worker-a")
        #expect(!report.removal.hadSession)
        #expect(report.revocation == .nothingToRevoke)
    }

    @Test func `one account's sign-out leaves the other alone`() async throws {
        let client = try await fixture.signedInClient()
        _ = try await client.signIn(SignInFixture.request, browser: fixture.provider.browser(signingInAs: .otherWorker))
        try await client.signOut("oid-worker-a")
        #expect(try await client.accounts().map(\.id) == ["oid-worker-b"])
        _ = try await client.testToken(.otherWorker)
    }

    @Test func `an old copy of the session's file cannot be opened after sign-out`() async throws {
        let client = try await fixture.signedInClient()
        let file = try #require(try fixture.files("session").first)
        let copy = try Data(contentsOf: file)
        try await client.signOut("oid-worker-a")
        try copy.write(to: file)
        #expect(try await client.accounts().isEmpty)
        #expect(await failure { try await client.testToken() }?.code == .interactionRequired)
    }

    @Test func `without network the device is signed out and the revocation is delivered later`() async throws {
        let client = try await fixture.signedInClient()
        await fixture.provider.setFaults([.unreachable])
        let report = try await client.signOut("oid-worker-a")
        #expect(report.removal.isComplete)
        #expect(report.revocation == .queued)
        #expect(await fixture.provider.liveRefreshTokens == 1)
        let waiting = try #require(try fixture.files("revocation").first)
        let bytes = try Data(contentsOf: waiting)
        for secret in ["refresh-", "worker-a", "contoso"] {
            #expect(bytes.range(of: Data(secret.utf8)) == nil, "\(secret) is readable")
        }
        #expect(try await client.deliverRevocations() == 1)
        await fixture.provider.setFaults([])
        // Another process, later.
        #expect(try await fixture.client().deliverRevocations() == 0)
        #expect(await fixture.provider.liveRefreshTokens == 0)
        #expect(try fixture.files("revocation").isEmpty)
        #expect(fixture.secrets.count == 0)
    }

    @Test(arguments: [
        (302, ""), (403, "<html>The proxy does not allow this.</html>"), (407, ""), (404, ""), (200 + 2, ""),
        (400, "no JSON"),
        (400, #"{"error":"temporarily_unavailable"}"#), (401, "<html>Sign in to this network.</html>"),
        (403, #"{"error":"access_denied"}"#), (429, ""), (500, ""), (502, "<html></html>"),
        (400, #"{"status":401,"error":"Unauthorized"}"#), (401, #"{"status":401,"error":"Unauthorized"}"#),
        (400, #"{"error":"Bad Request"}"#), (400, #"{"error":"invalid_scope"}"#),
        (400, #"{"error":"unsupported_grant_type"}"#),
        (200, "<!doctype html><title>Sign in to this network</title>"), (200, "\u{FEFF}\r\n <html></html>"),
    ])
    func `an answer that is not the provider's own keeps the revocation for later`(status: Int, body: String)
        async throws
    {
        let transport = InterceptedTransport(fixture.provider.transport, path: "/revoke")
        let client = try await fixture.signedInClient(transport: transport)
        transport.intercept(status: status, body: body)
        let report = try await client.signOut("oid-worker-a")
        #expect(report.revocation == .queued && report.removal.isComplete)
        #expect(try await client.deliverRevocations() == 1)
        transport.letPass()
        #expect(try await client.deliverRevocations() == 0)
        #expect(await fixture.provider.liveRefreshTokens == 0)
        #expect(try fixture.files("revocation").isEmpty)
    }

    @Test func `words that are called a page are no answer, whatever they say`() async throws {
        let transport = InterceptedTransport(fixture.provider.transport, path: "/revoke")
        let client = try await fixture.signedInClient(transport: transport)
        transport.intercept(status: 200, type: "Text/HTML; charset=utf-8", body: "This network is closed.")
        #expect(try await client.signOut("oid-worker-a").revocation == .queued)
        transport.letPass()
        #expect(try await client.deliverRevocations() == 0)
        #expect(await fixture.provider.liveRefreshTokens == 0)
    }

    static let successes: [(String?, String)] = [
        (nil, ""), ("text/html", ""), ("text/html; charset=utf-8", "\n"), ("application/json", "{}"),
        ("application/json", #"{"revoked":true}"#), ("text/plain", "OK"), (nil, "{}"),
    ]

    @Test(arguments: successes)
    func `a success without a page is the provider's word, whatever else it says`(type: String?, body: String)
        async throws
    {
        let transport = InterceptedTransport(fixture.provider.transport, path: "/revoke")
        let client = try await fixture.signedInClient(transport: transport)
        transport.intercept(status: 200, type: type, body: body)
        #expect(try await client.signOut("oid-worker-a").revocation == .revoked)
        #expect(try fixture.files("revocation").isEmpty)
    }

    @Test(arguments: [
        "invalid_request", "invalid_client", "invalid_grant", "unauthorized_client", "unsupported_token_type",
    ])
    func `a refusal in the words of the standard ends a revocation`(code: String) async throws {
        let transport = InterceptedTransport(fixture.provider.transport, path: "/revoke")
        let client = try await fixture.signedInClient(transport: transport)
        transport.intercept(status: 400, body: #"{"error":"\#(code)"}"#)
        #expect(try await client.signOut("oid-worker-a").revocation == .refused)
        #expect(try fixture.files("revocation").isEmpty)
    }

    @Test(arguments: [
        (400, #"{"error":"invalid_client"}"#), (401, #"{"error":"unauthorized_client"}"#), (404, ""), (200, "{}"),
        (200, "<html>Sign in to this network.</html>"),
    ])
    func `metadata that could not be read says nothing of revocation`(status: Int, body: String) async throws {
        let transport = InterceptedTransport(fixture.provider.transport, path: "/.well-known/openid-configuration")
        let client = try await fixture.signedInClient(transport: transport)
        // The metadata that the sign-in has read is not fresh any more.
        fixture.time.advance(.seconds(2 * 86_400))
        transport.intercept(status: status, body: body)
        let report = try await client.signOut("oid-worker-a")
        #expect(report.revocation == .queued && report.removal.isComplete)
        transport.letPass()
        #expect(try await client.deliverRevocations() == 0)
        #expect(await fixture.provider.liveRefreshTokens == 0)
    }

    @Test func `a request that the transport does not send keeps the revocation for later`() async throws {
        let transport = RewritingTransport(inner: fixture.provider.transport) { path, body in
            // It becomes a bad request, as after the transport was shut down.
            if path == "/revoke" { throw CancellationError() }
            return body
        }
        let client = try await fixture.signedInClient(transport: transport)
        #expect(try await client.signOut("oid-worker-a").revocation == .queued)
        #expect(try fixture.files("revocation").count == 1)
        #expect(try await fixture.client().deliverRevocations() == 0)
    }

    @Test func `tokens of another person than was asked for are taken back, later where the provider does not hear`()
        async throws
    {
        let transport = InterceptedTransport(fixture.provider.transport, path: "/revoke")
        let client = try fixture.client(transport: transport)
        transport.intercept(status: 502, body: "")
        var request = SignInFixture.request
        request.account = "oid-worker-b"
        let error = await failure {
            try await client.signIn(request, browser: fixture.provider.browser(signingInAs: .worker))
        }
        #expect(error?.fault == .mismatchedUser)
        #expect(await fixture.provider.liveRefreshTokens == 1)
        transport.letPass()
        #expect(try await client.deliverRevocations() == 0)
        #expect(await fixture.provider.liveRefreshTokens == 0)
        #expect(fixture.secrets.count == 0)
    }

    @Test func `what is queued while revocations are on their way is delivered after them`() async throws {
        let held = HeldTransport(fixture.provider.transport, path: "/revoke")
        let client = try await fixture.signedInClient(transport: held)
        _ = try await client.signIn(SignInFixture.request, browser: fixture.provider.browser(signingInAs: .otherWorker))
        await held.hold()
        _ = try await client.retireSoon("oid-worker-a")
        await held.waitForHeldAnswer()
        _ = try await client.retireSoon("oid-worker-b")
        await held.release()
        try await until { await fixture.provider.liveRefreshTokens == 0 }
    }

    @Test func `a revocation that was not taken in a month is dropped`() async throws {
        let client = try await fixture.signedInClient()
        await fixture.provider.setFaults([.unreachable])
        try await client.signOut("oid-worker-a")
        fixture.time.advance(.seconds(31 * 86_400))
        #expect(try await client.deliverRevocations() == 0)
        #expect(try fixture.files("revocation").isEmpty)
        #expect(fixture.secrets.count == 0)
    }

    static let revocations: [(Set<FakeIdentityProviderFault>, RevocationOutcome)] = [
        ([.refusesRevocation], .refused), ([.noRevocation], .notOffered),
        ([.revocationNeedsToken, .noProofs], .revoked),
    ]

    @Test(arguments: revocations)
    func `providers take revocation differently and the report says how`(
        faults: Set<FakeIdentityProviderFault>, expected: RevocationOutcome
    ) async throws {
        await fixture.provider.setFaults(faults)
        let client = try await fixture.signedInClient()
        let report = try await client.signOut("oid-worker-a")
        #expect(report.revocation == expected)
        #expect(report.removal.isComplete)
        #expect(try fixture.files("revocation").isEmpty)
    }

    @Test func `the browser session ends on request, with the ID token as hint`() async throws {
        let client = try await fixture.signedInClient()
        let report = try await client.signOut(
            "oid-worker-a", endingSessionIn: fixture.provider.browser(signingInAs: .worker))
        #expect(report.browserSession == .ended)
        let visit = await fixture.provider.received.last { $0.path == "/logout" }
        #expect(visit?.parameters["id_token_hint"].map { claims(of: $0)["sub"] as? String } == "sub-worker-a")
        #expect(visit?.parameters["client_id"] == "cordon-app")
        var request = SignInFixture.request
        request.prompt = .none
        let error = await failure {
            try await client.signIn(request, browser: fixture.provider.browser(signingInAs: .worker))
        }
        #expect(error?.details.oauthError == "login_required")
        #expect(error?.code == .interactionRequired)
    }

    @Test func `a closed sign-out page counts as done`() async throws {
        let client = try await fixture.signedInClient()
        let browser = BrowserLauncher { _, _ in throw CancellationError() }
        let report = try await client.signOut("oid-worker-a", endingSessionIn: browser)
        #expect(report.browserSession == .ended)
    }

    @Test func `a foreign state at the sign-out page means the session may remain`() async throws {
        let client = try await fixture.signedInClient()
        let browser = BrowserLauncher { _, redirect in URL(string: redirect.absoluteString + "?state=forged") }
        let report = try await client.signOut("oid-worker-a", endingSessionIn: browser)
        #expect(report.browserSession == .mayRemain)
    }

    @Test func `removing an account tells what is verifiably gone and leaves the provider alone`() async throws {
        let client = try await fixture.signedInClient()
        let removal = try await client.removeAccount("oid-worker-a")
        #expect(removal.isComplete)
        #expect(await fixture.provider.liveRefreshTokens == 1)
        #expect(await failure { try await client.testToken() }?.fault == .signedOut)
    }

    @Test func `a key that cannot be destroyed is reported, tokens in memory are gone all the same`() async throws {
        let stubborn = StubbornSecretStore()
        let cache = try TokenCache(directory: fixture.folder, secrets: stubborn)
        let client = try SignInClient(
            configuration: fixture.configuration(), transport: fixture.provider.transport, cache: cache,
            environment: fixture.time.environment)
        _ = try await client.signIn(SignInFixture.request, browser: fixture.provider.browser(signingInAs: .worker))
        stubborn.refuse()
        #expect(await failure { try await client.signOut("oid-worker-a") }?.code == .storage)
        await fixture.provider.setFaults([.unreachable])
        #expect(await failure { try await client.testToken() }?.code == .network)
    }

    @Test func `a delivered revocation whose note cannot be removed does not keep the browser's session alive`()
        async throws
    {
        let stubborn = StubbornSecretStore()
        let transport = HeldTransport(fixture.provider.transport, path: "/revoke")
        let client = try SignInClient(
            configuration: fixture.configuration(), transport: transport,
            cache: TokenCache(directory: fixture.folder, secrets: stubborn), environment: fixture.time.environment)
        let browser = fixture.provider.browser(signingInAs: .worker)
        _ = try await client.signIn(SignInFixture.request, browser: browser)
        await transport.hold()
        let signOut = Task { try await client.signOut("oid-worker-a", endingSessionIn: browser) }
        await transport.waitForHeldAnswer()
        stubborn.refuse()
        await transport.release()
        let report = try await signOut.value
        #expect(report.revocation == .revoked && report.browserSession == .ended)
    }

    @Test func `a sign-out elsewhere is noticed at the next token`() async throws {
        let here = try await fixture.signedInClient()
        _ = try await here.testToken()
        try await fixture.client().signOut("oid-worker-a")
        #expect(await failure { try await here.testToken() }?.fault == .signedOut)
        #expect(try await here.accounts().isEmpty)
    }

    @Test func `a sign-in whose answer arrives after the sign-out does not bring the person back`() async throws {
        let transport = HeldTransport(fixture.provider.transport, path: "/token")
        let client = try fixture.client(transport: transport)
        await transport.hold()
        let browser = fixture.provider.browser(signingInAs: .worker)
        let late = Task { try await client.signIn(SignInFixture.request, browser: browser) }
        await transport.waitForHeldAnswer()
        try await client.signOut("oid-worker-a")
        await transport.release()
        #expect(await failure { try await late.value }?.fault == .signedOut)
        #expect(try await client.accounts().isEmpty)
        #expect(await fixture.provider.liveRefreshTokens == 0)
        _ = try await client.signIn(SignInFixture.request, browser: browser)
    }

    @Test func `the key of a session is destroyed however long the session is`() async throws {
        let padding = String(repeating: "r", count: 200_000)
        let transport = RewritingTransport(inner: fixture.provider.transport) { path, body in
            guard path == "/token" else { return body }
            let text = String(decoding: body, as: UTF8.self)
            return Data(text.replacing("\"refresh_token\":\"", with: "\"refresh_token\":\"" + padding).utf8)
        }
        let client = try await fixture.signedInClient(transport: transport)
        let file = try #require(try fixture.files("session").first)
        #expect(try Data(contentsOf: file).count > 200_000)
        let removal = try await client.removeAccount("oid-worker-a")
        #expect(removal.keyDestroyed)
        #expect(fixture.secrets.count == 0)
    }

    @Test func `a session whose file is damaged, or elsewhere, loses its key all the same`() async throws {
        for isAside in [false, true] {
            let client = try await fixture.signedInClient()
            let file = try #require(try fixture.files("session").first)
            let kept = try Data(contentsOf: file)
            if isAside {
                try FileManager.default.removeItem(at: file)
            } else {
                try Data("not a session".utf8).write(to: file)
            }
            let report = try await client.signOut("oid-worker-a")
            #expect(report.removal.hadSession && report.removal.isComplete, "\(isAside)")
            #expect(report.revocation == .nothingToRevoke, "the token is in the file alone")
            #expect(fixture.secrets.count == 0)
            // Put back it opens in no process, and the next start takes it away.
            try kept.write(to: file)
            #expect(await failure { try await fixture.client().testToken() }?.fault == .storeDamaged, "\(isAside)")
            _ = try TokenCache(directory: fixture.folder, secrets: fixture.secrets)
            #expect(try fixture.files("session").isEmpty)
            #expect(await failure { try await fixture.client().testToken() }?.fault == .signedOut)
            #expect(fixture.secrets.count == 0)
        }
    }

    @Test func `a session of a version before is named by its account from the next start on`() async throws {
        let client = try await fixture.signedInClient()
        let name = try #require(fixture.secrets.snapshot.keys.first { $0.hasPrefix("account-") })
        try fixture.secrets.destroy(named: name)
        let file = try #require(try fixture.files("session").first)
        let kept = try Data(contentsOf: file)
        // Without the name, a damaged file is not said to have lost its key.
        try Data("not a session".utf8).write(to: file)
        #expect(await failure { try await client.removeAccount("oid-worker-a") }?.fault == .storeUnavailable)
        try kept.write(to: file)
        _ = try TokenCache(directory: fixture.folder, secrets: fixture.secrets)
        #expect(fixture.secrets.snapshot[name] != nil)
        try FileManager.default.removeItem(at: file)
        #expect(try await client.removeAccount("oid-worker-a").isComplete)
        #expect(fixture.secrets.count == 0)
    }

    @Test func `a sign-out works where the folders of the cache were removed under the process`() async throws {
        for gone in [["keys"], ["tokens"], ["keys", "tokens"]] {
            let (tokens, keys) = (fixture.folder.appending(path: "tokens"), fixture.folder.appending(path: "keys"))
            let client = try SignInClient(
                configuration: fixture.configuration(), transport: fixture.provider.transport,
                cache: TokenCache(directory: tokens, secrets: FileSecretStore(directory: keys)),
                environment: fixture.time.environment)
            _ = try await client.signIn(SignInFixture.request, browser: fixture.provider.browser(signingInAs: .worker))
            for name in gone {
                // At once, whatever is still written there.
                try FileManager.default.moveItem(
                    at: fixture.folder.appending(path: name), to: fixture.folder.appending(path: UUID().uuidString))
            }
            #expect(try await client.signOut("oid-worker-a").removal.isComplete, "\(gone)")
            #expect(try await client.accounts().isEmpty, "\(gone)")
            let left = (try? FileManager.default.contentsOfDirectory(atPath: keys.path)) ?? []
            #expect(left.allSatisfy { !$0.hasPrefix("session-") && !$0.hasPrefix("account-") }, "\(gone): \(left)")
        }
    }

    @Test func `a session that cannot be read keeps its key until it can be named`() async throws {
        let client = try await fixture.signedInClient()
        let file = try #require(try fixture.files("session").first)
        let kept = try Data(contentsOf: file)
        try FileManager.default.removeItem(at: file)
        // A folder opens and then refuses to be read, as a file on a failing disk does.
        try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
        #expect(await failure { try await client.signOut("oid-worker-a") }?.fault == .storeUnavailable)
        try FileManager.default.removeItem(at: file)
        try kept.write(to: file)
        #expect(try await client.signOut("oid-worker-a").removal.keyDestroyed)
        #expect(fixture.secrets.count == 0)
    }

    @Test func `an account that is removed with its data is revoked too, without a network later`() async throws {
        let client = try await fixture.signedInClient()
        #expect(try await client.retireSoon("oid-worker-a").isComplete)
        try await until { await fixture.provider.liveRefreshTokens == 0 }
        _ = try await client.signIn(SignInFixture.request, browser: fixture.provider.browser(signingInAs: .worker))
        await fixture.provider.setFaults([.unreachable])
        #expect(try await client.retireSoon("oid-worker-a").isComplete)
        #expect(try fixture.files("session").isEmpty)
        #expect(await fixture.provider.liveRefreshTokens == 1)
        await fixture.provider.setFaults([])
        #expect(try await client.deliverRevocations() == 0)
        #expect(await fixture.provider.liveRefreshTokens == 0)
    }

    @Test func `more parameters reach the provider's sign-out page, and the library's own win`() async throws {
        let client = try await fixture.signedInClient()
        let report = try await client.signOut(
            "oid-worker-a", endingSessionIn: fixture.provider.browser(signingInAs: .worker),
            extraParameters: ["ui_locales": "de", "client_id": "another"])
        #expect(report.browserSession == .ended)
        let visit = try #require(await fixture.provider.received.last { $0.path == "/logout" })
        #expect(visit.parameters["ui_locales"] == "de" && visit.parameters["client_id"] == fixture.provider.clientID)
    }
}
