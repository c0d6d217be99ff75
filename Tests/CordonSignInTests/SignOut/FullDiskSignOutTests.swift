import CordonIdentity
import CordonSignIn
import CordonTesting
import Foundation
import Testing

/// What becomes of a revocation that the disk does not take.
@Suite(.timeLimit(.minutes(10))) struct FullDiskSignOutTests {
    private let fixture: SignInFixture
    private let secrets = StubbornSecretStore()

    init() throws { fixture = try SignInFixture() }

    private func client(transport: (any HTTPTransport)? = nil) throws -> SignInClient {
        try SignInClient(
            configuration: fixture.configuration(), transport: transport ?? fixture.provider.transport,
            cache: TokenCache(directory: fixture.folder, secrets: secrets), environment: fixture.time.environment)
    }

    /// A client in which the worker is signed in, on a disk that has just become full.
    private func fullClient() async throws -> SignInClient {
        let client = try client()
        // The first sign-out makes the key that the marks of sign-outs are named under.
        _ = try await client.signIn(SignInFixture.request, browser: fixture.provider.browser(signingInAs: .otherWorker))
        try await client.signOut("oid-worker-b")
        _ = try await client.signIn(SignInFixture.request, browser: fixture.provider.browser(signingInAs: .worker))
        secrets.fill(true)
        return client
    }

    @Test func `a revocation that cannot be kept is not reported as kept, and is tried while the process runs`()
        async throws
    {
        let client = try await fullClient()
        await fixture.provider.setFaults([.unreachable])
        let report = try await client.signOut("oid-worker-a")
        #expect(report.revocation == .notKept && report.removal.isComplete)
        #expect(try fixture.files("revocation").isEmpty)
        #expect(try await client.deliverRevocations() == 1)
        await fixture.provider.setFaults([])
        #expect(try await client.deliverRevocations() == 0)
        #expect(await fixture.provider.liveRefreshTokens == 0)
    }

    @Test func `with a network a revocation that cannot be kept is delivered at once`() async throws {
        let client = try await fullClient()
        #expect(try await client.signOut("oid-worker-a").revocation == .revoked)
        #expect(await fixture.provider.liveRefreshTokens == 0)
        #expect(try await client.deliverRevocations() == 0)
    }

    @Test func `a revocation is sealed as soon as the disk takes it, and outlives the process`() async throws {
        let client = try await fullClient()
        await fixture.provider.setFaults([.unreachable])
        #expect(try await client.signOut("oid-worker-a").revocation == .notKept)
        secrets.fill(false)
        #expect(try await client.deliverRevocations() == 1)
        #expect(try fixture.files("revocation").count == 1)
        await fixture.provider.setFaults([])
        #expect(try await self.client().deliverRevocations() == 0)
        #expect(await fixture.provider.liveRefreshTokens == 0)
        #expect(try fixture.files("revocation").isEmpty)
    }

    @Test func `an account that is removed from a full disk is revoked beside the work at hand`() async throws {
        let client = try await fullClient()
        #expect(try await client.retireSoon("oid-worker-a").isComplete)
        try await until { await fixture.provider.liveRefreshTokens == 0 }
    }

    @Test func `an owner of several apps' session hears that the revocation waits in memory alone`() async throws {
        let client = try await fullClient()
        let retired = await client.retire("oid-worker-a")
        #expect(try retired.removal.get().isComplete && retired.revocation == .notKept)
        #expect(await fixture.provider.liveRefreshTokens == 1)
        #expect(try await client.deliverRevocations() == 0)
        #expect(await fixture.provider.liveRefreshTokens == 0)
        #expect(await client.retire("oid-worker-a").revocation == .nothingToRevoke)
    }

    @Test func `a revocation in memory is dropped after a month, too`() async throws {
        let client = try await fullClient()
        await fixture.provider.setFaults([.unreachable])
        #expect(try await client.signOut("oid-worker-a").revocation == .notKept)
        fixture.time.advance(.seconds(31 * 86_400))
        #expect(try await client.deliverRevocations() == 0)
    }

    @Test func `a session whose key could not be destroyed is revoked all the same`() async throws {
        let client = try client()
        _ = try await client.signIn(SignInFixture.request, browser: fixture.provider.browser(signingInAs: .worker))
        secrets.refuse()
        #expect(await failure { try await client.signOut("oid-worker-a") }?.code == .storage)
        try await until { await fixture.provider.liveRefreshTokens == 0 }
    }

    @Test func `what a renewal brings to a session that could not be removed is revoked at the next attempt`()
        async throws
    {
        let held = HeldTransport(fixture.provider.transport, path: "/token")
        let client = try client(transport: held)
        _ = try await client.signIn(SignInFixture.request, browser: fixture.provider.browser(signingInAs: .worker))
        await held.hold()
        let renewing = Task {
            var options = TokenOptions()
            options.forcesRenewal = true
            return try await client.testToken(options: options)
        }
        await held.waitForHeldAnswer()
        secrets.refuse()
        #expect(await failure { try await client.retire("oid-worker-a").removal.get() }?.code == .storage)
        await held.release()
        _ = try await renewing.value
        secrets.refuse(false)
        #expect(try await client.retire("oid-worker-a").removal.get().isComplete)
        #expect(try await client.deliverRevocations() == 0)
        #expect(await fixture.provider.liveRefreshTokens == 0)
    }

    /// Lays a folder in the place where a revocation is written first, as soon as its key is kept.
    private struct ObstructingSecretStore: SecretStore {
        let inner: CountingSecretStore
        let folder: URL

        var isHardwareBacked: Bool { false }

        func secret(named name: String) throws(SignInError) -> Data? { try inner.secret(named: name) }

        func keep(_ secret: Data, named name: String) throws(SignInError) {
            try inner.keep(secret, named: name)
            let prefix = "revocation-"
            guard name.hasPrefix(prefix) else { return }
            let draft = folder.appending(path: ".\(name.dropFirst(prefix.count)).revocation.new")
            try? FileManager.default.createDirectory(at: draft, withIntermediateDirectories: false)
        }

        func destroy(named name: String) throws(SignInError) { try inner.destroy(named: name) }
    }

    @Test func `a revocation whose file cannot be written leaves no key behind and is delivered from memory`()
        async throws
    {
        let store = ObstructingSecretStore(inner: fixture.secrets, folder: fixture.folder)
        let client = try SignInClient(
            configuration: fixture.configuration(), transport: fixture.provider.transport,
            cache: TokenCache(directory: fixture.folder, secrets: store), environment: fixture.time.environment)
        _ = try await client.signIn(SignInFixture.request, browser: fixture.provider.browser(signingInAs: .worker))
        await fixture.provider.setFaults([.unreachable])
        #expect(try await client.signOut("oid-worker-a").revocation == .notKept)
        #expect(fixture.secrets.count == 0)
        await fixture.provider.setFaults([])
        #expect(try await client.deliverRevocations() == 0)
        #expect(await fixture.provider.liveRefreshTokens == 0)
    }
}
