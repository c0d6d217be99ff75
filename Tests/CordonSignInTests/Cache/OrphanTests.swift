import CordonBase
import CordonSignIn
import CordonTesting
import Foundation
import Testing

/// Keys that a kill in the midst of a sign-in leaves behind are gone after the next start, and no other key is.
@Suite struct OrphanTests {
    private let fixture: SignInFixture
    private let store = DyingSecretStore()

    init() throws { fixture = try SignInFixture() }

    /// A store after whose next change nothing more happens, as after a kill.
    private final class DyingSecretStore: SecretStore {
        enum Death: Equatable {
            /// After a secret whose name ends so.
            case afterKeeping(String)
            case beforeDestroying
        }
        private let secrets = Locked<[String: Data]>([:])
        private let death = Locked<Death?>(nil)
        private let isDead = Locked(false)

        var isHardwareBacked: Bool { false }
        var names: Set<String> { Set(secrets.withLock { $0 }.keys) }

        func die(_ death: Death?) {
            self.death.withLock { $0 = death }
            isDead.withLock { $0 = false }
        }

        func secret(named name: String) throws(SignInError) -> Data? { secrets.withLock { $0[name] } }

        func keep(_ secret: Data, named name: String) throws(SignInError) {
            // What a dead process would have gone on to keep is not kept.
            if isDead.withLock({ $0 }) { throw Self.kill }
            secrets.withLock { $0[name] = secret }
            guard case .afterKeeping(let ending) = death.withLock({ $0 }), name.hasSuffix(ending) else { return }
            isDead.withLock { $0 = true }
            throw Self.kill
        }

        func destroy(named name: String) throws(SignInError) {
            if death.withLock({ $0 }) == .beforeDestroying { throw Self.kill }
            secrets.withLock { $0[name] = nil }
        }

        private static let kill = SignInError(.storage, .storeUnavailable, "killed")
    }

    private func client() throws -> SignInClient {
        try SignInClient(
            configuration: fixture.configuration(), transport: fixture.provider.transport,
            cache: TokenCache(directory: fixture.folder, secrets: store), environment: fixture.time.environment)
    }

    private func signIn(_ client: SignInClient) async throws {
        _ = try await client.signIn(SignInFixture.request, browser: fixture.provider.browser(signingInAs: .worker))
    }

    @Test(arguments: [("", 1), ("-count", 2), ("-key", 3)])
    func `the key of a session that was never written goes, and its name`(ending: String, left: Int) async throws {
        try store.keep(Data("theirs".utf8), named: "session-\(UUID().uuidString)")
        let others = store.names
        let client = try client()
        store.die(.afterKeeping(ending))
        #expect(await failure { try await signIn(client) }?.code == .storage)
        store.die(nil)
        #expect(store.names.count == others.count + left, "the control: there is an orphan")
        _ = try self.client()
        #expect(store.names == others, "another app's key stays")
        #expect(try fixture.files("changing").isEmpty)
    }

    @Test func `the key of a session that another one replaced goes, and the new session stays`() async throws {
        let client = try client()
        try await signIn(client)
        let first = store.names
        store.die(.beforeDestroying)
        _ = await failure { try await signIn(client) }
        store.die(nil)
        #expect(store.names.isSuperset(of: first))
        let restarted = try self.client()
        #expect(store.names.count == 3, "a key, a count, and which session the account has")
        #expect(try await restarted.testToken().text.isEmpty == false)
        #expect(try fixture.files("changing").isEmpty)
    }

    @Test func `a session in use keeps its key, whatever marks lie about`() async throws {
        try await signIn(try client())
        let names = store.names
        let key = try #require(names.first { $0.hasSuffix("-key") })
        let mark = key.dropFirst("session-".count).dropLast("-key".count) + ".changing"
        try Data().write(to: fixture.folder.appending(path: String(mark)))
        #expect(try await client().testToken().text.isEmpty == false)
        #expect(store.names == names)
        #expect(try fixture.files("changing").isEmpty)
    }
}
