public import Foundation

/// A private P-256 key that signs messages; where it lives is its own affair (software, Secure Enclave).
public protocol MessageSigner: Sendable {
    /// The public half.
    var publicKey: JSONWebKey { get }

    /// The 64-byte ES256 signature over the bytes (RFC 7518 §3.4).
    ///
    /// - Throws: ``ProtocolError`` with code `signingFailed` when the key is not available now; with another one where it is gone for
    ///   good, or signs no such bytes.
    func signature(for bytes: Data) throws(ProtocolError) -> Data
}
