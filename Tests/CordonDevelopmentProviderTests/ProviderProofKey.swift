import CordonBase
import CordonProtocol
import Crypto
import Foundation

@testable import CordonDevelopmentProvider

/// A client's DPoP key, able to make right and wrong proofs.
struct ProviderProofKey: Sendable {
    let key = P256.Signing.PrivateKey()

    /// The coordinates of the public key, base64url.
    var point: (x: String, y: String) {
        let raw = key.publicKey.rawRepresentation
        return (Base64URL.encode(raw.prefix(32)), Base64URL.encode(raw.suffix(32)))
    }

    var thumbprint: String {
        (try? JSONWebKey(point: key.publicKey.rawRepresentation).thumbprint) ?? ""
    }

    /// A proof; every part can be replaced to make it wrong.
    func proof(
        method: String = "POST", uri: String, at time: Date, id: String = UUID().uuidString, nonce: String? = nil,
        accessToken: String? = nil, header changes: [String: Any] = [:], claims claimChanges: [String: Any] = [:],
        signedBy signer: P256.Signing.PrivateKey? = nil
    ) throws -> String {
        let published = point
        var header: [String: Any] = [
            "typ": "dpop+jwt", "alg": "ES256",
            "jwk": ["kty": "EC", "crv": "P-256", "x": published.x, "y": published.y],
        ]
        header.merge(changes) { _, new in new }
        var claims: [String: Any] = [
            "jti": id, "htm": method, "htu": uri, "iat": Int(time.timeIntervalSince1970),
        ]
        if let nonce { claims["nonce"] = nonce }
        if let accessToken {
            claims["ath"] = Base64URL.encode(Data(SHA256.hash(data: Data(accessToken.utf8))))
        }
        claims.merge(claimChanges) { _, new in new }
        let text = try [header, claims].map {
            Base64URL.encode(try JSONSerialization.data(withJSONObject: $0, options: [.sortedKeys]))
        }.joined(separator: ".")
        let signature = try (signer ?? key).signature(for: Data(text.utf8)).rawRepresentation
        return text + "." + Base64URL.encode(signature)
    }
}
