internal import CordonBase
public import CordonIdentity
public import CordonSignIn
public import Logging

/// Sign-in that follows the settings in force: a change of ``RuntimeSettings`` counts from the next sign-in and the next token on
/// (SDK-AU-04).
///
/// An account that signed in before the change keeps its session at the old provider until that ends. Sessions are looked up at the
/// provider in force, then at earlier ones, then at that of the app's own settings (SDK-AU-07). Any thread.
///
/// ```swift
/// let signIn = try SettingsSignIn(settings) { settings in
///     try SignInClient(
///         configuration: settings.signInConfiguration(bundleID: bundleID), transport: transport, cache: cache)
/// }
/// ```
public final class SettingsSignIn: AccountSessions {
    /// What tells one client from another.
    private struct Place: Hashable {
        let authority: String?
        let clientID: String?
        let redirectURI: String?

        init(_ settings: ProtectionSettings) {
            authority = settings.authority
            clientID = settings.clientID
            redirectURI = settings.redirectURI ?? settings.redirectScheme
        }
    }

    private struct State {
        var clients: [(place: Place, client: SignInClient)] = []
        /// Why the settings in force make no client.
        var flaw: SignInError?
        var logger: Logger?
    }

    private let make: @Sendable (ProtectionSettings) throws -> SignInClient
    private let state: Locked<State>

    /// Makes the client of the app's own settings.
    ///
    /// - Parameters:
    ///   - settings: The app's own settings.
    ///   - make: Makes a client for settings; all of them with one cache.
    /// - Throws: What `make` throws.
    public init(
        _ settings: ProtectionSettings, making make: @escaping @Sendable (ProtectionSettings) throws -> SignInClient
    ) throws {
        self.make = make
        state = Locked(State(clients: [(Place(settings), try make(settings))]))
    }

    /// The client of the settings in force, which signs people in.
    ///
    /// - Throws: `SignInError` with code `configuration` when the settings in force make none.
    public var client: SignInClient {
        get throws(SignInError) {
            let (first, flaw) = state.withLock { ($0.clients.first?.client, $0.flaw) }
            if flaw == nil, let first { return first }
            throw flaw ?? SignInError(.configuration, .invalidParameter, "no provider is set")
        }
    }

    /// Signs people in where these settings say from now on; who is signed in at one of them stays so.
    ///
    /// - Parameter settings: The ones in force first, then those from before, then the app's own; an empty list changes nothing.
    public func follow(_ settings: [ProtectionSettings]) {
        guard !settings.isEmpty else { return }
        state.withLock { state in
            let known = state.clients
            state.clients = []
            state.flaw = nil
            for (position, settings) in settings.enumerated() {
                let place = Place(settings)
                guard !state.clients.contains(where: { $0.place == place }) else { continue }
                do {
                    let client = try known.first { $0.place == place }?.client ?? make(settings)
                    if let logger = state.logger { client.log(to: logger) }
                    state.clients.append((place, client))
                } catch  where position == 0 {
                    state.flaw =
                        error as? SignInError
                        ?? SignInError(
                            .configuration, .invalidParameter,
                            (error as? ProtectionError)?.reason ?? "the settings of signing in cannot be used")
                } catch {
                    // An earlier provider that cannot be asked gives no token; what is kept of it is unusable.
                }
            }
        }
    }

    /// A token from the provider that the account is signed in with, also while the settings in force make no client.
    ///
    /// - Throws: `SignInError`: `interactionRequired` when a person has to sign in, `network` when offline, `storage` when it cannot be
    ///   read just now where the account is signed in, `configuration` when that is nowhere and the settings in force make no client.
    public func accessToken(
        for account: AccountID, resource: String, scopes: [String]
    ) async throws(SignInError) -> AccessToken {
        try await client(of: account).accessToken(for: account, resource: resource, scopes: scopes)
    }

    /// A token that was made just now, by the provider that the account is signed in with.
    ///
    /// - Throws: As ``accessToken(for:resource:scopes:)``.
    public func freshAccessToken(
        for account: AccountID, resource: String, scopes: [String]
    ) async throws(SignInError) -> AccessToken {
        try await client(of: account).freshAccessToken(for: account, resource: resource, scopes: scopes)
    }

    /// The key of the account's session, at the provider that it is signed in with.
    ///
    /// - Throws: `SignInError` with code `interactionRequired` when the account is not signed in.
    public func signer(for account: AccountID) async throws(SignInError) -> any MessageSigner {
        try await client(of: account).signer(for: account)
    }

    /// Ends the account's sessions at every provider.
    ///
    /// - Throws: `SignInError` with code `storage`, the last one, when all were tried.
    public func end(_ account: AccountID) async throws(SignInError) {
        var failure: SignInError?
        for (_, client) in state.withLock(\.clients) {
            do { try await client.end(account) } catch { failure = error }
        }
        if let failure { throw failure }
    }

    /// The accounts of all providers, those of the one in force first; each once.
    public func signedInAccounts() async -> [ManagedAccount] {
        var found: [ManagedAccount] = []
        for (_, client) in state.withLock(\.clients) {
            for account in await client.signedInAccounts() where !found.contains(where: { $0.id == account.id }) {
                found.append(account)
            }
        }
        return found
    }

    /// The accounts of which a session is kept at any provider.
    ///
    /// - Throws: `SignInError` with code `storage` when it cannot be told of one of them.
    public func keptAccounts() async throws(SignInError) -> Set<AccountID> {
        var found: Set<AccountID> = []
        for (_, client) in state.withLock(\.clients) { found.formUnion(try await client.keptAccounts()) }
        return found
    }

    /// Has every client write to the app's log, those of later changes too.
    public func log(to logger: Logger) {
        state.withLock { state in
            state.logger = logger
            for (_, client) in state.clients { client.log(to: logger) }
        }
    }

    /// The first client that the account is signed in with; the one in force where none is. A session that cannot be read just now
    /// may be a good one: its own client is asked then, and says so.
    private func client(of account: AccountID) async throws(SignInError) -> SignInClient {
        var damaged: SignInClient?
        for (_, client) in state.withLock(\.clients) {
            do {
                if try await client.account(account) != nil { return client }
            } catch {
                guard error.fault == .storeDamaged || error.fault == .rolledBack else { return client }
                damaged = damaged ?? client
            }
        }
        if let damaged { return damaged }
        return try client
    }
}
