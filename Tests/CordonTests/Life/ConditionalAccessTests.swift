import Cordon
import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonSignIn
import CordonTesting
import Foundation
import Testing

/// SC-42, SC-43, SC-44: a provider that gives tokens to protected accounts alone, a sign-in client and the protection, from the
/// refusal to the token.
@Suite(.timeLimit(.minutes(10))) struct ConditionalAccessTests {
    private static let mail = "https://mail.contoso.example"
    private static let own = "https://service.contoso.example/check-in"
    private static let scopes = ["work"]

    private let device: Device
    private let provider = FakeIdentityProvider()
    private let client: SignInClient
    private let worker: FakePerson

    init() throws {
        device = try Device()
        worker = FakePerson(
            device.account.userPrincipalName, subject: "sub-a", objectID: device.account.id.rawValue,
            tenant: device.account.tenant.rawValue)
        client = try SignInClient(
            configuration: SignInConfiguration(issuer: provider.issuer, clientID: provider.clientID),
            transport: provider.transport,
            cache: TokenCache(directory: device.folder.appending(path: "sessions"), secrets: MemorySecretStore()))
    }

    private func signIn(to resource: String) async throws(SignInError) {
        var request = SignInRequest(scopes: Self.scopes, resource: resource)
        request.extraParameters = ["client_info": "1"]
        _ = try await client.signIn(request, browser: provider.browser(signingInAs: worker))
    }

    private func mailToken(_ options: TokenOptions = TokenOptions()) async throws(SignInError) -> AccessToken {
        try await client.accessToken(
            for: worker.account, resource: Self.mail, scopes: Self.scopes, options: options)
    }

    private func refusal(_ work: () async throws(SignInError) -> Void) async -> SignInError? {
        do throws(SignInError) {
            try await work()
            return nil
        } catch { return error }
    }

    /// Enrols the account that the refusal names, and has the provider told by the organisation when it is protected.
    private func remediate(
        _ protection: AppProtection, after refusal: SignInError?
    ) async throws -> RemediationResult.Status? {
        #expect(refusal?.code == .protectionRequired)
        #expect(refusal?.details.account == device.account.id)
        let account = try #require(refusal?.details.accountToProtect)
        #expect(account == device.account)
        let result = try await protection.remediations.remediate(account)
        if result?.status == .compliant { await provider.setProtectedAccounts([account.id]) }
        return result?.status
    }

    @Test func `SC-42: an account that has to be protected before its first use gets its token after remediation`()
        async throws
    {
        try await device.publish(["printBlocked": .bool(true)])
        await provider.demandProtection(for: [Self.mail])
        // No one is signed in yet: the refusal alone says whom to protect (SDK-EN-30).
        let refused = await refusal { () throws(SignInError) in try await signIn(to: Self.mail) }
        // What enrolment itself needs is not under the condition.
        try await signIn(to: Self.own)
        let protection = try await device.start()
        #expect(try await remediate(protection, after: refused) == .compliant)
        #expect(!device.mayPrint(protection))
        #expect(try await !mailToken().text.isEmpty)
    }

    @Test func `SC-43: an account in use that has to be protected later keeps its session, and its token comes back`()
        async throws
    {
        try await device.publish(["printBlocked": .bool(true)])
        try await signIn(to: Self.own)
        _ = try await mailToken()
        let protection = try await device.start()
        await provider.demandProtection(for: [Self.mail])
        var renewal = TokenOptions()
        renewal.forcesRenewal = true
        let refused = await refusal { () throws(SignInError) in _ = try await mailToken(renewal) }
        #expect(try await remediate(protection, after: refused) == .compliant)
        #expect(try await !mailToken(renewal).text.isEmpty)
    }

    @Test func `SC-44: without rules for the account there is no token`() async throws {
        await device.service.set { $0.policy = nil }
        try await signIn(to: Self.own)
        await provider.demandProtection(for: [Self.mail])
        let protection = try await device.start()
        let refused = await refusal { () throws(SignInError) in _ = try await mailToken() }
        #expect(try await remediate(protection, after: refused) == .notCompliant)
        #expect(await refusal { () throws(SignInError) in _ = try await mailToken() }?.code == .protectionRequired)
    }
}
