import CordonProtocol
import Foundation

/// Checks the proof of possession of one request after the other, and remembers each (RFC 9449 §4.3).
struct ProofVerifier: Sendable {
    let nonces: ProofNonces
    private let replays: ReplayCache
    private let now: @Sendable () -> Date

    init(nonces: ProofNonces = ProofNonces(), now: @escaping @Sendable () -> Date) {
        self.nonces = nonces
        self.now = now
        // A proof may come as early as its tolerance before its time and as late as that after it.
        self.replays = ReplayCache(span: 2 * DPoPProof.tolerance + 1, now: now())
    }

    /// The proof, provided that it was made for this request and never seen before.
    ///
    /// - Parameters:
    ///   - url: The request's URL as clients see it.
    ///   - thumbprint: The key that must have made it.
    ///   - demandsNonce: Whether a nonce of this service must be in it.
    func verify(
        _ proofs: [String], method: String, url: URL, accessToken: String?, madeBy thumbprint: String,
        demandsNonce: Bool
    ) throws(ProofRefusal) -> DPoPProof {
        guard proofs.count == 1, proofs[0].utf8.count <= 8 << 10 else { throw .missing }
        let moment = now()
        let proof: DPoPProof
        do {
            proof = try DPoPProof(
                verifying: proofs[0], method: method, url: url, accessToken: accessToken, now: moment)
        } catch {
            throw .invalid(error.reason)
        }
        guard proof.key.thumbprint == thumbprint else { throw .invalid("the proof was made with another key") }
        if demandsNonce {
            guard let nonce = proof.nonce, nonces.accepts(nonce, at: moment) else { throw .needsNonce }
        }
        switch replays.remember(proof.id, key: thumbprint, at: moment) {
        case .fresh: return proof
        case .replayed: throw .replayed
        case .full: throw .busy
        }
    }
}
