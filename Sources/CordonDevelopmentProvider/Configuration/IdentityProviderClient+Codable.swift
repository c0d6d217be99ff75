import CordonBase
import CordonProtocol
import Foundation

extension IdentityProviderClient: Codable {
    private enum CodingKeys: String, CodingKey {
        case id = "clientId"
        case displayName, grants, resources, applicationRoles, keys
        case redirectURIs = "redirectUris"
        case postLogoutRedirectURIs = "postLogoutRedirectUris"
        case secretDigest = "secretSha256"
    }

    /// A key of either kind, as its JWK.
    private enum Key: Codable {
        case elliptic(JSONWebKey)
        case rsa(RSAClientKey)

        private enum Member: String, CodingKey { case kty }

        init(from decoder: any Decoder) throws {
            let kind = try decoder.container(keyedBy: Member.self).decode(String.self, forKey: .kty)
            self = kind == "RSA" ? .rsa(try RSAClientKey(from: decoder)) : .elliptic(try JSONWebKey(from: decoder))
        }

        func encode(to encoder: any Encoder) throws {
            switch self {
            case .elliptic(let key): try key.encode(to: encoder)
            case .rsa(let key): try key.encode(to: encoder)
            }
        }
    }

    /// Reads a client of a configuration file: `clientId`, `displayName`, `grants` and `resources`, and where wanted
    /// `redirectUris`, `postLogoutRedirectUris`, `applicationRoles`, `keys` (public keys as JWKs) and `secretSha256` (base64url). The file never
    /// holds a secret itself.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let digest = try container.decodeIfPresent(String.self, forKey: .secretDigest).map { text in
            guard let bytes = Base64URL.decode(text), bytes.count == 32 else {
                throw DecodingError.dataCorruptedError(
                    forKey: .secretDigest, in: container,
                    debugDescription: "secretSha256 must be a SHA-256 in base64url without padding")
            }
            return bytes
        }
        self.init(
            id: try container.decode(String.self, forKey: .id),
            displayName: try container.decode(String.self, forKey: .displayName),
            redirectURIs: try container.decodeIfPresent([String].self, forKey: .redirectURIs) ?? [],
            postLogoutRedirectURIs: try container.decodeIfPresent([String].self, forKey: .postLogoutRedirectURIs) ?? [],
            grants: try container.decode(Set<Grant>.self, forKey: .grants),
            resources: try container.decode([String].self, forKey: .resources),
            applicationRoles: try container.decodeIfPresent([String].self, forKey: .applicationRoles) ?? [],
            keys: [], secretDigest: digest)
        for key in try container.decodeIfPresent([Key].self, forKey: .keys) ?? [] {
            switch key {
            case .elliptic(let key): keys.append(key)
            case .rsa(let key): rsaKeys.append(key)
            }
        }
    }

    /// Writes what ``init(from:)`` reads.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id, forKey: .id)
        try container.encode(displayName, forKey: .displayName)
        try container.encode(redirectURIs, forKey: .redirectURIs)
        try container.encode(postLogoutRedirectURIs, forKey: .postLogoutRedirectURIs)
        try container.encode(grants.sorted { $0.rawValue < $1.rawValue }, forKey: .grants)
        try container.encode(resources, forKey: .resources)
        try container.encode(applicationRoles, forKey: .applicationRoles)
        let all = keys.map(Key.elliptic) + rsaKeys.map(Key.rsa)
        if !all.isEmpty { try container.encode(all, forKey: .keys) }
        try container.encodeIfPresent(secretDigest.map { Base64URL.encode($0) }, forKey: .secretDigest)
    }
}
