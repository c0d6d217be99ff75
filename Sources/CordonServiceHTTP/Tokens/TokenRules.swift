public import CordonIdentity

/// Which access tokens a service accepts.
public struct TokenRules: Sendable, Equatable {
    /// A provider whose tokens are accepted, for one organisation.
    public struct TrustedIssuer: Sendable, Equatable {
        /// The issuer of its discovery document, and of its tokens unless the profile says otherwise.
        public var issuer: String
        /// The organisation; a token whose `tid` says another is refused, one without `tid` counts as this one.
        public var tenant: TenantID
        /// How its tokens look.
        public var profile: IssuerProfile

        /// The exact `iss` of its access tokens.
        var tokenIssuer: String { profile.tokenIssuer ?? issuer }

        /// Makes an entry.
        public init(issuer: String, tenant: TenantID, profile: IssuerProfile = IssuerProfile()) {
            self.issuer = issuer
            self.tenant = tenant
            self.profile = profile
        }
    }

    /// The scope that every check-in token needs.
    public static let checkInScope = "mam.checkin"
    /// How far the provider's clock may differ, in seconds.
    public static let clockTolerance: Double = 30
    /// The largest token that is looked at, in bytes.
    public static let largestToken = 16 << 10

    /// The allow-list of providers.
    public var issuers: [TrustedIssuer]
    /// The audience of check-in tokens.
    public var checkInAudience: String
    /// The audiences of administration tokens.
    public var administrationAudiences: Set<String>
    /// The longest life of a check-in token, in seconds from `iat` to `exp`; nil for any (SRV-CI-078).
    public var longestCheckInToken: Int?

    /// Makes rules.
    public init(
        issuers: [TrustedIssuer], checkInAudience: String, administrationAudiences: Set<String>,
        longestCheckInToken: Int? = nil
    ) {
        self.issuers = issuers
        self.checkInAudience = checkInAudience
        self.administrationAudiences = administrationAudiences
        self.longestCheckInToken = longestCheckInToken
    }

    /// The audience of a provider's check-in tokens.
    func checkInAudience(of trusted: TrustedIssuer) -> String { trusted.profile.checkInAudience ?? checkInAudience }

    /// The audiences of a provider's administration tokens.
    func administrationAudiences(of trusted: TrustedIssuer) -> Set<String> {
        trusted.profile.administrationAudiences ?? administrationAudiences
    }

    /// Whether a token is for one side, and not for both: neither side takes such a token.
    func admits(_ audiences: [String], of trusted: TrustedIssuer, to audience: TokenAudience) -> Bool {
        let forCheckIn = audiences.contains(checkInAudience(of: trusted))
        let forAdministration = audiences.contains(where: administrationAudiences(of: trusted).contains)
        return switch audience {
        case .checkIn: forCheckIn && !forAdministration
        case .administration: forAdministration && !forCheckIn
        }
    }
}
