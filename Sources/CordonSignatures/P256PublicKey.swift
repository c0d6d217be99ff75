internal import CordonBase
package import Crypto
package import Foundation

/// A public P-256 key, checked to be a point of the curve and parsed once.
package struct P256PublicKey: Sendable, Hashable {
    /// The affine x coordinate, 32 bytes.
    package let x: Data
    /// The affine y coordinate, 32 bytes.
    package let y: Data
    /// The key id; the thumbprint where none was given.
    package let id: String
    /// The SHA-256 thumbprint, base64url (RFC 7638); made once, because every request asks for it several times.
    package let thumbprint: String
    /// What verifies with it.
    package let verification: VerificationKey

    /// Takes a key as the cryptography has it.
    package init(_ key: P256.Signing.PublicKey, id: String? = nil) {
        self.init(key, point: key.rawRepresentation, id: id)
    }

    private init(_ key: P256.Signing.PublicKey, point: Data, id: String?) {
        x = Data(point.prefix(32))
        y = Data(point.suffix(32))
        thumbprint = Self.thumbprint(x: x, y: y)
        self.id = id ?? thumbprint
        verification = VerificationKey(key, id: self.id)
    }

    /// Takes an uncompressed point without its leading byte; nil when it is not one of the curve.
    package init?(point: Data, id: String? = nil) {
        guard point.count == 64, let key = try? P256.Signing.PublicKey(rawRepresentation: point) else { return nil }
        self.init(key, point: point, id: id)
    }

    /// Takes a JWK; nil for every other kind of key, for one with its private half (RFC 9449 §4.3), and for numbers that are not
    /// canonical base64url of 32 bytes.
    package init?(_ jwk: JWK) {
        guard jwk.kind == "EC", jwk.curve == "P-256", !jwk.hasPrivateHalf,
            let x = jwk.number(.x), x.count == 32, let y = jwk.number(.y), y.count == 32
        else { return nil }
        self.init(point: x + y, id: jwk.id)
    }

    private static func thumbprint(x: Data, y: Data) -> String {
        let canonical =
            #"{"crv":"P-256","kty":"EC","x":"\#(Base64URL.encode(x))","y":"\#(Base64URL.encode(y))"}"#
        return Base64URL.encode(SHA256.hash(data: Array(canonical.utf8)).withUnsafeBytes { Data($0) })
    }

    /// Whether both are one key under one id.
    package static func == (left: Self, right: Self) -> Bool {
        left.x == right.x && left.y == right.y && left.id == right.id
    }

    /// Hashes what equality compares.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(x)
        hasher.combine(y)
        hasher.combine(id)
    }
}
