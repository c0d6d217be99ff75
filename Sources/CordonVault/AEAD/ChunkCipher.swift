/// AES-256-GCM under one key: the one place where the vault meets a cipher implementation.
///
/// An implementation expands the key once, allocates nothing per call where it can avoid it, may be called from any
/// thread at a time, and on a failed ``open(_:into:nonce:tag:context:)`` leaves zeros in the output.
protocol ChunkCipher: AnyObject, Sendable {
    /// Expands a 32-byte key; nil when the implementation is not available or refuses.
    init?(key: UnsafeRawBufferPointer)

    /// Seals `plaintext` into `output` (as many bytes, may be the same memory); 12-byte nonce in, 16-byte tag out.
    func seal(
        _ plaintext: UnsafeRawBufferPointer, into output: UnsafeMutableRawPointer, nonce: UnsafeRawPointer,
        tag: UnsafeMutableRawPointer, context: UnsafeRawBufferPointer
    ) -> Bool

    /// Opens `ciphertext` into `output` (as many bytes, may be the same memory); false when anything was changed.
    func open(
        _ ciphertext: UnsafeRawBufferPointer, into output: UnsafeMutableRawPointer, nonce: UnsafeRawPointer,
        tag: UnsafeRawPointer, context: UnsafeRawBufferPointer
    ) -> Bool
}

/// Which implementation of the cipher to use; both give the same bytes.
enum CipherBackend: String, Sendable, CaseIterable {
    /// One context per key, straight to the AEAD that is linked anyway.
    case direct
    /// The public API of Crypto (CryptoKit on Apple platforms).
    case library

    /// The faster one that this build has.
    static let preferred: CipherBackend = DirectCipher.isAvailable ? .direct : .library

    /// A cipher for a 32-byte key; nil when the implementation refuses.
    func cipher(key: UnsafeRawBufferPointer) -> (any ChunkCipher)? {
        switch self {
        case .direct: DirectCipher(key: key)
        case .library: LibraryCipher(key: key)
        }
    }
}
