import Foundation
import JWTKit

/// One key of a provider, with the one algorithm it may be used with (RFC 8725 §3.1).
struct IssuerKey: Sendable {
    let id: String
    let algorithm: TokenAlgorithm
    private let verifier: any JWTAlgorithm

    private struct Document: Decodable {
        var keys: [Member]
    }

    /// A key that decodes as anything, so that one strange key does not hide the others.
    private struct Member: Decodable {
        var kty: String?
        var kid: String?
        var alg: String?
        var use: String?
        var crv: String?
        var x: String?
        var y: String?
        var n: String?
        var e: String?
    }

    /// The most keys that are read from one document.
    static let mostKeys = 32

    /// The usable keys of a JWK set (RFC 7517 §5); keys of other kinds, for other uses or without an id are left out.
    ///
    /// - Throws: ``TokenRefusal`` with code `issuerUnavailable` for what is no JWK set, such as a page of a proxy.
    static func keys(in document: Data) async throws(TokenRefusal) -> [String: IssuerKey] {
        guard let document = try? JSONDecoder().decode(Document.self, from: document) else {
            throw TokenRefusal(.issuerUnavailable, "what the provider sent is no set of keys")
        }
        var keys: [String: IssuerKey] = [:]
        for member in document.keys.prefix(mostKeys) {
            // Two keys with one id are ambiguous: neither is trusted more, so the first stays.
            if let key = await IssuerKey(member), keys[key.id] == nil { keys[key.id] = key }
        }
        return keys
    }

    private init?(_ member: Member) async {
        guard let id = member.kid, member.use == nil || member.use == "sig" else { return nil }
        let jwk: JWK
        switch member.kty {
        case "EC" where member.crv == "P-256" && (member.alg ?? "ES256") == "ES256":
            algorithm = .es256
            jwk = .ecdsa(
                .es256, identifier: JWKIdentifier(string: id), x: member.x, y: member.y, curve: .p256)
        case "RSA" where (member.alg ?? "RS256") == "RS256":
            algorithm = .rs256
            jwk = .rsa(.rs256, identifier: JWKIdentifier(string: id), modulus: member.n, exponent: member.e)
        default: return nil
        }
        let collection = JWTKeyCollection()
        guard (try? await collection.add(jwk: jwk)) != nil,
            let verifier = try? await collection.getKey(
                for: JWKIdentifier(string: id), alg: algorithm.rawValue)
        else { return nil }
        self.id = id
        self.verifier = verifier
    }

    func isValid(_ signature: Data, for signed: Data) -> Bool {
        (try? verifier.verify(signature, signs: signed)) ?? false
    }
}
