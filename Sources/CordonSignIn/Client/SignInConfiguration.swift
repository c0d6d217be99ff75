/// Which provider an app signs in with, and how. The client copies it when it is made (SI-092).
public struct SignInConfiguration: Sendable, Equatable {
    /// When requests carry a proof of possession (RFC 9449).
    public enum ProofOfPossession: Sendable, Equatable {
        /// When the provider announces ES256 for it; tokens that come back unbound are then refused.
        case whenOffered
        /// Always; tokens that come back unbound are refused.
        case always
        /// Never.
        case never
    }

    /// The provider's issuer, byte for byte as it announces itself; a trailing slash counts (SI-167).
    public var issuer: String
    /// The app's public client id.
    public var clientID: String
    /// Where the browser returns to.
    public var redirect: SignInRedirect = .loopback()
    /// Scopes that every sign-in adds; `offline_access` asks for refresh tokens.
    public var reservedScopes: [String] = ["openid", "profile", "offline_access"]
    /// When to bind tokens to the device key.
    public var proofOfPossession: ProofOfPossession = .whenOffered
    /// How long before its end a token is renewed (SI-096).
    public var expiryBuffer: Duration = .seconds(300)
    /// How long one exchange with the provider may take (SI-099).
    public var requestTimeout: Duration = .seconds(30)
    /// How long a person may take in the browser.
    public var interactionTimeout: Duration = .seconds(600)
    /// Whether a provider that does not announce PKCE with S256 is refused; S256 is sent either way (SI-169).
    public var requiresAnnouncedS256 = true
    /// What the app can handle, such as `CP1` for claims challenges; goes into the claims parameter (SI-098).
    public var capabilities: [String] = []
    /// How old the claims of an account may grow without a new ID token, before the person is asked (SI-180).
    public var claimsLifetime: Duration = .seconds(90 * 86_400)

    /// Makes a configuration for a public client.
    public init(issuer: String, clientID: String) {
        self.issuer = issuer
        self.clientID = clientID
    }
}
