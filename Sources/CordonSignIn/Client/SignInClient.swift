internal import CordonBase
public import CordonIdentity
public import CordonProtocol
internal import Foundation

/// Signs people in at one OpenID provider, keeps their sessions and hands out access tokens.
///
/// It is a public client: it holds no secret of its own. One client serves one client id at one issuer; any task may
/// call it. Sessions live in the ``TokenCache``, which several processes may share; access tokens live in
/// memory only. A wipe or sign-out destroys the session's key first.
///
/// ```swift
/// let result = try await client.signIn(SignInRequest(for: discovery), browser: .opening { print("Open \($0).") })
/// let token = try await client.accessToken(for: result.account.id, resource: discovery.resource, scopes: [discovery.scope])
/// ```
public actor SignInClient: AccessTokenSource {
    /// The settings, as they were when the client was made.
    public nonisolated let configuration: SignInConfiguration

    let provider: Provider
    let cache: TokenCache
    let environment: SignInEnvironment
    let ownSigner: (any MessageSigner)?
    let owner: CacheOwner
    nonisolated let log = SignInLog()
    var accessTokens = AccessTokenCache()
    var throttle = RequestThrottle()
    let renewals = JoinedTask<RenewalKey, Result<AccessToken, SignInError>>()
    /// Rotated refresh tokens that the disk did not take, and whether an ID token came with them: the stored ones are dead already.
    var unsaved: [AccountID: (session: SessionID, refreshToken: String, isUnverified: Bool)] = [:]
    /// Revocations that the disk did not take: kept here until it does, or the provider has heard.
    var unkept: [UUID: PendingRevocation] = [:]
    /// Refresh tokens of sessions that could not be removed, and whose revocation is kept already.
    var retired: [AccountID: String] = [:]
    var isDelivering = false
    var deliversAgain = false
    private var isInteracting = false
    /// Accounts that were signed out while a sign-in was under way: that sign-in does not bring them back (SI-057).
    private var endedMeanwhile: Set<AccountID> = []
    /// For whose answer a sign-in waits in the browser, where it can be one account's alone.
    var awaited: (account: AccountID, way: SignInReturn)?
    /// Visits to the provider's sign-out page that wait for the browser to come back.
    var departures: [UUID: SignInReturn] = [:]

    /// Makes a client.
    ///
    /// - Parameters:
    ///   - configuration: The provider and the app's registration with it.
    ///   - transport: How to reach the provider.
    ///   - cache: Where sessions are kept.
    ///   - signer: The key that tokens are bound to, if the app keeps one; nil makes one key per session,
    ///     kept in the cache and destroyed with the session (SI-177).
    ///   - environment: The clock and the source of random bytes; a test gives its own.
    /// - Throws: ``SignInError`` with code `configuration` when client id or issuer are unusable (SI-093).
    public init(
        configuration: SignInConfiguration, transport: any HTTPTransport, cache: TokenCache,
        signer: (any MessageSigner)? = nil, environment: SignInEnvironment = .system
    ) throws(SignInError) {
        guard !configuration.clientID.isEmpty else {
            throw SignInError(.configuration, .invalidParameter, "the client id is empty")
        }
        _ = try ProviderAddress.discovery(of: configuration.issuer)
        self.configuration = configuration
        self.cache = cache
        self.environment = environment
        self.ownSigner = signer
        self.owner = CacheOwner(issuer: configuration.issuer, clientID: configuration.clientID)
        self.provider = Provider(configuration, transport: transport, environment: environment)
    }

    /// The accounts that can get tokens without a dialog, sorted by name (SI-124).
    ///
    /// - Throws: ``SignInError`` with code `storage` when the cache cannot be listed, or a session that may be good cannot be
    ///   read now.
    public func accounts() throws(SignInError) -> [SignedInAccount] {
        try cache.sessions(owner: owner)
            .filter {
                $0.refreshToken != nil || accessTokens.anyToken(of: $0.account.id, now: environment.now()) != nil
            }
            .map(\.account)
            .sorted { ($0.userPrincipalName, $0.id.rawValue) < ($1.userPrincipalName, $1.id.rawValue) }
    }

    /// The account with the id, nil when it is not signed in.
    ///
    /// - Throws: ``SignInError`` with code `storage` when its session cannot be read.
    public func account(_ id: AccountID) throws(SignInError) -> SignedInAccount? {
        try cache.session(of: id, owner: owner)?.account
    }

    /// How many seconds before the account's sign-in the person gave credentials: more than none where the provider knew the browser already, and
    /// no more than a lifetime, whatever the provider says. Nil where it did not say.
    package func credentialsAge(of account: AccountID) -> Double? {
        (try? cache.session(of: account, owner: owner))?.credentialsAge.map { min($0, 4e9) }
    }

    /// The key that the account's tokens are bound to.
    ///
    /// - Throws: ``SignInError`` with code `interactionRequired` when the account is not signed in.
    public func signer(for account: AccountID) throws(SignInError) -> any MessageSigner {
        try signer(of: try session(of: account))
    }

    func signer(of record: SessionRecord) throws(SignInError) -> any MessageSigner {
        if let secret = record.signingKey {
            guard let key = try? SoftwareSigningKey(rawRepresentation: secret) else {
                throw SignInError(.interactionRequired, .storeDamaged, "the session's key is damaged")
            }
            return key
        }
        guard let ownSigner else {
            guard record.isBound else {
                throw Self.noProofs("the session's tokens are bound to no key, since the provider offered no DPoP")
            }
            throw SignInError(
                .configuration, .invalidParameter, "the session is bound to a key that the app did not give this time")
        }
        return ownSigner
    }

    /// Whether requests to this provider carry proofs of possession.
    func usesProofs(_ metadata: ProviderMetadata) -> Bool {
        switch configuration.proofOfPossession {
        case .always: true
        case .never: false
        case .whenOffered: metadata.offersProofOfPossession
        }
    }

    /// A provider whose tokens nothing binds to a key is told before a person is asked (RFC 9449 §5.1).
    func checkProofs(_ metadata: ProviderMetadata, areNeeded: Bool) throws(SignInError) {
        guard areNeeded, !usesProofs(metadata) else { return }
        throw Self.noProofs(
            configuration.proofOfPossession == .never
                ? "the resource takes only tokens with proof of possession, which the configuration switches off"
                : "the identity provider does not announce proof of possession (DPoP) with ES256")
    }

    private static func noProofs(_ reason: String) -> SignInError {
        SignInError(
            .configuration, .proofOfPossessionUnsupported, reason,
            hint:
                "Use a provider whose metadata lists ES256 in dpop_signing_alg_values_supported, or turn DPoP on there."
        )
    }

    /// The stored session of an account; damaged, rolled back and absent all mean that a person has to sign in.
    func session(of account: AccountID) throws(SignInError) -> SessionRecord {
        let record: SessionRecord?
        do {
            record = try cache.session(of: account, owner: owner)
        } catch {
            switch error.fault {
            case .storeDamaged, .rolledBack: throw SignInError(.interactionRequired, error.fault, error.reason)
            default: throw error
            }
        }
        guard let record else {
            let isMarked = cache.isMarkedSignedOut(account, owner: owner)
            throw SignInError(
                .interactionRequired, isMarked ? .signedOut : .accountRequired,
                isMarked ? "the account was signed out" : "the account is not signed in")
        }
        return record
    }

    /// Begins an interactive sign-in; a second one at the same time is refused and the first goes on (SI-076).
    func beginInteraction() throws(SignInError) {
        guard !isInteracting else {
            throw SignInError(
                .configuration, .interactiveSessionRunning, "an interactive sign-in is already under way",
                hint: "Finish or cancel that one, or wait until its time is over.")
        }
        isInteracting = true
        endedMeanwhile = []
    }

    func endInteraction() {
        isInteracting = false
    }

    func noteEnd(of account: AccountID) {
        guard isInteracting else { return }
        endedMeanwhile.insert(account)
        // Its answer would be refused; a page that the person who left has closed would keep the next one from signing in.
        if let awaited, awaited.account == account { awaited.way.giveUp(Self.ended) }
    }

    /// Refuses what a sign-in would give to an account that was signed out while it was under way.
    func requireNotEnded(_ account: AccountID?) throws(SignInError) {
        if let account, endedMeanwhile.contains(account) { throw Self.ended }
    }

    private static var ended: SignInError {
        SignInError(.interactionRequired, .signedOut, "the account was signed out meanwhile")
    }
}
