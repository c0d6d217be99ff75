import CordonBase
import CordonSignatures
import Crypto
import Foundation
import HTTPTypes

/// Checks proofs of possession (RFC 9449), each good once.
struct ProofChecker: Sendable {
    private static let nonceWindow: TimeInterval = 300
    private static let futureTolerance: TimeInterval = 60

    private let environment: ProviderEnvironment
    private let nonceKey: SymmetricKey
    private var seen: ProviderBoundedTable<String, Bool>

    init(_ environment: ProviderEnvironment) {
        self.environment = environment
        nonceKey = SymmetricKey(data: environment.random(32))
        seen = .init(capacity: environment.configuration.capacity)
    }

    /// The thumbprint of the key that a request proves to hold; nil when it brings no proof.
    ///
    /// - Parameter accessToken: the token that the proof must name in `ath`, at a resource.
    mutating func provenKey(
        of request: ProviderRequest, at uri: String, accessToken: String? = nil
    ) throws(OAuthError) -> String? {
        let fields = request.headers[values: .dpop]
        guard let field = fields.first else { return nil }
        guard fields.count == 1 else { throw ProofOfPossession.invalid("more than one DPoP header") }
        let proof = try ProofOfPossession(provider: field)
        guard proof.method == request.method.rawValue else {
            throw ProofOfPossession.invalid("htm of the proof is not the method of the request")
        }
        guard let address = URL(string: uri), proof.isFor(address) else {
            throw ProofOfPossession.invalid("htu of the proof is not the address of the request")
        }
        let now = environment.now
        let made = Date(timeIntervalSince1970: proof.issued)
        let expires = made.addingTimeInterval(environment.seconds(\.proof))
        guard expires > now, made <= now.addingTimeInterval(Self.futureTolerance) else {
            throw ProofOfPossession.invalid("the proof is too old, or the clock of its maker runs ahead")
        }
        if environment.configuration.requiresProofNonce {
            guard let named = proof.nonce, [nonce(), nonce(windowsAgo: 1)].contains(named) else {
                throw OAuthError(.useDPoPNonce, "make the proof again with the nonce in DPoP-Nonce")
            }
        }
        if let accessToken {
            guard proof.tokenHash == ProofOfPossession.tokenHash(accessToken) else {
                throw ProofOfPossession.invalid("ath of the proof is not this token")
            }
        }
        let thumbprint = proof.key.thumbprint
        let key = ProviderEnvironment.digest(thumbprint + "." + proof.id)
        guard seen.value(key, at: now) == nil else { throw ProofOfPossession.invalid("the proof was used before") }
        guard seen.insertIfRoom(true, for: key, until: expires, at: now) else {
            throw OAuthError(.temporarilyUnavailable, "too many proofs at once", status: .serviceUnavailable)
        }
        return thumbprint
    }

    /// The nonce of the present window; it changes every five minutes and holds for ten.
    func nonce(windowsAgo: Int = 0) -> String {
        let window = Int(environment.now.timeIntervalSince1970 / Self.nonceWindow) - windowsAgo
        let code = HMAC<SHA256>.authenticationCode(for: Data("nonce.\(window)".utf8), using: nonceKey)
        return Base64URL.encode(Data(code).prefix(16))
    }
}
