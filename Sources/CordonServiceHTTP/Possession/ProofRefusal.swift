import CordonProtocol

/// Why a proof of possession was refused.
enum ProofRefusal: Error, Equatable {
    /// No proof, or more than one, came with the request.
    case missing
    /// The proof is not valid for this request; the reason holds nothing of it.
    case invalid(String)
    /// The proof carries no nonce of this service, or an old one; the answer tells a fresh one (RFC 9449 §9).
    case needsNonce
    /// The proof was used before.
    case replayed
    /// Too many proofs are remembered, of this key or of all; better later than never.
    case busy
}
