public import CordonIdentity
public import CordonProtocol
public import Foundation

/// An app on a device: what its access token and its proof of possession said, already verified (SRV-CI-078, SRV-CI-080).
public struct DeviceCaller: Sendable, Hashable {
    /// The account of the access token.
    public var account: ManagedAccount
    /// The key that signed the proof of this request.
    public var key: JSONWebKey
    /// When the person last signed in (`auth_time`), nil where the token does not say.
    public var authenticated: Date?
    /// What else the provider calls the person (`sub`), nil where that is the account's id.
    public var otherSubject: String?
    /// The digest of the request's body as the proof names it (`bodyDigest`), nil where it names none.
    public var bodyDigest: String?

    /// Makes a caller from verified facts.
    public init(
        account: ManagedAccount, key: JSONWebKey, authenticated: Date? = nil, otherSubject: String? = nil,
        bodyDigest: String? = nil
    ) {
        self.bodyDigest = bodyDigest
        self.account = account
        self.key = key
        self.authenticated = authenticated
        self.otherSubject = otherSubject
    }

    /// The organisation.
    public var tenant: TenantID { account.tenant }
    /// The RFC 7638 thumbprint of the key.
    public var keyThumbprint: String { key.thumbprint }
}
