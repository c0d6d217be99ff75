import Crypto
import Foundation

/// A P-256 public key as a JSON Web Key (RFC 7517, RFC 7518 §6.2).
struct ProviderPublicKey: Codable, Equatable, Sendable {
    var kty: String
    var crv: String
    var x: String
    var y: String
    /// Present only in what a caller must not send: a private key.
    var d: String?
    var kid: String?
    var alg: String?
    var use: String?

    init(_ key: P256.Signing.PublicKey) {
        let raw = key.rawRepresentation
        kty = "EC"
        crv = "P-256"
        x = ProviderBase64URL.encode(raw.prefix(32))
        y = ProviderBase64URL.encode(raw.suffix(32))
    }

    /// The key itself; nil when this is no point of the curve.
    var key: P256.Signing.PublicKey? {
        guard kty == "EC", crv == "P-256", let x = ProviderBase64URL.decode(x), let y = ProviderBase64URL.decode(y),
            x.count == 32, y.count == 32
        else { return nil }
        return try? P256.Signing.PublicKey(rawRepresentation: x + y)
    }

    /// The thumbprint of RFC 7638: SHA-256 over the required members in their one spelling.
    var thumbprint: String {
        let canonical = #"{"crv":"\#(crv)","kty":"\#(kty)","x":"\#(x)","y":"\#(y)"}"#
        return ProviderBase64URL.encode(Data(SHA256.hash(data: Data(canonical.utf8))))
    }
}
