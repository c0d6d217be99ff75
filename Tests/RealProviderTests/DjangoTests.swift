import CordonSignIn
import CordonTestSupport
import Foundation
import Testing

/// A provider with an issuer that has a path, refresh tokens that are good once, and no endpoint to revoke them at; at full length alone
/// (SI-211).
@Suite(
    .tags(.foreignPrograms), .serialized, .timeLimit(.minutes(10)),
    .enabled(if: DeepRun.isDeep && Providers.areInstalled, Providers.needs))
struct DjangoTests {
    @Test
    func `a person signs in at Django, renews, and signs out in the browser; the next person has to give a password`()
        async throws
    {
        try #require(
            FileManager.default.isExecutableFile(atPath: Providers.django.path),
            "the providers are from before Django was among them: run Tests/Providers/install.sh again")
        try await RunningProvider.run("run_django.py", issuerPath: "/o") { provider in
            let client = try provider.client()
            func signIn(_ user: String) async throws -> SignInResult {
                try await client.signIn(
                    SignInRequest(scopes: ["email"]), browser: provider.browser.launcher(as: user))
            }
            let first = try await signIn("ada")
            #expect(first.account.userPrincipalName == "ada")
            #expect(first.isRenewable && !first.accessToken.isBound)
            // The browser has the provider's session.
            #expect(try await signIn("nobody").account.id == first.account.id)

            var options = TokenOptions()
            options.forcesRenewal = true
            var seen: Set<String> = [first.accessToken.text]
            for _ in 0..<2 {
                let token = try await client.accessToken(
                    for: first.account.id, resource: nil, scopes: ["email"], options: options)
                #expect(seen.insert(token.text).inserted)
            }
            let report = try await client.signOut(
                first.account.id, endingSessionIn: provider.browser.launcher(as: "ada"))
            #expect(report.browserSession == .ended)

            let second = try await signIn("lin")
            #expect(second.account.userPrincipalName == "lin" && second.account.id != first.account.id)
        }
    }
}
