import Crypto
import Foundation

/// A DPoP proof whose signature holds (RFC 9449 §4.3, checks 2 to 7); what it claims is still to be compared.
struct ProviderProof: Sendable {
    struct Claims: Decodable, Sendable {
        let jti: String
        let htm: String
        let htu: String
        let iat: Double
        let nonce: String?
        let ath: String?
    }

    let thumbprint: String
    let claims: Claims

    private struct Header: Decodable {
        let typ: String
        let alg: String
        let jwk: ProviderPublicKey
        let crit: [String]?
    }

    init(_ text: String) throws(OAuthError) {
        guard let parts = ProviderJWS.parts(of: text) else { throw Self.invalid("the proof is no compact JWS") }
        guard let header = try? JSONDecoder().decode(Header.self, from: parts.header) else {
            throw Self.invalid("the header of the proof lacks typ, alg or jwk")
        }
        guard header.typ == "dpop+jwt" else { throw Self.invalid("typ of the proof must be dpop+jwt") }
        guard header.alg == "ES256" else { throw Self.invalid("alg of the proof must be ES256") }
        guard header.crit == nil else { throw Self.invalid("the proof has critical headers that are not understood") }
        guard header.jwk.d == nil else { throw Self.invalid("the proof gives away its private key") }
        guard let key = header.jwk.key else { throw Self.invalid("jwk of the proof is no P-256 public key") }
        guard ProviderJWS.isValid(parts, for: key) else { throw Self.invalid("the signature of the proof is wrong") }
        guard let claims = try? JSONDecoder().decode(Claims.self, from: parts.payload) else {
            throw Self.invalid("the proof lacks jti, htm, htu or iat")
        }
        guard (1...256).contains(claims.jti.utf8.count), claims.iat.isFinite, abs(claims.iat) < 1e12 else {
            throw Self.invalid("jti or iat of the proof is out of bounds")
        }
        thumbprint = ProviderPublicKey(key).thumbprint
        self.claims = claims
    }

    /// Whether the proof was made for this address: scheme and host without case, no query, no fragment, the default
    /// port written or not (RFC 3986 §6.2.2, §6.2.3).
    func isFor(_ uri: String) -> Bool {
        guard let mine = Self.normal(uri), let theirs = Self.normal(claims.htu) else { return false }
        return mine == theirs
    }

    static func invalid(_ reason: String) -> OAuthError { OAuthError(.invalidDPoPProof, reason) }

    private static func normal(_ uri: String) -> String? {
        guard uri.utf8.count <= 2_048, let parts = URLComponents(string: uri), let scheme = parts.scheme?.lowercased(),
            let host = parts.host?.lowercased(), parts.user == nil
        else { return nil }
        let standard = ["http": 80, "https": 443][scheme]
        let port = parts.port ?? standard ?? 0
        return "\(scheme)://\(host):\(port)" + (parts.percentEncodedPath.isEmpty ? "/" : parts.percentEncodedPath)
    }
}
