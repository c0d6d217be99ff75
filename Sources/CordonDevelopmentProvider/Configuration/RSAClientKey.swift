internal import CordonBase
public import CordonProtocol
import CordonSignatures
public import Foundation

/// A public RSA key with which a client signs who it is, as clients with a certificate do (RFC 7517, RFC 7518 §6.3).
public struct RSAClientKey: Sendable, Equatable, Codable {
    /// The fewest bits of a key (RFC 7518 §3.3).
    public static let fewestBits = VerificationKey.fewestRSABits

    /// The modulus, big-endian.
    public let modulus: Data
    /// The exponent, big-endian.
    public let exponent: Data
    /// The key id, nil where none was given.
    public let keyID: String?
    /// What verifies with it.
    let verification: VerificationKey

    private enum Member: String, CodingKey {
        case kty, n, e, kid, use
    }

    /// Makes a key.
    ///
    /// - Throws: ``ProgramError`` with code `configurationInvalid` when it is no RSA key of at least ``fewestBits``.
    public init(modulus: Data, exponent: Data, keyID: String? = nil) throws(ProgramError) {
        let modulus = Data(modulus.drop { $0 == 0 })
        guard let key = VerificationKey(modulus: modulus, exponent: exponent, id: keyID) else {
            throw ProgramError(
                .configurationInvalid, reason: "the key is not an RSA key of \(Self.fewestBits) bits or more",
                place: "keys",
                hint: "make a longer key")
        }
        self.modulus = modulus
        self.exponent = exponent
        self.keyID = keyID
        self.verification = key
    }

    /// Whether both have the same numbers and the same id.
    public static func == (left: Self, right: Self) -> Bool {
        left.modulus == right.modulus && left.exponent == right.exponent && left.keyID == right.keyID
    }

    /// Reads a JWK; a short key, or one with its private half, is refused.
    public init(from decoder: any Decoder) throws {
        let key = try JWK(from: decoder)
        guard key.kind == "RSA", !key.hasPrivateHalf, let modulus = key.number(.n), let exponent = key.number(.e) else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "the key is not a public RSA key"))
        }
        try self.init(modulus: modulus, exponent: exponent, keyID: key.id)
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
}
