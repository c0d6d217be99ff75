import CordonProtocol
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

    init(_ text: String) throws(OAuthError) {
        guard text.utf8.count <= ProviderJWS.longest else { throw Self.invalid("the proof is too long") }
        let payload: Data
        do throws(ProtocolError) {
            let (bytes, key) = try CompactJWS.payloadWithEmbeddedKey(of: text, type: .proofOfPossession)
            payload = bytes
            thumbprint = key.thumbprint
        } catch {
            throw Self.invalid(error.reason)
        }
        guard let claims = try? JSONDecoder().decode(Claims.self, from: payload) else {
            throw Self.invalid("the proof lacks jti, htm, htu or iat")
        }
        guard (1...256).contains(claims.jti.utf8.count), claims.iat.isFinite, abs(claims.iat) < 1e12 else {
            throw Self.invalid("jti or iat of the proof is out of bounds")
        }
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
