internal import CordonAEADShim

/// The AEAD inside swift-crypto, with the key schedule and hash table built once per key.
final class DirectCipher: ChunkCipher {
    /// Whether this build links the functions.
    static var isAvailable: Bool { cordon_aead_is_available() == 1 }

    // Immutable after init and safe for concurrent use by its own contract, hence the opt-out. Not private, so that a test can ask
    // whether the pages behind it are locked.
    nonisolated(unsafe) let expanded: OpaquePointer

    init?(key: UnsafeRawBufferPointer) {
        guard key.count == 32, let bytes = key.baseAddress?.assumingMemoryBound(to: UInt8.self),
            let expanded = cordon_aead_new(bytes)
        else { return nil }
        self.expanded = expanded
    }

    deinit { cordon_aead_free(expanded) }

    func seal(
        _ plaintext: UnsafeRawBufferPointer, into output: UnsafeMutableRawPointer, nonce: UnsafeRawPointer,
        tag: UnsafeMutableRawPointer, context: UnsafeRawBufferPointer
    ) -> Bool {
        cordon_aead_seal(
            expanded, output.assumingMemoryBound(to: UInt8.self), tag.assumingMemoryBound(to: UInt8.self),
            nonce.assumingMemoryBound(to: UInt8.self), plaintext.baseAddress?.assumingMemoryBound(to: UInt8.self),
            plaintext.count, context.baseAddress?.assumingMemoryBound(to: UInt8.self), context.count) == 1
    }

    func open(
        _ ciphertext: UnsafeRawBufferPointer, into output: UnsafeMutableRawPointer, nonce: UnsafeRawPointer,
        tag: UnsafeRawPointer, context: UnsafeRawBufferPointer
    ) -> Bool {
        cordon_aead_open(
            expanded, output.assumingMemoryBound(to: UInt8.self), tag.assumingMemoryBound(to: UInt8.self),
            nonce.assumingMemoryBound(to: UInt8.self), ciphertext.baseAddress?.assumingMemoryBound(to: UInt8.self),
            ciphertext.count, context.baseAddress?.assumingMemoryBound(to: UInt8.self), context.count) == 1
    }
}
