/// Claims of an access token: the JWT profile of RFC 9068 with the object and tenant ids of the directory.
struct AccessTokenClaims: Codable, Sendable {
    struct Confirmation: Codable, Sendable {
        let jkt: String
    }

    var iss: String
    var sub: String
    /// Exactly one audience (SRV-CI-078).
    var aud: String
    var exp: Int
    var iat: Int
    /// `grant.random`: the grant lets the provider refuse, at its own userinfo, tokens of a grant that was revoked.
    var jti: String
    var client_id: String
    var scope: String?
    var tid: String
    var oid: String?
    /// `app` for an application that acts for itself.
    var idtyp: String?
    var preferred_username: String?
    /// Only for audiences that carry roles.
    var roles: [String]?
    /// The delegated scopes once more under the name that Graph-compatible services read.
    var scp: String?
    var auth_time: Int?
    var amr: [String]?
    var cnf: Confirmation?
}

/// Claims of an ID token (OpenID Connect Core §2).
struct IDTokenClaims: Codable, Sendable {
    var iss: String
    var sub: String
    var aud: String
    var exp: Int
    var iat: Int
    var auth_time: Int
    var nonce: String?
    var at_hash: String?
    var amr: [String]
    var tid: String
    var oid: String
    var preferred_username: String?
    var name: String?
}
