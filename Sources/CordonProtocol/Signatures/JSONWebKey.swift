internal import CordonBase
package import CordonPolicy
package import CordonSignatures
public import Foundation

/// A public P-256 key in JWK form (RFC 7517); the only kind of key Cordon's own messages are signed with.
public struct JSONWebKey: Sendable, Hashable {
    private let key: P256PublicKey

    /// The affine x coordinate, 32 bytes.
    public var x: Data { key.x }
    /// The affine y coordinate, 32 bytes.
    public var y: Data { key.y }
    /// The key id; ``thumbprint`` where none was given.
    public var keyID: String { key.id }
    /// What verifies with it.
    package var verification: VerificationKey { key.verification }

    /// Makes a key from an uncompressed point without its leading byte: 64 bytes, x then y.
    ///
    /// - Throws: ``ProtocolError`` with code `malformed` when the point is not on the curve.
    public init(point: Data, keyID: String? = nil) throws(ProtocolError) {
        guard let key = P256PublicKey(point: point, id: keyID) else {
            throw ProtocolError(.malformed, "the key is not a point of P-256")
        }
        self.key = key
    }

    init(_ key: P256PublicKey) { self.key = key }

    /// The SHA-256 thumbprint of the key, base64url (RFC 7638).
    public var thumbprint: String { key.thumbprint }

    /// Whether the 64-byte signature over the bytes was made with this key (ES256, RFC 7518 §3.4).
    public func isValidSignature(_ signature: Data, for bytes: some DataProtocol) -> Bool {
        verification.isValid(signature, for: bytes, by: .es256)
    }
}

extension JSONWebKey: Codable {
    private enum Member: String, CodingKey {
        case kty, crv, x, y, kid, use, alg
    }

    /// Reads a JWK; anything but an EC P-256 public key is refused, also one with its private half (RFC 9449 §4.3).
    public init(from decoder: any Decoder) throws {
        guard let key = P256PublicKey(try JWK(from: decoder)) else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "is not an EC P-256 public key alone"))
        }
        self.init(key)
    }

    /// Writes the public members of a JWK.
    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: Member.self)
        try members.encode("EC", forKey: .kty)
        try members.encode("P-256", forKey: .crv)
        try members.encode(Base64URL.encode(x), forKey: .x)
        try members.encode(Base64URL.encode(y), forKey: .y)
        try members.encode(keyID, forKey: .kid)
        try members.encode("sig", forKey: .use)
        try members.encode("ES256", forKey: .alg)
    }
}

extension JSONWebKey: JSONReadable {
    /// Reads a JWK, and refuses what the decoder refuses.
    package init(_ members: JSONMembers) throws(PolicyError) {
        for name in ["alg", "use", "n", "e"] { _ = try members.optionalText(name) }
        guard try members.text(Member.kty.rawValue) == "EC",
            try members.optionalText(Member.crv.rawValue) == "P-256", !members.holds("d"),
            let x = try members.optionalText(Member.x.rawValue).flatMap({ Base64URL.decode($0) }), x.count == 32,
            let y = try members.optionalText(Member.y.rawValue).flatMap({ Base64URL.decode($0) }), y.count == 32,
            let key = P256PublicKey(point: x + y, id: try members.optionalText(Member.kid.rawValue))
        else { throw PolicyError(.invalidValue, "is not an EC P-256 public key alone", at: "") }
        self.init(key)
    }
}
