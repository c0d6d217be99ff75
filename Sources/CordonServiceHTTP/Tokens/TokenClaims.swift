import Foundation

/// The claims of an access token as they travel (RFC 9068 §2.2), with the spellings of common providers.
struct TokenClaims: Decodable {
    var issuer: String
    var audiences: [String]
    var expires: Double
    var notBefore: Double?
    var subject: String?
    var objectID: String?
    var tenant: String?
    var userPrincipalName: String?
    var clientID: String?
    var scopes: Set<String>
    var roles: Set<String>
    var groups: Set<String>
    var issued: Double?
    var identityType: String?
    var keyThumbprint: String?
    var authenticated: Double?

    private enum Name: String, CodingKey {
        case iss, aud, exp, nbf, iat, groups, sub, oid, tid, upn, azp, appid, cid, scope, scp, roles, idtyp, cnf
        case preferredUsername = "preferred_username"
        case clientID = "client_id"
        case authTime = "auth_time"
    }

    private struct Confirmation: Decodable {
        var jkt: String?
    }

    init(from decoder: any Decoder) throws {
        let claims = try decoder.container(keyedBy: Name.self)
        issuer = try claims.decode(String.self, forKey: .iss)
        audiences = try claims.words(.aud, splitting: false)
        expires = try claims.decode(Double.self, forKey: .exp)
        notBefore = try claims.decodeIfPresent(Double.self, forKey: .nbf)
        subject = try claims.decodeIfPresent(String.self, forKey: .sub)
        objectID = try claims.decodeIfPresent(String.self, forKey: .oid)
        tenant = try claims.decodeIfPresent(String.self, forKey: .tid)
        userPrincipalName =
            try claims.decodeIfPresent(String.self, forKey: .preferredUsername)
            ?? claims.decodeIfPresent(String.self, forKey: .upn)
        clientID =
            try claims.decodeIfPresent(String.self, forKey: .clientID)
            ?? claims.decodeIfPresent(String.self, forKey: .azp) ?? claims.decodeIfPresent(String.self, forKey: .appid)
            ?? claims.decodeIfPresent(String.self, forKey: .cid)
        scopes = Set(try claims.words(.scope, splitting: true) + claims.words(.scp, splitting: true))
        roles = Set(try claims.words(.roles, splitting: false))
        groups = Set(try claims.words(.groups, splitting: false))
        issued = try claims.decodeIfPresent(Double.self, forKey: .iat)
        identityType = try claims.decodeIfPresent(String.self, forKey: .idtyp)
        keyThumbprint = try claims.decodeIfPresent(Confirmation.self, forKey: .cnf)?.jkt
        authenticated = try claims.decodeIfPresent(Double.self, forKey: .authTime)
    }

    /// Whether a program acts for itself. Only what the token says counts, never what it leaves out: a person's token needs
    /// neither a name nor a scope (RFC 9068 §2.2), and a program is asked for neither scopes nor a fresh sign-in.
    ///
    /// Either the provider says so, or the token's subject is the client itself (RFC 9068 §2.2) and nothing in it tells of a
    /// person: a provider may let people choose a subject that is a client's id (RFC 9068 §5).
    var isOfApplication: Bool {
        if let identityType { return identityType == "app" }
        return subject != nil && subject == clientID && authenticated == nil && userPrincipalName == nil
    }
}

extension KeyedDecodingContainer {
    /// A claim that is a string, a list of strings, or absent; a string of several words where `splitting`.
    fileprivate func words(_ key: Key, splitting: Bool) throws -> [String] {
        guard contains(key) else { return [] }
        if let text = try? decode(String.self, forKey: key) {
            return splitting ? text.split(separator: " ").map(String.init) : [text]
        }
        return try decode([String].self, forKey: key)
    }
}
