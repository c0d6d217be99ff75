import CordonBase
import CordonSignatures
import Crypto
import Foundation
import HTTPTypes

extension DevelopmentIdentityProvider {
    static let proofHeader = "DPoP"
    static let nonceHeader = "DPoP-Nonce"
    private static let nonceWindow: TimeInterval = 300
    private static let futureTolerance: TimeInterval = 60

    /// The thumbprint of the key that a request proves to hold; nil when it brings no proof.
    ///
    /// - Parameter accessToken: the token that the proof must name in `ath`, at a resource.
    func provenKey(
        _ request: ProviderRequest, at uri: String, accessToken: String? = nil
    ) throws(OAuthError) -> String? {
        guard let name = HTTPField.Name(Self.proofHeader) else { return nil }
        let fields = request.headers[values: name]
        guard let field = fields.first else { return nil }
        guard fields.count == 1 else { throw SignedProof.invalid("more than one DPoP header") }
        let proof = try SignedProof(provider: field)
        guard proof.method == request.method.rawValue else {
            throw SignedProof.invalid("htm of the proof is not the method of the request")
        }
        guard let address = URL(string: uri), proof.isFor(address) else {
            throw SignedProof.invalid("htu of the proof is not the address of the request")
        }
        let now = clock()
        let made = Date(timeIntervalSince1970: proof.issued)
        let expires = made.addingTimeInterval(seconds(\.proof))
        guard expires > now, made <= now.addingTimeInterval(Self.futureTolerance) else {
            throw SignedProof.invalid("the proof is too old, or the clock of its maker runs ahead")
        }
        if configuration.requiresProofNonce {
            guard let nonce = proof.nonce, [proofNonce(), proofNonce(windowsAgo: 1)].contains(nonce) else {
                throw OAuthError(.useDPoPNonce, "make the proof again with the nonce in DPoP-Nonce")
            }
        }
        if let accessToken {
            guard proof.tokenHash == SignedProof.tokenHash(accessToken) else {
                throw SignedProof.invalid("ath of the proof is not this token")
            }
        }
        let thumbprint = proof.key.thumbprint
        let key = Self.digest(thumbprint + "." + proof.id)
        guard seenProofs.value(key, at: now) == nil else {
            throw SignedProof.invalid("the proof was used before")
        }
        guard seenProofs.insertIfRoom(true, for: key, until: expires, at: now) else {
            throw OAuthError(.temporarilyUnavailable, "too many proofs at once", status: .serviceUnavailable)
        }
        return thumbprint
    }

    /// The nonce of the present window; it changes every five minutes and holds for ten.
    func proofNonce(windowsAgo: Int = 0) -> String {
        let window = Int(clock().timeIntervalSince1970 / Self.nonceWindow) - windowsAgo
        let code = HMAC<SHA256>.authenticationCode(for: Data("nonce.\(window)".utf8), using: nonceKey)
        return Base64URL.encode(Data(code).prefix(16))
    }
}
