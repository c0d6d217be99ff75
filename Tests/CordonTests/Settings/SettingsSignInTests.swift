import Cordon
import CordonBase
import CordonIdentity
import CordonProtocol
import CordonSignIn
import CordonTesting
import Foundation
import HTTPTypes
import Testing

/// Signing in where the settings say, while they change.
@Suite(.timeLimit(.minutes(10))) struct SettingsSignInTests {
    private static let resource = "https://service.contoso.example/check-in"

    private let device: Device
    private let own = FakeIdentityProvider(issuer: "https://own.example")
    private let later = FakeIdentityProvider(issuer: "https://later.example")
    private let secrets = LockableSecrets()
    private let cache: TokenCache

    init() throws {
        device = try Device()
        cache = try TokenCache(directory: device.folder.appending(path: "sessions"), secrets: secrets)
    }

    /// Secrets that cannot be read while they are locked, as a device's are before it is unlocked.
    private final class LockableSecrets: SecretStore {
        let isLocked = Locked(false)
        private let secrets = MemorySecretStore()

        var isHardwareBacked: Bool { false }

        func secret(named name: String) throws(SignInError) -> Data? {
            if isLocked.withLock({ $0 }) { throw HeldSessions.refusal }
            return try secrets.secret(named: name)
        }
        func keep(_ secret: Data, named name: String) throws(SignInError) { try secrets.keep(secret, named: name) }
        func destroy(named name: String) throws(SignInError) { try secrets.destroy(named: name) }
    }

    /// Reaches each provider by its host.
    private struct Providers: HTTPTransport {
        let all: [FakeIdentityProvider]

        func send(
            _ request: HTTPRequest, body: Data?, limit: Int, timeout: Duration
        ) async throws(TransportError) -> HTTPAnswer {
            try await of(request).send(request, body: body, limit: limit, timeout: timeout)
        }

        func stream(_ request: HTTPRequest, timeout: Duration) async throws(TransportError) -> HTTPAnswerStream {
            try await of(request).stream(request, timeout: timeout)
        }

        private func of(_ request: HTTPRequest) throws(TransportError) -> any HTTPTransport {
            guard let provider = all.first(where: { $0.issuer == "https://" + (request.authority ?? "") }) else {
                throw TransportError(.unreachable, reason: "no such provider")
            }
            return provider.transport
        }
    }

    /// Has the service's tokens come from its own script, and everything else from the app's sign-in.
    private final class ScriptedTokens: AccountSessions {
        let signIn: SettingsSignIn
        let tokens: HeldSessions
        /// What happens once a session has ended.
        let afterEnd = Locked<(@Sendable () -> Void)?>(nil)

        init(_ signIn: SettingsSignIn, tokens: HeldSessions) { (self.signIn, self.tokens) = (signIn, tokens) }

        func accessToken(
            for account: AccountID, resource: String, scopes: [String]
        ) async throws(SignInError) -> AccessToken {
            try await tokens.accessToken(for: account, resource: resource, scopes: scopes)
        }
        func signer(for account: AccountID) async throws(SignInError) -> any MessageSigner {
            try await tokens.signer(for: account)
        }
        func end(_ account: AccountID) async throws(SignInError) {
            try await signIn.end(account)
            afterEnd.withLock { $0 }?()
        }
        func follow(_ settings: [ProtectionSettings]) { signIn.follow(settings) }
        func signedInAccounts() async -> [ManagedAccount] { await signIn.signedInAccounts() }
        func keptAccounts() async throws(SignInError) -> Set<AccountID> { try await signIn.keptAccounts() }
    }

    private var settings: ProtectionSettings {
        var settings = ProtectionSettings()
        settings.authority = own.issuer
        settings.clientID = own.clientID
        settings.redirectURI = "http://127.0.0.1/back"
        return settings
    }

    /// An app's sign-in, as after a launch.
    private func signIn() throws -> SettingsSignIn {
        let (transport, cache) = (Providers(all: [own, later]), cache)
        return try SettingsSignIn(settings) { settings in
            try SignInClient(
                configuration: settings.signInConfiguration(bundleID: "example.notes"), transport: transport,
                cache: cache)
        }
    }

    private func start(_ signIn: SettingsSignIn, afterEnd: (@Sendable () -> Void)? = nil) async throws -> AppProtection
    {
        let sessions = ScriptedTokens(signIn, tokens: device.sessions)
        sessions.afterEnd.withLock { $0 = afterEnd }
        return try await device.start {
            $0.settings = settings
            $0.sessions = sessions
        }
    }

    /// The person whose account is enrolled.
    private var worker: FakePerson {
        FakePerson(
            device.account.userPrincipalName, subject: "sub-a", objectID: device.account.id.rawValue,
            tenant: device.account.tenant.rawValue)
    }

    private func enter(_ person: FakePerson, at provider: FakeIdentityProvider, _ signIn: SettingsSignIn) async throws {
        _ = try await signIn.client.signIn(
            SignInRequest(scopes: ["work"], resource: Self.resource), browser: provider.browser(signingInAs: person))
    }

    /// An app whose account is enrolled, and signed in at a provider that was set at run time.
    private func wipeable(afterEnd: (@Sendable () -> Void)? = nil) async throws -> (SettingsSignIn, AppProtection) {
        try await device.publish(["printBlocked": .bool(true)])
        let signIn = try signIn()
        let protection = try await start(signIn, afterEnd: afterEnd)
        try await protection.settings.change { $0.authority = later.issuer }
        try await enter(worker, at: later, signIn)
        #expect(await protection.enroll(device.account) == .newPolicies)
        return (signIn, protection)
    }

    private var storedSettings: String {
        get throws {
            let file = device.folder.appending(path: "data/settings.json")
            return String(decoding: try device.contents(ofState: file), as: UTF8.self)
        }
    }

    private func token(of person: FakePerson, _ signIn: SettingsSignIn) async throws -> String {
        try await signIn.freshAccessToken(for: person.account, resource: Self.resource, scopes: ["work"]).text
    }

    @Test func `a provider set at run time signs the next person in, and who signed in before keeps the session`()
        async throws
    {
        let first = try signIn()
        let protection = try await start(first)
        try await enter(.worker, at: own, first)
        try await protection.settings.change { $0.authority = later.issuer }
        try await enter(.otherWorker, at: later, first)
        #expect(try first.client.configuration.issuer == later.issuer)
        #expect(
            await first.signedInAccounts().map(\.id) == [FakePerson.otherWorker.account, FakePerson.worker.account])

        let second = try signIn()
        let restarted = try await start(second)
        #expect(try second.client.configuration.issuer == later.issuer)
        try await restarted.settings.change { $0.authority = nil }
        #expect(try second.client.configuration.issuer == own.issuer)

        let third = try signIn()
        _ = try await start(third)
        #expect(try third.client.configuration.issuer == own.issuer)
        for signIn in [first, second, third] {
            let before = (await own.count(of: "/token"), await later.count(of: "/token"))
            #expect(try await !token(of: .worker, signIn).isEmpty)
            #expect(try await !token(of: .otherWorker, signIn).isEmpty)
            let after = (await own.count(of: "/token"), await later.count(of: "/token"))
            #expect(after == (before.0 + 1, before.1 + 1))
        }
    }

    @Test func `a provider that cannot be asked is refused when a person is to sign in, and who is signed in stays so`()
        async throws
    {
        let signIn = try signIn()
        try await enter(.worker, at: own, signIn)
        signIn.follow([ProtectionSettings(), settings])
        #expect(throws: SignInError.self) { try signIn.client }
        await #expect(throws: SignInError.self) { try await token(of: .otherWorker, signIn) }
        #expect(try await !token(of: .worker, signIn).isEmpty)
        signIn.follow([settings])
        signIn.follow([])
        #expect(try signIn.client.configuration.issuer == own.issuer)
    }

    @Test func `a session that cannot be read just now is not taken for the end of one`() async throws {
        let signIn = try signIn()
        try await enter(.worker, at: own, signIn)
        var changed = settings
        changed.authority = later.issuer
        signIn.follow([changed, settings])
        secrets.isLocked.withLock { $0 = true }
        let error = await #expect(throws: SignInError.self) { try await signIn.signer(for: FakePerson.worker.account) }
        #expect(error?.code == .storage)
        secrets.isLocked.withLock { $0 = false }
        #expect(try await !token(of: .worker, signIn).isEmpty)
    }

    /// How an app goes back to its own provider.
    enum WayBack: CaseIterable {
        case none, settingNothing, replacingAll
    }

    @Test(arguments: WayBack.allCases)
    func `a wipe ends the session where the account signed in, whichever provider is set by then, and names neither`(
        _ way: WayBack
    ) async throws {
        let (signIn, protection) = try await wipeable()
        switch way {
        case .none: break
        case .settingNothing: try await protection.settings.change { $0.authority = nil }
        case .replacingAll:
            try await protection.settings.change { $0.authority = nil }
            try await protection.settings.change { $0 = SettingOverrides() }
        }
        #expect(try storedSettings.contains("later.example"))
        try await protection.wipe(device.account.id)
        #expect(await signIn.signedInAccounts().isEmpty)
        #expect(try await later.client(over: cache).accounts().isEmpty)
        #expect(try !storedSettings.contains("later.example"))
        #expect(try signIn.client.configuration.issuer == own.issuer)
    }

    @Test func `a wipe leaves somebody else signed in where that was, and the next one forgets the place`() async throws
    {
        let (signIn, protection) = try await wipeable()
        try await enter(.otherWorker, at: later, signIn)
        try await protection.wipe(device.account.id)
        #expect(try signIn.client.configuration.issuer == own.issuer)
        #expect(await signIn.signedInAccounts().map(\.id) == [FakePerson.otherWorker.account])
        #expect(try await !token(of: .otherWorker, signIn).isEmpty)
        try await signIn.end(FakePerson.otherWorker.account)
        #expect(await protection.enroll(device.account) == .newPolicies)
        try await protection.wipe(device.account.id)
        #expect(try !storedSettings.contains("later.example"))
    }

    @Test func `sessions that cannot be read just now keep the place where they are, so that they can be ended`()
        async throws
    {
        let secrets = secrets
        let (signIn, protection) = try await wipeable(afterEnd: { secrets.isLocked.withLock { $0 = true } })
        try await enter(.otherWorker, at: later, signIn)
        try await protection.wipe(device.account.id)
        secrets.isLocked.withLock { $0 = false }
        #expect(await signIn.signedInAccounts().map(\.id) == [FakePerson.otherWorker.account])
        try await signIn.end(FakePerson.otherWorker.account)
        #expect(try await later.client(over: cache).accounts().isEmpty)
    }

    @Test func `a wipe ends the session at a provider that another process of the app has set meanwhile`() async throws
    {
        try await device.publish(["printBlocked": .bool(true)])
        let (first, second) = (try signIn(), try signIn())
        let protection = try await start(first)
        #expect(await protection.enroll(device.account) == .newPolicies)
        let other = try await start(second)
        try await other.settings.change { $0.authority = later.issuer }
        try await enter(worker, at: later, second)
        try await protection.wipe(device.account.id)
        #expect(try await later.client(over: cache).accounts().isEmpty)
        #expect(try !storedSettings.contains("later.example"))
    }

    @Test func `who leaves without a wipe stays signed in, though the provider is the app's own again`() async throws {
        try await device.publish(["printBlocked": .bool(true)])
        let signIn = try signIn()
        let protection = try await start(signIn)
        try await protection.settings.change { $0.authority = later.issuer }
        try await enter(.otherWorker, at: later, signIn)
        #expect(await protection.enroll(device.account) == .newPolicies)
        #expect(await protection.unenroll(device.account.id, wiping: false) == .unenrolled)
        #expect(try signIn.client.configuration.issuer == own.issuer)
        #expect(try await !token(of: .otherWorker, signIn).isEmpty)
    }
}

extension FakeIdentityProvider {
    /// A client of this provider alone.
    fileprivate nonisolated func client(over cache: TokenCache) throws -> SignInClient {
        try SignInClient(
            configuration: SignInConfiguration(issuer: issuer, clientID: clientID), transport: transport, cache: cache)
    }
}
