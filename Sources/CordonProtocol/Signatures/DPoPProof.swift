internal import CordonBase
internal import CordonSignatures
public import Foundation

/// A proof that the sender of one HTTP request holds a key (RFC 9449).
public struct DPoPProof: Sendable, Equatable {
    /// The proof's own id, to be remembered by the receiver until the proof is too old.
    public let id: String
    /// The key that signed.
    public let key: JSONWebKey
    /// When the proof was made.
    public let issued: Date
    /// The nonce that the server had asked for, nil when the proof carries none.
    public let nonce: String?
    /// The digest of the request's body (``bodyDigest(_:)``), nil where the proof names none, as those of older apps do.
    public let bodyDigest: String?

    /// How far a proof may lie in the past or future of the receiver's clock (RFC 9449 §11.1).
    public static let tolerance: TimeInterval = 60

    private struct Claims: Encodable {
        var jti: String
        var htm: String
        var htu: String
        var iat: Int64
        var ath: String?
        var nonce: String?
        var bodyDigest: String?
    }

    /// Makes a proof for one request.
    ///
    /// - Parameters:
    ///   - method: The request's method, upper case.
    ///   - url: The request's URL; query and fragment are left out of the proof.
    ///   - accessToken: The token sent with the request, bound by its hash; nil at a token endpoint.
    ///   - nonce: The nonce that the server asked for.
    ///   - body: The request's body, bound by its digest: what was changed on the way is refused. Nil names none, as at a provider.
    ///   - id: A random id, never used twice with this key.
    /// - Throws: ``ProtocolError`` when the key cannot sign.
    public static func make(
        method: String, url: URL, accessToken: String? = nil, nonce: String? = nil, body: Data? = nil, issued: Date,
        id: String = UUID().uuidString, signer: some MessageSigner
    ) throws(ProtocolError) -> String {
        let claims = Claims(
            jti: id, htm: method, htu: ProofOfPossession.target(url), iat: Int64(issued.timeIntervalSince1970),
            ath: accessToken.map(tokenHash), nonce: nonce, bodyDigest: body.map(bodyDigest))
        return try CompactJWS.sign(
            try MessageCoding.encode(claims), type: .proofOfPossession, with: signer, embedsKey: true)
    }

    /// Checks a proof against the request it came with; remembering ``id`` against replay, and comparing ``bodyDigest`` with the body that
    /// is read afterwards, is the caller's part.
    ///
    /// - Parameters:
    ///   - url: The URL as the client saw it, with scheme and host.
    ///   - accessToken: The token that came with the request, nil at a token endpoint.
    /// - Throws: ``ProtocolError`` saying which check failed.
    public init(
        verifying text: String, method: String, url: URL, accessToken: String?, now: Date
    ) throws(ProtocolError) {
        try self.init(
            verifying: text, method: method, address: url.absoluteString, accessToken: accessToken, now: now)
    }

    /// Checks a proof against the request it came with, whose address was not taken apart.
    ///
    /// - Throws: ``ProtocolError`` saying which check failed.
    package init(
        verifying text: String, method: String, address: String, accessToken: String?, now: Date
    ) throws(ProtocolError) {
        let proof: ProofOfPossession
        do { proof = try ProofOfPossession(text) } catch { throw ProtocolError(error, .proofOfPossession) }
        guard let seconds = Int64(exactly: proof.issued) else {
            throw ProtocolError(TextFlaw(.claims), .proofOfPossession)
        }
        guard proof.method == method, proof.isFor(address: address) else {
            throw ProtocolError(.wrongRecipient, "the proof was made for another request")
        }
        guard proof.tokenHash == accessToken.map(Self.tokenHash) else {
            throw ProtocolError(.wrongRecipient, "the proof was made for another access token")
        }
        let issued = Date(timeIntervalSince1970: TimeInterval(seconds))
        guard abs(issued.timeIntervalSince(now)) <= Self.tolerance else {
            throw ProtocolError(.expired, "the proof is older or newer than \(Int(Self.tolerance)) s")
        }
        guard !proof.id.isEmpty, proof.id.utf8.count <= 128 else {
            throw ProtocolError(.malformed, "the proof's id is empty or too long")
        }
        self.id = proof.id
        self.key = JSONWebKey(proof.key)
        self.issued = issued
        self.nonce = proof.nonce
        self.bodyDigest = proof.bodyDigest
    }

    /// The hash by which a proof or a token names an access token, base64url (RFC 9449 §4.2).
    public static func tokenHash(_ token: String) -> String { ProofOfPossession.tokenHash(token) }

    /// The digest by which a proof names a request's body: the SHA-256 of its bytes before they are packed, base64url.
    public static func bodyDigest(_ body: Data) -> String { ProofOfPossession.bodyDigest(body) }
}
