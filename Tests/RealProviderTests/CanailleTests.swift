import CordonIdentity
import CordonSignIn
import CordonTestSupport
import Foundation
import Testing

/// Sign-in, renewal and sign-out at canaille, through a real browser (SI-211, SI-212).
@Suite(
    .tags(.foreignPrograms), .serialized, .enabled(if: Providers.areInstalled, Providers.needs),
    .timeLimit(.minutes(10)))
struct CanailleTests {
    @Test func `a person signs in, works, and signs out in the browser; the next person has to give a password`()
        async throws
    {
        try await RunningProvider.run("run_canaille.py") { provider in
            let client = try provider.client()
            let first = try await Self.signIn("ada", client, provider)
            #expect(first.account.userPrincipalName == "ada@example.test")
            #expect(first.isRenewable)
            #expect(!first.accessToken.isBound)

            // A fresh sign-in as the same person needs no form: the browser has the provider's session.
            let again = try await Self.signIn("nobody", client, provider)
            #expect(again.account.id == first.account.id)

            var options = TokenOptions()
            options.forcesRenewal = true
            let renewed = try await Self.renewal(of: first.account.id, by: client, options)
            #expect(renewed.text != again.accessToken.text)

            let report = try await client.signOut(
                first.account.id, endingSessionIn: provider.browser.launcher(as: "ada"))
            #expect(report.browserSession == .ended)
            await #expect(throws: SignInError.self) {
                try await client.accessToken(for: first.account.id, resource: nil, scopes: [], options: options)
            }

            let second = try await Self.signIn("lin", client, provider)
            #expect(second.account.userPrincipalName == "lin@example.test")
            #expect(second.account.id != first.account.id)
        }
    }

    /// Access tokens of one second are alike there, which its store refuses with status 500; later it works.
    private static func signIn(
        _ user: String, _ client: SignInClient, _ provider: RunningProvider
    ) async throws -> SignInResult {
        let request = SignInRequest(scopes: ["email"])
        for _ in 0..<2 {
            if let result = try? await client.signIn(request, browser: provider.browser.launcher(as: user)) {
                return result
            }
            try await Task.sleep(for: .seconds(1))
        }
        return try await client.signIn(request, browser: provider.browser.launcher(as: user))
    }

    /// The same trap at renewal.
    private static func renewal(
        of account: AccountID, by client: SignInClient, _ options: TokenOptions
    ) async throws -> AccessToken {
        var renewed: AccessToken?
        for _ in 0..<6 where renewed == nil {
            renewed = try? await client.accessToken(for: account, resource: nil, scopes: ["email"], options: options)
            if renewed == nil { try await Task.sleep(for: .seconds(1)) }
        }
        return try #require(renewed)
    }
}
