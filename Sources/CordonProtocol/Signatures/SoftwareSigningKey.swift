internal import CordonSignatures
internal import Crypto
public import Foundation

/// A private P-256 key held in this process's memory.
///
/// Its description is redacted. ``rawRepresentation`` is the secret itself: hand it to a key store only.
public struct SoftwareSigningKey: MessageSigner, CustomStringConvertible {
    private let key: P256.Signing.PrivateKey
    /// The public half.
    public let publicKey: JSONWebKey

    /// Makes a new random key.
    public init() {
        self.init(P256.Signing.PrivateKey())
    }

    /// Restores a key from its 32-byte secret.
    ///
    /// - Throws: ``ProtocolError`` with code `malformed` when the bytes are no P-256 secret.
    public init(rawRepresentation: Data) throws(ProtocolError) {
        let key: P256.Signing.PrivateKey
        do {
            key = try P256.Signing.PrivateKey(rawRepresentation: rawRepresentation)
        } catch {
            throw ProtocolError(.malformed, "the stored key is not a P-256 secret")
        }
        self.init(key)
    }

    private init(_ key: P256.Signing.PrivateKey) {
        self.key = key
        self.publicKey = JSONWebKey(P256PublicKey(key.publicKey))
    }

    /// The 32-byte secret.
    public var rawRepresentation: Data { key.rawRepresentation }

    /// The 64-byte ES256 signature over the bytes.
    public func signature(for bytes: Data) throws(ProtocolError) -> Data {
        do {
            return try key.signature(for: bytes).rawRepresentation
        } catch {
            throw ProtocolError(.signingFailed, "the software key could not sign")
        }
    }

    /// The key id only.
    public var description: String { "SoftwareSigningKey(\(publicKey.keyID), secret redacted)" }
}
