public import CordonIdentity
public import Foundation

/// Where an organisation's service and its sign-in are (SRV-CI-017), served at `/.well-known/cordon-mam`.
public struct ServiceDiscovery: Sendable, Codable, Equatable {
    /// The path of this document on the service's host (RFC 8615).
    public static let path = "/.well-known/cordon-mam"
    /// The protocol version that this code speaks.
    public static let currentVersion = 1

    /// The organisation.
    public var tenant: TenantID
    /// The OpenID provider's issuer.
    public var issuer: URL
    /// The base of the check-in routes, ending in `/mam/v1`.
    public var checkIn: URL
    /// The value of the `resource` parameter and the audience of check-in tokens (SRV-CI-078).
    public var resource: String
    /// The scope that a check-in token needs.
    public var scope: String
    /// Where the signed key set is.
    public var keys: URL
    /// The protocol versions that the service speaks.
    public var versions: [Int]

    /// Makes a document.
    public init(
        tenant: TenantID, issuer: URL, checkIn: URL, resource: String, scope: String, keys: URL, versions: [Int]
    ) {
        self.tenant = tenant
        self.issuer = issuer
        self.checkIn = checkIn
        self.resource = resource
        self.scope = scope
        self.keys = keys
        self.versions = versions
    }
}
