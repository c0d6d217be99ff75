internal import Foundation

/// The claims of an ID token that this library looks at (OpenID Connect Core §2).
struct IDTokenClaims: Decodable, Sendable {
    let issuer: String
    let subject: String
    let audience: [String]
    let authorizedParty: String?
    let expires: Date
    let issued: Date
    let notBefore: Date?
    let authenticated: Date?
    let nonce: String?
    let accessTokenHash: String?
    let objectID: String?
    let tenantID: String?
    let preferredUserName: String?
    let principalName: String?
    let email: String?
    let name: String?

    private enum CodingKeys: String, CodingKey {
        case issuer = "iss"
        case subject = "sub"
        case audience = "aud"
        case authorizedParty = "azp"
        case expires = "exp"
        case issued = "iat"
        case notBefore = "nbf"
        case authenticated = "auth_time"
        case nonce
        case accessTokenHash = "at_hash"
        case objectID = "oid"
        case tenantID = "tid"
        case preferredUserName = "preferred_username"
        case principalName = "upn"
        case email, name
    }

    init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        func text(_ key: CodingKeys) throws -> String? { try members.decodeIfPresent(String.self, forKey: key) }
        func time(_ key: CodingKeys) throws -> Date? {
            try members.decodeIfPresent(Double.self, forKey: key).map { Date(timeIntervalSince1970: $0) }
        }
        issuer = try members.decode(String.self, forKey: .issuer)
        subject = try members.decode(String.self, forKey: .subject)
        if let one = try? members.decode(String.self, forKey: .audience) {
            audience = [one]
        } else {
            audience = try members.decode([String].self, forKey: .audience)
        }
        authorizedParty = try text(.authorizedParty)
        expires = Date(timeIntervalSince1970: try members.decode(Double.self, forKey: .expires))
        issued = Date(timeIntervalSince1970: try members.decode(Double.self, forKey: .issued))
        notBefore = try time(.notBefore)
        authenticated = try time(.authenticated)
        nonce = try text(.nonce)
        accessTokenHash = try text(.accessTokenHash)
        objectID = try text(.objectID)
        tenantID = try text(.tenantID)
        preferredUserName = try text(.preferredUserName)
        principalName = try text(.principalName)
        email = try text(.email)
        name = try text(.name)
    }
}
