import CordonSignIn
import CordonTesting
import Foundation
import Testing

/// The attacks of RFC 9700 that are carried out by an attacker between browser, provider and app; each is refused and
/// leaves nothing behind.
@Suite struct AttackListTests {
    /// Signs in through a browser that hands back something else than it was given.
    private func attempt(
        _ fixture: SignInFixture, tampering: @escaping @Sendable (_ page: URL, _ answer: URL) async -> URL?
    ) async throws -> SignInError? {
        let redirect = try #require(URL(string: "app.fieldnotes://auth"))
        let client = try fixture.client { $0.redirect = .application(redirect) }
        let provider = fixture.provider
        let browser = BrowserLauncher { page, _ in
            guard let answer = await provider.visit(page, as: .worker) else { return nil }
            return await tampering(page, answer)
        }
        let error = await failure { try await client.signIn(SignInFixture.request, browser: browser) }
        #expect(try fixture.files("session").isEmpty)
        #expect(try await client.accounts().isEmpty)
        return error
    }

    private static func changing(_ url: URL, _ name: String, to value: String?) -> URL? {
        var parts = URLComponents(url: url, resolvingAgainstBaseURL: false)
        let others = (parts?.queryItems ?? []).filter { $0.name != name }
        parts?.queryItems = others + (value.map { [URLQueryItem(name: name, value: $0)] } ?? [])
        return parts?.url
    }

    /// Mix-up (§4.4): the answer of one provider reaches a sign-in at another, its state copied over.
    @Test func `an answer of another provider is refused even with the right state`() async throws {
        let fixture = try SignInFixture()
        let other = FakeIdentityProvider(issuer: "https://id.attacker.example", now: { fixture.time.now })
        let error = try await attempt(fixture) { page, _ in
            var foreign = URLComponents(url: page, resolvingAgainstBaseURL: false)
            foreign?.host = "id.attacker.example"
            guard let address = foreign?.url else { return nil }
            return await other.visit(address, as: .worker)
        }
        #expect(error?.fault == .issuerMismatch)
        #expect(await fixture.provider.count(of: "/token") == 0, "the code was not sent on")
        #expect(await other.count(of: "/token") == 0)
    }

    @Test func `a refusal that does not name its provider as announced is refused, and tells what it said`()
        async throws
    {
        let fixture = try SignInFixture()
        let error = try await attempt(fixture) { _, answer in
            Self.changing(answer, "iss", to: nil)
                .flatMap { Self.changing($0, "code", to: nil) }
                .flatMap { Self.changing($0, "error", to: "invalid_scope") }
        }
        #expect(error?.fault == .issuerMismatch && error?.details.oauthError == nil)
        #expect(error?.reason.contains("invalid_scope") == true)
    }

    /// PKCE downgrade (§4.8): the challenge is taken out of the page, or weakened, on its way to the provider.
    @Test(arguments: ["none", "plain", "own"]) func `a page whose challenge was tampered with gives no session`(
        kind: String
    ) async throws {
        let fixture = try SignInFixture()
        let provider = fixture.provider
        let error = try await attempt(fixture) { page, _ in
            var changed: URL? = page
            switch kind {
            case "none":
                changed = Self.changing(page, "code_challenge", to: nil)
                    .flatMap { Self.changing($0, "code_challenge_method", to: nil) }
            case "plain": changed = Self.changing(page, "code_challenge_method", to: "plain")
            default: changed = Self.changing(page, "code_challenge", to: String(repeating: "A", count: 43))
            }
            guard let changed else { return nil }
            return await provider.visit(changed, as: .worker)
        }
        #expect(error != nil)
        #expect(error?.fault == (kind == "own" ? .invalidGrant : .invalidRequest))
    }

    /// Redirect tricks (§4.1, §4.11): the answer arrives somewhere that only looks like the redirect.
    @Test(arguments: [
        "app.fieldnotes://auth.attacker.example", "app.fieldnotes://auth/more", "app.fieldnotes://user@auth",
        "app.fieldnotes://auth:80", "app.fieldnotes:/auth", "app.fieldnotes.attacker://auth", "https://auth",
    ]) func `an answer at another address is refused`(address: String) async throws {
        let fixture = try SignInFixture()
        let error = try await attempt(fixture) { _, answer in URL(string: "\(address)?\(answer.query() ?? "")") }
        #expect(error?.fault == .invalidRedirect)
        #expect(await fixture.provider.count(of: "/token") == 0)
    }

    /// The answer in the fragment, as implicit grants have it, is no answer (§2.1.2).
    @Test func `an answer in the fragment is refused`() async throws {
        let fixture = try SignInFixture()
        let error = try await attempt(fixture) { _, answer in
            URL(string: answer.absoluteString.replacing("?", with: "#"))
        }
        #expect(error?.fault == .invalidResponse || error?.fault == .invalidState)
        #expect(await fixture.provider.count(of: "/token") == 0)
    }

    /// Replayed state (§4.7): the state of an earlier sign-in does not fit a later one.
    @Test func `the state of an earlier sign-in does not fit`() async throws {
        let fixture = try SignInFixture()
        let seen = PageRecorder()
        _ = try await attempt(fixture) { page, _ in
            await seen.add(page)
            return nil
        }
        let old = try #require(await seen.queries.first?["state"])
        let error = try await attempt(fixture) { _, answer in Self.changing(answer, "state", to: old) }
        #expect(error?.fault == .invalidState)
        #expect(await fixture.provider.count(of: "/token") == 0)
    }

    /// Token substitution (§4.9): a good answer of the token endpoint with one token exchanged for another person's.
    @Test(arguments: ["access_token", "id_token"]) func `a token that was exchanged on the way is refused`(
        member: String
    ) async throws {
        let fixture = try SignInFixture()
        let stolen = try await stolenToken(member, fixture)
        let transport = RewritingTransport(inner: fixture.provider.transport) { path, body in
            guard path == "/token", var answer = try JSONSerialization.jsonObject(with: body) as? [String: Any] else {
                return body
            }
            answer[member] = stolen
            return try JSONSerialization.data(withJSONObject: answer)
        }
        let client = try fixture.client(transport: transport)
        let error = await failure {
            try await client.signIn(SignInFixture.request, browser: fixture.provider.browser(signingInAs: .worker))
        }
        #expect(error?.fault == (member == "id_token" ? .nonceMismatch : .invalidIDToken))
        #expect(try await client.accounts().isEmpty)
    }

    /// Another person's token, as the same provider made it for the same app.
    private func stolenToken(_ member: String, _ fixture: SignInFixture) async throws -> String {
        let taken = PageRecorder()
        let transport = RewritingTransport(inner: fixture.provider.transport) { path, body in
            if path == "/token", let answer = try JSONSerialization.jsonObject(with: body) as? [String: Any],
                let token = answer[member] as? String, let page = URL(string: "x:?token=\(token)")
            {
                await taken.add(page)
            }
            return body
        }
        let victim = try await fixture.signedInClient(.otherWorker, transport: transport)
        _ = try await victim.removeAccount(FakePerson.otherWorker.account)
        return try #require(await taken.queries.first?["token"])
    }
}
