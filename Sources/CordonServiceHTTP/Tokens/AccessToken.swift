public import CordonIdentity
public import Foundation

/// What a verified access token says; a value of this type exists only after every check was passed.
public struct AccessToken: Sendable, Equatable {
    /// Who made the token.
    public let issuer: String
    /// The organisation, from the token and pinned by the trust in its issuer, never from a request's body (SRV-CI-093).
    public let tenant: TenantID
    /// The person's or the application's object id: `oid`, else `sub`, after ``issuerMark``.
    public let subject: AccountID
    /// What else the provider calls the person (`sub`), after ``issuerMark``; nil where that is ``subject``. Its security events
    /// name people by it.
    public var otherSubject: String?
    /// The name the person signs in with; nil for an application.
    public let userPrincipalName: String?
    /// The application that asked for the token, nil where the provider does not say.
    public let clientID: String?
    /// Whether an application acts for itself, without a person.
    public let isApplication: Bool
    /// Delegated permissions.
    public let scopes: Set<String>
    /// Roles of the person or application.
    public let roles: Set<String>
    /// The groups of the person, as ids; empty where the provider does not say.
    public var groups: Set<String> = []
    /// Whether the provider left the groups out, because they are too many for a token.
    public var lacksGroups = false
    /// What keeps the ids and names of this provider apart from those of the organisation's first one; empty for that.
    public var issuerMark = ""
    /// When the token was made, nil where the provider does not say.
    public var issued: Date?
    /// The RFC 7638 thumbprint of the key that the token is bound to (`cnf.jkt`), nil for a bearer token.
    public let keyThumbprint: String?
    /// When the token ends.
    public let expires: Date
    /// When the person proved who they are, nil where the provider does not say.
    public let authenticated: Date?

    /// The account, for a token of a person.
    public var account: ManagedAccount? {
        userPrincipalName.map { ManagedAccount(id: subject, tenant: tenant, userPrincipalName: $0) }
    }
}
