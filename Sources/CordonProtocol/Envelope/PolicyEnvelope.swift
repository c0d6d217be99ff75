public import CordonIdentity
public import CordonPolicy

/// Everything the service tells one registration, signed as a whole (SRV-CI-004, SRV-CI-083).
///
/// An app reads one with ``SignedEnvelope/verified(by:for:)``.
public struct PolicyEnvelope: Sendable, Encodable, Equatable {
    /// The organisation.
    public var tenant: TenantID
    /// The registration this is for.
    public var registrationID: String
    /// The account this is for.
    public var account: AccountID
    /// The app this is for.
    public var bundleID: String
    /// Rises by at least one with every envelope of the registration (SRV-CI-085).
    public var sequence: Int64
    /// The version of the set of policies; changes with any of them.
    public var version: String
    /// The random value of the request that asked for this envelope.
    public var nonce: String
    /// When it was signed, in whole seconds since 1970.
    public var issuedAt: Int64
    /// When it stops being acceptable as new, in whole seconds since 1970.
    public var expiresAt: Int64
    /// The merged policy with the origin of each setting, nil when no policy is targeted (code 103).
    public var policy: EffectivePolicy?
    /// The targeted app configurations, one dictionary each (SRV-CI-005).
    public var configurations: [JSONValue]
    /// The accounts that may be used in the app, nil for no restriction (SRV-CI-008).
    public var allowedAccounts: [AllowedAccount]?
    /// The person's working time, nil where the service does not know it (SRV-CI-009).
    public var workingTime: WorkingTime?
    /// The SHA-256 of public keys that the app's own connections must show, by host, base64url; nil for none (SDK-CP-01).
    public var certificatePins: [String: [String]]?
    /// Whether the organisation wants no telemetry (SRV-CI-074); nil counts as false.
    public var telemetryDisabled: Bool?
    /// What the app is to do, each at most once by its id (SRV-CI-006).
    public var commands: [Command]
    /// How compliance stands, nil for compliant (SRV-CI-010).
    public var compliance: ComplianceReport?
    /// What the service asks of every app, nil for ``ServiceSettings/usual`` (SRV-CI-016).
    public var service: ServiceSettings?
    /// Logs that an administrator asks for, nil when none (SRV-CI-015).
    public var logRequests: [LogRequest]?
    /// True where the answer that brings the envelope has a ``ContactProof`` beside it, as every answer to a check-in: an app does not take
    /// the envelope without it. Nil in the answer to a registration, and from older services.
    public var hasContact: Bool?

    enum CodingKeys: String, CodingKey {
        case tenant, registrationID, account, bundleID, sequence
        case version, nonce
        case issuedAt = "iat"
        case expiresAt = "exp"
        case policy
        case configurations = "appConfig"
        case allowedAccounts
        case workingTime = "clock"
        case certificatePins, telemetryDisabled, commands, compliance, service, logRequests
        case hasContact
    }

    /// Makes an envelope.
    public init(
        tenant: TenantID, registrationID: String, account: AccountID, bundleID: String, sequence: Int64,
        version: String, nonce: String, issuedAt: Int64, expiresAt: Int64, policy: EffectivePolicy?,
        configurations: [JSONValue] = [], allowedAccounts: [AllowedAccount]? = nil,
        workingTime: WorkingTime? = nil, certificatePins: [String: [String]]? = nil, telemetryDisabled: Bool? = nil,
        commands: [Command] = [],
        compliance: ComplianceReport? = nil, service: ServiceSettings? = nil, logRequests: [LogRequest]? = nil,
        hasContact: Bool? = nil
    ) {
        self.tenant = tenant
        self.registrationID = registrationID
        self.account = account
        self.bundleID = bundleID
        self.sequence = sequence
        self.version = version
        self.nonce = nonce
        self.issuedAt = issuedAt
        self.expiresAt = expiresAt
        self.policy = policy
        self.configurations = configurations
        self.allowedAccounts = allowedAccounts
        self.workingTime = workingTime
        self.certificatePins = certificatePins
        self.telemetryDisabled = telemetryDisabled
        self.commands = commands
        self.compliance = compliance
        self.service = service
        self.logRequests = logRequests
        self.hasContact = hasContact
    }

    /// An account that may be used in the app.
    public struct AllowedAccount: Sendable, Codable, Equatable {
        /// The directory object id.
        public var id: AccountID
        /// The sign-in name.
        public var userPrincipalName: String

        /// Makes an entry.
        public init(id: AccountID, userPrincipalName: String) {
            self.id = id
            self.userPrincipalName = userPrincipalName
        }
    }
}
