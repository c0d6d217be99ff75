public import CordonIdentity
package import CordonPolicy
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
    /// Which key a device proves with its requests, nil for ``Proof/token``.
    public var proof: Proof?
    /// What to ask the provider for, nil for ``scope`` and ``resource``.
    public var tokenRequest: TokenRequest?

    /// Which key a device proves with its requests.
    public enum Proof: String, Sendable, Codable {
        /// The one that the provider bound the access token to (RFC 9449 §6); tokens are sent with the scheme `DPoP`.
        case token
        /// The registration's own. The provider binds its tokens to no key, and they are sent with the scheme `Bearer` beside
        /// the proof.
        case registration
    }

    /// What to ask the provider for, where it is not just ``ServiceDiscovery/scope`` and ``ServiceDiscovery/resource``.
    public struct TokenRequest: Sendable, Codable, Equatable {
        /// The scopes, beside those of OpenID Connect.
        public var scopes: [String]
        /// The `resource` parameter (RFC 8707), nil for none.
        public var resource: String?

        /// Makes a request.
        public init(scopes: [String], resource: String? = nil) {
            self.scopes = scopes
            self.resource = resource
        }
    }

    /// What to ask the provider for.
    public var asked: TokenRequest { tokenRequest ?? TokenRequest(scopes: [scope], resource: resource) }

    /// Makes a document.
    public init(
        tenant: TenantID, issuer: URL, checkIn: URL, resource: String, scope: String, keys: URL, versions: [Int],
        proof: Proof? = nil, tokenRequest: TokenRequest? = nil
    ) {
        self.tenant = tenant
        self.issuer = issuer
        self.checkIn = checkIn
        self.resource = resource
        self.scope = scope
        self.keys = keys
        self.versions = versions
        self.proof = proof
        self.tokenRequest = tokenRequest
    }
}

extension ServiceDiscovery: JSONReadable {
    /// Reads the members as they are written.
    package init(_ members: JSONMembers) throws(PolicyError) {
        var versions: [Int] = []
        for value in try members.values("versions") {
            guard let version = value.integer.flatMap({ Int(exactly: $0) }) else {
                throw PolicyError(.wrongType, "a whole number is needed", at: "versions")
            }
            versions.append(version)
        }
        var proof: Proof?
        if let name = try members.optionalText("proof") {
            guard let known = Proof(rawValue: name) else {
                throw PolicyError(.unknownName, "is not known here", at: "proof")
            }
            proof = known
        }
        self.init(
            tenant: try members.tenant("tenant"), issuer: try members.address("issuer"),
            checkIn: try members.address("checkIn"), resource: try members.text("resource"),
            scope: try members.text("scope"), keys: try members.address("keys"), versions: versions, proof: proof,
            tokenRequest: try members.decodeIfPresent(TokenRequest.self, "tokenRequest"))
    }
}
