public import CordonIdentity
internal import CordonProtocol
public import CordonSignIn
public import Foundation

/// An OpenID provider inside the test's process: real signatures, rotation and proofs behind a scripted transport.
///
/// It follows the standards as a strict provider does; ``faults`` make it break single rules, one per case, so
/// that an app can be tested against each. Nothing leaves the process.
public actor FakeIdentityProvider {
    /// A request that the provider received.
    public struct Received: Sendable, Equatable {
        /// The path below the issuer.
        public let path: String
        /// The form's parameters.
        public let parameters: [String: String]
        /// Whether a proof of possession came with it.
        public let hasProof: Bool
    }

    /// The issuer, byte for byte.
    public nonisolated let issuer: String
    /// The one public client that is registered.
    public nonisolated let clientID: String
    /// What it does wrong at the moment.
    public var faults: Set<FakeIdentityProviderFault> = []
    /// The requests received so far, oldest first.
    public internal(set) var received: [Received] = []
    /// How long access tokens live, in seconds.
    public var accessTokenLifetime: TimeInterval = 900

    /// How many seconds ago a person who signs in gave credentials: more than none where the browser is signed in already.
    var authenticationAge: TimeInterval = 0

    /// The resources whose tokens only protected accounts get, and the accounts that are.
    var protected: (resources: Set<String>, accounts: Set<AccountID>) = ([], [])

    let now: @Sendable () -> Date
    var key = SoftwareSigningKey()
    var pushed: [String: [String: String]] = [:]
    var grants: [String: Grant] = [:]
    var refreshTokens: [String: Grant] = [:]
    /// Used refresh tokens and the family each belongs to: using one again ends the family.
    var spent: [String: UUID] = [:]
    var deviceCodes: [String: DeviceGrant] = [:]
    var proofIDs: Set<String> = []
    let nonce = UUID().uuidString
    var sessions: Set<String> = []

    /// What a code or refresh token stands for.
    struct Grant: Sendable {
        var family = UUID()
        var person: FakePerson
        var scopes: [String]
        var nonce: String?
        var challenge: String?
        var redirect: String?
        var keyThumbprint: String?
        var isUsed = false
    }

    /// A device code and what the person did with it.
    struct DeviceGrant: Sendable {
        var scopes: [String]
        var userCode: String
        var expires: Date
        var person: FakePerson?
        var isDenied = false
    }

    /// Makes a provider with one registered public client.
    ///
    /// - Parameter now: The provider's clock.
    public init(
        issuer: String = "https://id.contoso.example", clientID: String = "cordon-app",
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.issuer = issuer
        self.clientID = clientID
        self.now = now
    }

    /// How a client reaches this provider.
    public nonisolated var transport: any HTTPTransport { FakeProviderTransport(provider: self) }

    /// Replaces what it does wrong.
    public func setFaults(_ faults: Set<FakeIdentityProviderFault>) {
        self.faults = faults
    }

    /// Changes how long access tokens live, in seconds.
    public func setAccessTokenLifetime(_ seconds: TimeInterval) {
        accessTokenLifetime = seconds
    }

    /// From now on says of every person that they gave credentials so many seconds before, as a provider does that answers out of its browser session.
    package func setAuthenticationAge(_ seconds: TimeInterval) {
        authenticationAge = seconds
    }

    /// From now on gives tokens for these resources to protected accounts alone, as an organisation's conditional access
    /// does; every other account is refused with `protection_policy_required` (SDK-CA-02).
    public func demandProtection(for resources: Set<String>) {
        protected.resources = resources
    }

    /// Learns which accounts are protected, as an organisation's service would tell a provider.
    public func setProtectedAccounts(_ accounts: Set<AccountID>) {
        protected.accounts = accounts
    }

    /// Replaces the signing key, as providers do now and then.
    public func rotateKey() {
        key = SoftwareSigningKey()
    }

    /// The provider's public keys as it publishes them (RFC 7517): for a service under test that checks its tokens.
    public var publicKeys: Data {
        (try? JSONEncoder().encode(JSONWebKeySet([key.publicKey]))) ?? Data()
    }

    /// How many requests the path received.
    public func count(of path: String) -> Int {
        received.count { $0.path == path }
    }

    /// A refresh token that could still be used, as a thief would have it.
    public var anyLiveRefreshToken: String? { refreshTokens.keys.min() }

    /// An administrator ends all sessions: every refresh token dies.
    public func endEverySession() {
        refreshTokens = [:]
        sessions = []
    }

    /// How many refresh tokens could still be used.
    public var liveRefreshTokens: Int { refreshTokens.count }
}
