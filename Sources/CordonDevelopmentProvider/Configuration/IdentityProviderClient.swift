public import CordonProtocol
import Crypto
import Foundation

/// An application that is registered with the provider.
public struct IdentityProviderClient: Sendable, Equatable, Identifiable {
    /// How a client asks for tokens.
    public enum Grant: String, Sendable, CaseIterable, Codable {
        /// Authorization code with PKCE (RFC 6749 §4.1, RFC 7636).
        case authorizationCode = "authorization_code"
        /// Refresh tokens with rotation (RFC 6749 §6, RFC 9700 §4.14); needs the scope `offline_access`.
        case refreshToken = "refresh_token"
        /// Device authorization (RFC 8628).
        case deviceCode = "urn:ietf:params:oauth:grant-type:device_code"
        /// Client credentials (RFC 6749 §4.4), for confidential clients only.
        case clientCredentials = "client_credentials"
    }

    /// The `client_id`.
    public let id: String
    /// The name on the pages.
    public var displayName: String
    /// Where authorization answers may go: https, a private-use scheme with a dot, or http on a loopback address.
    /// Compared byte for byte, but for the port of `http://127.0.0.1` and `http://[::1]` (RFC 8252 §7.3).
    public var redirectURIs: [String]
    /// Where a browser may go after end of session; same rules.
    public var postLogoutRedirectURIs: [String]
    /// What this client may use.
    public var grants: Set<Grant>
    /// Identifiers of the resources it may ask tokens for.
    public var resources: [String]
    /// Roles of the application itself, for client credentials and audiences that carry roles.
    public var applicationRoles: [String]
    /// The keys with which the client signs assertions of who it is (RFC 7523), in place of a secret.
    public var keys: [JSONWebKey]
    /// Its RSA keys, for clients that sign with a certificate.
    public var rsaKeys: [RSAClientKey] = []
    /// SHA-256 of the client's secret; nil for a public client.
    let secretDigest: Data?

    /// Whether this client can prove who it is, with a secret or a key.
    public var isConfidential: Bool { secretDigest != nil || signs }

    /// Whether it has a key to sign with.
    var signs: Bool { !keys.isEmpty || !rsaKeys.isEmpty }

    /// A client without a secret: an app or a command. It may use authorization code, refresh and device code.
    ///
    /// - Parameter postLogoutRedirectURIs: nil allows `redirectURIs`, and `/signed-out` on a loopback address.
    public static func publicClient(
        id: String, displayName: String,
        redirectURIs: [String] = ["http://127.0.0.1/callback", "http://[::1]/callback"],
        postLogoutRedirectURIs: [String]? = nil, resources: [String]
    ) -> IdentityProviderClient {
        IdentityProviderClient(
            id: id, displayName: displayName, redirectURIs: redirectURIs,
            postLogoutRedirectURIs: postLogoutRedirectURIs
                ?? redirectURIs + ["http://127.0.0.1/signed-out", "http://[::1]/signed-out"],
            grants: [.authorizationCode, .refreshToken, .deviceCode], resources: resources, secret: nil)
    }

    /// Makes a client; it is checked when a provider is made with it.
    ///
    /// - Parameters:
    ///   - keys: The keys with which it signs in place of sending a secret.
    ///   - secret: random text, kept only as its SHA-256; without it and without keys, it is a public client.
    public init(
        id: String, displayName: String, redirectURIs: [String] = [], postLogoutRedirectURIs: [String] = [],
        grants: Set<Grant>, resources: [String], applicationRoles: [String] = [], keys: [JSONWebKey] = [],
        secret: String?
    ) {
        self.init(
            id: id, displayName: displayName, redirectURIs: redirectURIs,
            postLogoutRedirectURIs: postLogoutRedirectURIs, grants: grants, resources: resources,
            applicationRoles: applicationRoles, keys: keys,
            secretDigest: secret.map { Data(SHA256.hash(data: Data($0.utf8))) })
    }

    init(
        id: String, displayName: String, redirectURIs: [String], postLogoutRedirectURIs: [String], grants: Set<Grant>,
        resources: [String], applicationRoles: [String], keys: [JSONWebKey], secretDigest: Data?
    ) {
        self.id = id
        self.displayName = displayName
        self.redirectURIs = redirectURIs
        self.postLogoutRedirectURIs = postLogoutRedirectURIs
        self.grants = grants
        self.resources = resources
        self.applicationRoles = applicationRoles
        self.keys = keys
        self.secretDigest = secretDigest
    }

    /// Whether this is the client's secret, in a time that does not tell where two secrets differ.
    func hasSecret(_ secret: String) -> Bool {
        guard let secretDigest else { return false }
        return SymmetricKey(data: SHA256.hash(data: Data(secret.utf8))) == SymmetricKey(data: secretDigest)
    }
}
