/// A service that access tokens are made for: one token, one audience (RFC 8707, SRV-CI-078).
public struct IdentityProviderResource: Sendable, Equatable {
    /// The absolute URI without fragment that clients name in `resource` and that becomes `aud`.
    public var identifier: String
    /// Other names that clients may use; the token then carries the name that was used as its audience.
    public var aliases: [String]
    /// Scopes that exist here. Others are left out of a token, not refused (SRV-OP-019).
    public var scopes: [String]
    /// Whether tokens carry the roles of the person or application, and `scp`.
    public var carriesRoles: Bool
    /// Whether tokens are only given with a DPoP proof (RFC 9449, SRV-CI-080).
    public var requiresProof: Bool

    /// Makes a resource; it is checked when a provider is made with it.
    public init(
        identifier: String, aliases: [String] = [], scopes: [String], carriesRoles: Bool = false,
        requiresProof: Bool = false
    ) {
        self.identifier = identifier
        self.aliases = aliases
        self.scopes = scopes
        self.carriesRoles = carriesRoles
        self.requiresProof = requiresProof
    }

    /// The check-in service: the scope `mam.checkin` alone, no roles, tokens bound to a key.
    public static func checkIn(_ identifier: String) -> IdentityProviderResource {
        IdentityProviderResource(identifier: identifier, scopes: ["mam.checkin"], requiresProof: true)
    }

    /// The admin API: delegated scopes of SRV-OP-019 and the roles of the person or application.
    public static func admin(
        _ identifier: String, aliases: [String] = ["https://graph.microsoft.com"]
    ) -> IdentityProviderResource {
        IdentityProviderResource(
            identifier: identifier, aliases: aliases,
            scopes: [
                "DeviceManagementApps.Read.All", "DeviceManagementApps.ReadWrite.All",
                "DeviceManagementRBAC.Read.All", "DeviceManagementConfiguration.Read.All", "Group.Read.All",
                "Group.ReadWrite.All", "GroupMember.Read.All", "User.Read", "User.Read.All", "Organization.Read.All",
            ], carriesRoles: true)
    }

    func isNamed(_ name: String) -> Bool { identifier == name || aliases.contains(name) }
}
