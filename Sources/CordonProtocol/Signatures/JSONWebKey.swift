internal import CordonBase
internal import Crypto
public import Foundation

/// A public P-256 key in JWK form (RFC 7517); the only kind of key Cordon's own messages are signed with.
public struct JSONWebKey: Sendable, Hashable, Codable {
    /// The affine x coordinate, 32 bytes.
    public let x: Data
    /// The affine y coordinate, 32 bytes.
    public let y: Data
    /// The key id; ``thumbprint`` where none was given.
    public let keyID: String

    /// Makes a key from an uncompressed point without its leading byte: 64 bytes, x then y.
    ///
    /// - Throws: ``ProtocolError`` with code `malformed` when the point is not on the curve.
    public init(point: Data, keyID: String? = nil) throws(ProtocolError) {
        guard point.count == 64, (try? P256.Signing.PublicKey(rawRepresentation: point)) != nil else {
            throw ProtocolError(.malformed, "the key is not a point of P-256")
        }
        self.x = Data(point.prefix(32))
        self.y = Data(point.suffix(32))
        self.keyID = keyID ?? Self.thumbprint(x: x, y: y)
    }

    init(_ key: P256.Signing.PublicKey) {
        let point = key.rawRepresentation
        self.x = Data(point.prefix(32))
        self.y = Data(point.suffix(32))
        self.keyID = Self.thumbprint(x: x, y: y)
    }

    /// The SHA-256 thumbprint of the key, base64url (RFC 7638).
    public var thumbprint: String { Self.thumbprint(x: x, y: y) }

    /// Whether the 64-byte signature over the bytes was made with this key (ES256, RFC 7518 §3.4).
    public func isValidSignature(_ signature: Data, for bytes: some DataProtocol) -> Bool {
        guard let key = try? P256.Signing.PublicKey(rawRepresentation: x + y),
            let parsed = try? P256.Signing.ECDSASignature(rawRepresentation: signature)
        else { return false }
        return key.isValidSignature(parsed, for: bytes)
    }

    private static func thumbprint(x: Data, y: Data) -> String {
        let canonical =
            #"{"crv":"P-256","kty":"EC","x":"\#(Base64URL.encode(x))","y":"\#(Base64URL.encode(y))"}"#
        return Base64URL.encode(SHA256.hash(data: Data(canonical.utf8)).withUnsafeBytes { Data($0) })
    }
}

extension JSONWebKey {
    private enum Member: String, CodingKey {
        case kty, crv, x, y, kid, use, alg, d
    }

    /// Reads a JWK; anything but an EC P-256 public key is refused, also one with its private half (RFC 9449 §4.3).
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Member.self)
        guard try members.decode(String.self, forKey: .kty) == "EC",
            try members.decode(String.self, forKey: .crv) == "P-256",
            let x = Base64URL.decode(try members.decode(String.self, forKey: .x)), x.count == 32,
            let y = Base64URL.decode(try members.decode(String.self, forKey: .y)), y.count == 32
        else { throw ProtocolError(.unsupported, "the key is not an EC P-256 public key") }
        guard !members.contains(.d) else { throw ProtocolError(.unsupported, "the key gives away its private half") }
        try self.init(point: x + y, keyID: try members.decodeIfPresent(String.self, forKey: .kid))
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
