import CordonSignIn
import CordonTesting
import Foundation
import Testing

/// The attack list of RFC 9700, one provider fault per row: each is refused, and nothing is kept.
@Suite struct AttackTests {
    static let rows: [(FakeIdentityProviderFault, SignInFault)] = [
        (.foreignIssuerInMetadata, .issuerMismatch),
        (.hidesProofKeys, .proofKeyUnsupported),
        (.wrongState, .invalidState),
        (.noState, .invalidState),
        (.foreignIssuerInAnswer, .issuerMismatch),
        (.noIssuerInAnswer, .issuerMismatch),
        (.repeatedCode, .invalidResponse),
        (.wrongRedirect, .invalidRedirect),
        (.accessDenied, .accessDenied),
        (.unsignedIDToken, .invalidIDToken),
        (.symmetricIDToken, .invalidIDToken),
        (.forgedIDToken, .invalidIDToken),
        (.unknownKeyID, .invalidIDToken),
        (.expiredIDToken, .invalidIDToken),
        (.futureIDToken, .invalidIDToken),
        (.foreignAudience, .invalidIDToken),
        (.emptyAudience, .invalidIDToken),
        (.foreignParty, .invalidIDToken),
        (.foreignIssuerInIDToken, .issuerMismatch),
        (.wrongNonce, .nonceMismatch),
        (.noNonce, .nonceMismatch),
        (.wrongAccessTokenHash, .invalidIDToken),
        (.noIDToken, .invalidIDToken),
        (.unboundTokens, .unboundToken),
        (.floods, .invalidResponse),
        (.unreachable, .unreachable),
        (.overloaded, .overloaded),
    ]

    @Test(arguments: rows)
    func `a provider or attacker that cheats is refused and nothing is kept`(
        fault: FakeIdentityProviderFault, expected: SignInFault
    ) async throws {
        let fixture = try SignInFixture()
        await fixture.provider.setFaults([fault])
        let client = try fixture.client()
        let error = await failure {
            try await client.signIn(SignInFixture.request, browser: fixture.provider.browser(signingInAs: .worker))
        }
        #expect(error?.fault == expected)
        // The device's own clock may be what is wrong, and whoever holds the device can see to that.
        let isAboutTime = [.expiredIDToken, .futureIDToken].contains(fault)
        #expect(error?.hint.hasPrefix("Check this device's date and time") == isAboutTime)
        #expect(try fixture.files("session").isEmpty)
        #expect(try await client.accounts().isEmpty)
    }

    @Test(arguments: [FakeIdentityProviderFault.noKeyID, .fractionalAuthenticationTime, .failsOnce])
    func `what is odd but harmless is tolerated`(fault: FakeIdentityProviderFault) async throws {
        let fixture = try SignInFixture()
        await fixture.provider.setFaults([fault])
        let client = try await fixture.signedInClient()
        #expect(try await client.accounts().count == 1)
    }

    @Test func `a code from another sign-in cannot be injected`() async throws {
        let fixture = try SignInFixture()
        let provider = fixture.provider
        let stolen = PageRecorder()
        // The attacker signs in and keeps the answer for himself.
        let attacker = BrowserLauncher { page, _ in
            if let answer = await provider.visit(page, as: .otherWorker) { await stolen.add(answer) }
            throw CancellationError()
        }
        _ = await failure { try await fixture.client().signIn(SignInFixture.request, browser: attacker) }
        let code = try #require(await stolen.queries.first?["code"])
        // The victim's answer carries the victim's state and redirect, but the attacker's code.
        let victim = BrowserLauncher { page, redirect in
            let items = URLComponents(url: page, resolvingAgainstBaseURL: false)?.queryItems ?? []
            let state = items.first { $0.name == "state" }?.value ?? ""
            return URL(string: "\(redirect.absoluteString)?code=\(code)&state=\(state)&iss=\(provider.issuer)")
        }
        let client = try fixture.client()
        let error = await failure { try await client.signIn(SignInFixture.request, browser: victim) }
        #expect(error?.fault == .invalidGrant)
        #expect(try await client.accounts().isEmpty)
    }

    @Test func `an answer that was used once is not accepted a second time`() async throws {
        let fixture = try SignInFixture()
        let provider = fixture.provider
        let first = PageRecorder()
        let recording = BrowserLauncher { page, _ in
            let answer = await provider.visit(page, as: .worker)
            if let answer { await first.add(answer) }
            return answer
        }
        let redirect = try #require(URL(string: "app.fieldnotes://auth"))
        let client = try fixture.client { $0.redirect = .application(redirect) }
        _ = try await client.signIn(SignInFixture.request, browser: recording)
        let replay = BrowserLauncher { _, _ in await first.pages.first }
        let error = await failure { try await client.signIn(SignInFixture.request, browser: replay) }
        #expect(error?.fault == .invalidState)
    }

    @Test(arguments: [
        "http://127.0.0.1/callback", "urn:ietf:wg:oauth:2.0:oob", "javascript:alert(1)", "https:///callback",
        "app://auth?x=1", "app://auth#x", "file:///tmp/x",
    ])
    func `redirects that other programs could catch are refused`(text: String) async throws {
        let fixture = try SignInFixture()
        let url = try #require(URL(string: text))
        let client = try fixture.client { $0.redirect = .application(url) }
        let error = await failure {
            try await client.signIn(SignInFixture.request, browser: fixture.provider.browser(signingInAs: .worker))
        }
        #expect(error?.fault == .invalidRedirect)
        #expect(error?.msalInternalCode == -42011)
    }

    @Test(arguments: ["http://id.contoso.example", "ftp://id.contoso.example", "id.contoso.example", "https://a@b", ""])
    func `an issuer that is not https is refused before anything is sent`(issuer: String) throws {
        let fixture = try SignInFixture()
        #expect(throws: SignInError(.configuration, .invalidParameter, "")) {
            _ = try fixture.client { $0.issuer = issuer }
        }
    }

    @Test func `a trailing slash makes another issuer`() async throws {
        let fixture = try SignInFixture()
        let client = try fixture.client { $0.issuer = fixture.provider.issuer + "/" }
        let error = await failure {
            try await client.signIn(SignInFixture.request, browser: fixture.provider.browser(signingInAs: .worker))
        }
        #expect(error?.fault == .issuerMismatch)
    }

    @Test func `an empty client id is refused`() throws {
        let fixture = try SignInFixture()
        #expect(throws: SignInError(.configuration, .invalidParameter, "")) {
            _ = try fixture.client { $0.clientID = "" }
        }
    }
}
