import CordonBase
import CordonSignatures
import Foundation

extension ProofOfPossession {
    /// Reads a proof as the provider answers for one.
    init(provider text: String) throws(OAuthError) {
        do {
            try self.init(text)
        } catch {
            let reason =
                switch error.kind {
                case .tooLarge: "the proof is too long"
                case .malformed, .algorithm, .type, .critical, .key: "the proof is not a signed text of type dpop+jwt"
                case .signature: "the proof's signature does not match"
                case .claims: "the proof lacks jti, htm, htu or iat"
                }
            throw Self.invalid(reason)
        }
        guard (1...256).contains(id.utf8.count), abs(issued) < 1e12 else {
            throw Self.invalid("jti or iat of the proof is out of bounds")
        }
    }

    static func invalid(_ reason: String) -> OAuthError { OAuthError(.invalidDPoPProof, reason) }
}
