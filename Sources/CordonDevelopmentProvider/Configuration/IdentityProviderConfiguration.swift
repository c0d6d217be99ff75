/// What the provider knows besides its directory: clients, resources, lifetimes and limits.
public struct IdentityProviderConfiguration: Sendable, Equatable {
    /// How long things live.
    public struct Lifetimes: Sendable, Equatable {
        /// Access tokens: 1 second to 15 minutes (SRV-CI-078).
        public var accessToken: Duration = .seconds(900)
        /// ID tokens.
        public var idToken: Duration = .seconds(900)
        /// Authorization codes, which are used once.
        public var authorizationCode: Duration = .seconds(60)
        /// A refresh token that is not used.
        public var refreshToken: Duration = .seconds(14 * 86_400)
        /// A chain of refresh tokens, however often it is used.
        public var refreshFamily: Duration = .seconds(90 * 86_400)
        /// Device and user codes.
        public var deviceCode: Duration = .seconds(600)
        /// The least time between two polls with a device code.
        public var devicePollInterval: Duration = .seconds(5)
        /// A browser that is signed in.
        public var session: Duration = .seconds(8 * 3_600)
        /// A page that waits for its form.
        public var page: Duration = .seconds(600)
        /// How far the `iat` of a DPoP proof may lie in the past; 60 seconds into the future are accepted.
        public var proof: Duration = .seconds(300)

        /// The defaults.
        public init() {}
    }

    /// Registered applications.
    public var clients: [IdentityProviderClient]
    /// Audiences of access tokens.
    public var resources: [IdentityProviderResource]
    /// How long things live.
    public var lifetimes = Lifetimes()
    /// Whether DPoP proofs must carry a nonce from the provider (RFC 9449 §8).
    public var requiresProofNonce = false
    /// Wrong passwords per sign-in name, and ten times as many in all, within ``passwordAttemptWindow``.
    ///
    /// The bound in all also counts names that do not exist, so that neither time nor limit tells which do. A client that guesses can
    /// thus keep every person from signing in for a window; the provider is for development, on loopback.
    public var passwordAttempts = 5
    /// The window of ``passwordAttempts``.
    public var passwordAttemptWindow: Duration = .seconds(300)
    /// The most entries in each table: pages, sessions, codes, refresh families, seen proofs.
    public var capacity = 10_000

    /// Makes a configuration; it is checked when a provider is made with it.
    public init(clients: [IdentityProviderClient], resources: [IdentityProviderResource]) {
        self.clients = clients
        self.resources = resources
    }

    /// The configuration of `cordon serve --development`: the public clients `fieldnotes` (check-in only) and
    /// `cordon-cli` (check-in and admin), `cordon-console` (admin), and any further ones.
    ///
    /// - Parameters:
    ///   - checkIn: the audience of the check-in service, an absolute URI.
    ///   - admin: the audience of the admin API, an absolute URI.
    public static func development(
        checkIn: String, admin: String, additionalClients: [IdentityProviderClient] = []
    ) -> IdentityProviderConfiguration {
        IdentityProviderConfiguration(
            clients: [
                .publicClient(id: "fieldnotes", displayName: "FieldNotes", resources: [checkIn]),
                .publicClient(id: "cordon-cli", displayName: "Cordon command line", resources: [checkIn, admin]),
                .publicClient(
                    id: "cordon-console", displayName: "Cordon console",
                    redirectURIs: ["http://127.0.0.1/console/signed-in", "http://[::1]/console/signed-in"],
                    resources: [admin]),
            ] + additionalClients, resources: [.checkIn(checkIn), .admin(admin)])
    }

    func client(_ id: String) -> IdentityProviderClient? { clients.first { $0.id == id } }

    func resource(_ name: String) -> IdentityProviderResource? { resources.first { $0.isNamed(name) } }
}
