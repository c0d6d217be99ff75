import CordonIdentity
import CordonSignIn
import CordonTestSupport
import Foundation
import Testing

/// Glewlwyd exercises what canaille lacks: proofs of possession, refresh tokens that are good once, and the device flow.
@Suite(
    .tags(.foreignPrograms), .serialized, .timeLimit(.minutes(10)),
    .enabled(
        if: Providers.areInstalled && FileManager.default.isExecutableFile(atPath: "/usr/bin/glewlwyd"),
        Providers.needs))
struct GlewlwydTests {
    private static func run(_ work: (RunningProvider) async throws -> Void) async throws {
        try await RunningProvider.run("run_glewlwyd.py", issuerPath: "/api/oidc", work)
    }

    private static func forced() -> TokenOptions {
        var options = TokenOptions()
        options.forcesRenewal = true
        return options
    }

    @Test func `tokens are bound to the session's key, and renewal passes the refresh token on`() async throws {
        try await Self.run { provider in
            let client = try provider.client { $0.reservedScopes = ["openid"] }
            let result = try await client.signIn(
                SignInRequest(scopes: ["cordon"]), browser: provider.browser.launcher(as: "ada"))
            #expect(result.account.userPrincipalName == "ada")
            #expect(result.accessToken.isBound)
            let id = result.account.id
            var seen: Set<String> = [result.accessToken.text]
            for _ in 0..<3 {
                let token = try await client.accessToken(
                    for: id, resource: nil, scopes: ["cordon"], options: Self.forced())
                #expect(token.isBound)
                #expect(seen.insert(token.text).inserted)
            }
            _ = try await client.signOut(id)
            await #expect(throws: SignInError.self) {
                try await client.accessToken(for: id, resource: nil, scopes: ["cordon"], options: Self.forced())
            }
        }
    }

    @Test func `a person approves a device on another screen`() async throws {
        try await Self.run { provider in
            let client = try provider.client { $0.reservedScopes = ["openid"] }
            let result = try await client.signIn(DeviceCodeRequest(scopes: ["cordon"])) { prompt in
                let page = prompt.completePage ?? prompt.page
                do {
                    try await provider.browser.visit(page, to: "Authorization complete", as: "lin")
                } catch { Issue.record(error) }
            }
            #expect(result.account.userPrincipalName == "lin")
            let token = try await client.accessToken(
                for: result.account.id, resource: nil, scopes: ["cordon"], options: Self.forced())
            #expect(token.text != result.accessToken.text)
        }
    }
}
