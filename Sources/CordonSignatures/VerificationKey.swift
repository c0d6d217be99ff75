internal import Crypto
internal import CryptoExtras
package import Foundation

/// A public key that signatures are verified with, parsed once.
package struct VerificationKey: Sendable {
    private enum Material: Sendable {
        case p256(P256.Signing.PublicKey)
        case p384(P384.Signing.PublicKey)
        case p521(P521.Signing.PublicKey)
        case ed25519(Curve25519.Signing.PublicKey)
        case rsa(_RSA.Signing.PublicKey)
    }

    /// The fewest bits of an RSA key (RFC 7518 §3.3).
    package static let fewestRSABits = 2_048

    /// The key id, nil where none was given.
    package let id: String?
    /// The one algorithm that the key itself allows, nil for every one of its kind.
    private let stated: SignatureAlgorithm?
    private let material: Material

    /// Reads a key of another party; nil for an unknown kind, for another use than signatures, and for numbers that are no key.
    package init?(_ jwk: JWK) {
        guard jwk.use ?? "sig" == "sig" else { return nil }
        func point() -> Data? {
            guard let x = jwk.tolerantNumber(.x), let y = jwk.tolerantNumber(.y), x.count == y.count else { return nil }
            return x + y
        }
        let material: Material?
        switch (jwk.kind, jwk.curve) {
        case ("EC", "P-256"):
            material = point().flatMap { try? P256.Signing.PublicKey(rawRepresentation: $0) }.map(Material.p256)
        case ("EC", "P-384"):
            material = point().flatMap { try? P384.Signing.PublicKey(rawRepresentation: $0) }.map(Material.p384)
        case ("EC", "P-521"):
            material = point().flatMap { try? P521.Signing.PublicKey(rawRepresentation: $0) }.map(Material.p521)
        case ("OKP", "Ed25519"):
            material = jwk.tolerantNumber(.x).flatMap { try? Curve25519.Signing.PublicKey(rawRepresentation: $0) }
                .map(Material.ed25519)
        case ("RSA", _):
            guard let modulus = jwk.tolerantNumber(.n), let exponent = jwk.tolerantNumber(.e) else { return nil }
            material = Self.rsa(modulus, exponent)
        default: material = nil
        }
        guard let material else { return nil }
        // A key for an algorithm that is not known here verifies nothing.
        let stated = jwk.algorithm.map(SignatureAlgorithm.init(named:))
        if case .some(nil) = stated { return nil }
        self.id = jwk.id
        self.stated = stated ?? nil
        self.material = material
    }

    /// Makes an RSA key from its numbers; nil when they are no key of at least ``fewestRSABits``.
    package init?(modulus: Data, exponent: Data, id: String?) {
        guard let material = Self.rsa(modulus, exponent) else { return nil }
        self.id = id
        self.stated = nil
        self.material = material
    }

    init(_ key: P256.Signing.PublicKey, id: String?) {
        self.id = id
        self.stated = nil
        self.material = .p256(key)
    }

    private static func rsa(_ modulus: Data, _ exponent: Data) -> Material? {
        guard let key = try? _RSA.Signing.PublicKey(n: modulus, e: exponent), key.keySizeInBits >= fewestRSABits
        else { return nil }
        return .rsa(key)
    }

    /// Whether signatures of this algorithm can be verified with the key (RFC 8725 §3.1).
    package func accepts(_ algorithm: SignatureAlgorithm) -> Bool {
        guard stated ?? algorithm == algorithm else { return false }
        return switch material {
        case .p256: algorithm == .es256
        case .p384: algorithm == .es384
        case .p521: algorithm == .es512
        case .ed25519: algorithm == .edDSA
        case .rsa: [.rs256, .rs384, .rs512, .ps256, .ps384, .ps512].contains(algorithm)
        }
    }

    /// Whether the signature over bytes with this digest was made with this key and algorithm, one of those over SHA-256.
    func isValid(_ signature: Data, forDigest digest: SHA256Digest, by algorithm: SignatureAlgorithm) -> Bool {
        guard accepts(algorithm) else { return false }
        switch (material, algorithm) {
        case (.p256(let key), .es256):
            guard let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature) else { return false }
            return key.isValidSignature(signature, for: digest)
        case (.rsa(let key), .rs256):
            let signature = _RSA.Signing.RSASignature(rawRepresentation: signature)
            return key.isValidSignature(signature, for: digest, padding: .insecurePKCS1v1_5)
        case (.rsa(let key), .ps256):
            let signature = _RSA.Signing.RSASignature(rawRepresentation: signature)
            return key.isValidSignature(signature, for: digest, padding: .PSS)
        default: return false
        }
    }

    /// Whether the signature over the bytes was made with this key and algorithm (RFC 7518 §3, RFC 8037 §3.1).
    package func isValid(_ signature: Data, for bytes: some DataProtocol, by algorithm: SignatureAlgorithm) -> Bool {
        guard accepts(algorithm) else { return false }
        switch material {
        case .p256(let key):
            guard let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature) else { return false }
            return key.isValidSignature(signature, for: bytes)
        case .p384(let key):
            guard let signature = try? P384.Signing.ECDSASignature(rawRepresentation: signature) else { return false }
            return key.isValidSignature(signature, for: bytes)
        case .p521(let key):
            guard let signature = try? P521.Signing.ECDSASignature(rawRepresentation: signature) else { return false }
            return key.isValidSignature(signature, for: bytes)
        case .ed25519(let key): return key.isValidSignature(signature, for: bytes)
        case .rsa(let key):
            let signature = _RSA.Signing.RSASignature(rawRepresentation: signature)
            return switch algorithm {
            case .rs256:
                key.isValidSignature(signature, for: SHA256.hash(data: bytes), padding: .insecurePKCS1v1_5)
            case .rs384:
                key.isValidSignature(signature, for: SHA384.hash(data: bytes), padding: .insecurePKCS1v1_5)
            case .rs512:
                key.isValidSignature(signature, for: SHA512.hash(data: bytes), padding: .insecurePKCS1v1_5)
            case .ps256: key.isValidSignature(signature, for: SHA256.hash(data: bytes), padding: .PSS)
            case .ps384: key.isValidSignature(signature, for: SHA384.hash(data: bytes), padding: .PSS)
            case .ps512: key.isValidSignature(signature, for: SHA512.hash(data: bytes), padding: .PSS)
            default: false
            }
        }
    }
}
