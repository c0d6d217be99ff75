public import CordonIdentity
internal import Foundation

/// A person who signed in, as the provider described them (SI-122). Never built by apps.
public struct SignedInAccount: Sendable, Hashable, Codable, Identifiable {
    /// The key to store: the directory object id where the provider gives one, else the subject.
    public let id: AccountID
    /// The organisation: the tenant id where the provider gives one, else the issuer.
    public let tenant: TenantID
    /// The name to show and to match allow lists with; never a key.
    public let userPrincipalName: String
    /// The person's name, where given.
    public let displayName: String?
    /// The provider.
    public let issuer: String
    /// The provider's own name for the person, unique below the issuer.
    public let subject: String
    /// This sign-in: a later one of the same account has another number (SI-057, SI-072).
    public let session: SessionID

    /// The facts that the rest of Cordon works with.
    public var managed: ManagedAccount {
        ManagedAccount(id: id, tenant: tenant, userPrincipalName: userPrincipalName)
    }

    init(_ claims: IDTokenClaims, session: SessionID) {
        func given(_ text: String?) -> String? { text.flatMap { $0.isEmpty ? nil : $0 } }
        id = AccountID(given(claims.objectID) ?? claims.subject)
        tenant = TenantID(given(claims.tenantID) ?? claims.issuer)
        userPrincipalName =
            given(claims.preferredUserName) ?? given(claims.principalName) ?? given(claims.email) ?? claims.subject
        displayName = given(claims.name)
        issuer = claims.issuer
        subject = claims.subject
        self.session = session
    }
}
