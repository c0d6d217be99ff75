internal import CordonBase
import CordonProtocol
import Crypto
import CryptoExtras
public import Foundation

/// A public RSA key with which a client signs who it is, as clients with a certificate do (RFC 7517, RFC 7518 §6.3).
public struct RSAClientKey: Sendable, Equatable, Codable {
    /// The fewest bits of a key (RFC 7518 §3.3).
    public static let fewestBits = 2_048

    /// The modulus, big-endian.
    public let modulus: Data
    /// The exponent, big-endian.
    public let exponent: Data
    /// The key id, nil where none was given.
    public let keyID: String?

    private enum Member: String, CodingKey {
        case kty, n, e, kid, d, use
    }

    /// Makes a key.
    ///
    /// - Throws: ``IdentityProviderError`` with code `configurationInvalid` when it is no RSA key of at least ``fewestBits``.
    public init(modulus: Data, exponent: Data, keyID: String? = nil) throws(IdentityProviderError) {
        self.modulus = Data(modulus.drop { $0 == 0 })
        self.exponent = exponent
        self.keyID = keyID
        guard let key, key.keySizeInBits >= Self.fewestBits else {
            throw IdentityProviderError(
                .configurationInvalid, reason: "the key is no RSA key of \(Self.fewestBits) bits or more",
                place: "keys",
                hint: "make a longer key")
        }
    }

    /// Reads a JWK; a short key, or one with its private half, is refused.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Member.self)
        guard try members.decode(String.self, forKey: .kty) == "RSA", !members.contains(.d),
            let n = Base64URL.decode(try members.decode(String.self, forKey: .n)),
            let e = Base64URL.decode(try members.decode(String.self, forKey: .e))
        else {
            throw DecodingError.dataCorruptedError(
                forKey: .kty, in: members, debugDescription: "the key is not a public RSA key")
        }
        try self.init(modulus: n, exponent: e, keyID: try members.decodeIfPresent(String.self, forKey: .kid))
    }

    /// Writes the public members of a JWK.
    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: Member.self)
        try members.encode("RSA", forKey: .kty)
        try members.encode(Base64URL.encode(modulus), forKey: .n)
        try members.encode(Base64URL.encode(exponent), forKey: .e)
        try members.encodeIfPresent(keyID, forKey: .kid)
        try members.encode("sig", forKey: .use)
    }

    /// How a signature is padded.
    enum Padding: String {
        case rs256 = "RS256"
        case ps256 = "PS256"
    }

    /// Whether the signature over the bytes was made with this key.
    func isValidSignature(_ signature: Data, for bytes: Data, padding: Padding) -> Bool {
        key?.isValidSignature(
            _RSA.Signing.RSASignature(rawRepresentation: signature), for: SHA256.hash(data: bytes),
            padding: padding == .ps256 ? .PSS : .insecurePKCS1v1_5) ?? false
    }

    private var key: _RSA.Signing.PublicKey? { try? _RSA.Signing.PublicKey(n: modulus, e: exponent) }
}
