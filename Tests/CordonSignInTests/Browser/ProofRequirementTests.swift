import CordonBase
import CordonIdentity
import CordonProtocol
import CordonSignIn
import CordonTesting
import Foundation
import Testing

/// A resource that takes only tokens bound to a key, and a provider that binds none.
@Suite struct ProofRequirementTests {
    let fixture: SignInFixture

    init() throws { fixture = try SignInFixture() }

    private func request(needsProof: Bool) -> SignInRequest {
        var request = SignInFixture.request
        request.requiresProofOfPossession = needsProof
        return request
    }

    @Test func `a provider that does not announce DPoP is told before a browser opens`() async throws {
        await fixture.provider.setFaults([.noProofs])
        let pages = Locked(0)
        let browser = BrowserLauncher { _, _ in
            pages.withLock { $0 += 1 }
            throw CancellationError()
        }
        let error = await failure {
            try await fixture.client().signIn(request(needsProof: true), browser: browser)
        }
        #expect(error?.code == .configuration && error?.fault == .proofOfPossessionUnsupported)
        #expect(error?.hint.contains("dpop_signing_alg_values_supported") == true)
        #expect(pages.withLock { $0 } == 0)
    }

    @Test func `a provider that does not announce DPoP is told before a code is shown`() async throws {
        await fixture.provider.setFaults([.noProofs])
        var request = DeviceCodeRequest(scopes: SignInFixture.scopes, resource: SignInFixture.resource)
        request.requiresProofOfPossession = true
        let shown = Locked(0)
        let error = await failure { [request] in
            try await fixture.client().signIn(request) { _ in shown.withLock { $0 += 1 } }
        }
        #expect(error?.fault == .proofOfPossessionUnsupported)
        #expect(shown.withLock { $0 } == 0)
        #expect(await fixture.provider.count(of: "/device") == 0)
    }

    @Test func `a configuration that switches DPoP off is told as the cause`() async throws {
        let client = try fixture.client { $0.proofOfPossession = .never }
        let error = await failure {
            try await client.signIn(
                request(needsProof: true), browser: fixture.provider.browser(signingInAs: .worker))
        }
        #expect(error?.fault == .proofOfPossessionUnsupported && error?.reason.contains("configuration") == true)
    }

    @Test func `a provider that announces DPoP signs people in for such a resource`() async throws {
        let result = try await fixture.client().signIn(
            request(needsProof: true), browser: fixture.provider.browser(signingInAs: .worker))
        #expect(result.accessToken.isBound)
    }

    @Test
    func `a session keeps a key of its own where the service knows the app by it and the provider binds no tokens`()
        async throws
    {
        await fixture.provider.setFaults([.noProofs])
        var request = SignInFixture.request
        request.keepsOwnKey = true
        let client = try fixture.client()
        let result = try await client.signIn(request, browser: fixture.provider.browser(signingInAs: .worker))
        #expect(!result.accessToken.isBound)
        let key = try await client.signer(for: result.account.id).publicKey
        // A later sign-in of the same account has the same key: the service knows the registration by it.
        request.account = result.account.id
        _ = try await client.signIn(request, browser: fixture.provider.browser(signingInAs: .worker))
        #expect(try await client.signer(for: result.account.id).publicKey == key)
        let fresh = try await client.freshAccessToken(
            for: result.account.id, resource: SignInFixture.resource, scopes: SignInFixture.scopes)
        #expect(fresh.text != result.accessToken.text && !fresh.isBound)
    }

    @Test func `a session without a key says that the provider gave none, not that the app did not`() async throws {
        await fixture.provider.setFaults([.noProofs])
        let client = try await fixture.signedInClient()
        let error = await failure { try await client.signer(for: FakePerson.worker.account) }
        #expect(error?.fault == .proofOfPossessionUnsupported)
    }
}
