public import CordonIdentity

/// Who administers: what the access token said of a person or a program, already verified.
///
/// The tenant always comes from here, never from a request's body (SRV-CI-093).
public struct Administrator: Sendable, Hashable {
    /// The organisation.
    public var tenant: TenantID
    /// The directory object id of the person, or the client id of a program.
    public var id: String
    /// The name to show in the audit log.
    public var name: String
    /// What the caller may do.
    public var roles: Set<AdministratorRole>
    /// What the caller may do besides, by roles that the organisation made.
    public var customRoles: [CustomRole]
    /// Whether it is a program, which cannot be asked to sign in again.
    public var isProgram: Bool
    /// What a program was given by Cordon's own names. Graph's permissions let it write policies and wipe a device; that a
    /// policy of its may remove data they do not say.
    public var applicationPermissions: Set<Permission>
    /// What this call brings along.
    public var call: CallFacts

    /// Makes a caller from verified facts.
    public init(
        tenant: TenantID, id: String, name: String, roles: Set<AdministratorRole>, customRoles: [CustomRole] = [],
        isProgram: Bool = false, applicationPermissions: Set<Permission> = [], call: CallFacts = CallFacts()
    ) {
        self.tenant = tenant
        self.id = id
        self.name = name
        self.roles = roles
        self.customRoles = customRoles
        self.isProgram = isProgram
        self.applicationPermissions = applicationPermissions
        self.call = call
    }
}
