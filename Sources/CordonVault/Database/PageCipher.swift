/// The library's cipher for the pages of databases, where the direct one is missing.
package final class PageCipher: Sendable {
    /// Whether this build links the faster implementation.
    package static var isDirectAvailable: Bool { DirectCipher.isAvailable }

    private let cipher: LibraryCipher

    /// Expands a 32-byte key; nil when it is refused.
    package init?(key: UnsafeRawBufferPointer) {
        guard let cipher = LibraryCipher(key: key) else { return nil }
        self.cipher = cipher
    }

    /// Seals into memory of the same size; 12-byte nonce in, 16-byte tag out.
    package func seal(
        _ plaintext: UnsafeRawBufferPointer, into output: UnsafeMutableRawPointer, nonce: UnsafeRawPointer,
        tag: UnsafeMutableRawPointer, context: UnsafeRawBufferPointer
    ) -> Bool {
        cipher.seal(plaintext, into: output, nonce: nonce, tag: tag, context: context)
    }

    /// Opens into memory of the same size; false and zeros when anything was changed.
    package func open(
        _ ciphertext: UnsafeRawBufferPointer, into output: UnsafeMutableRawPointer, nonce: UnsafeRawPointer,
        tag: UnsafeRawPointer, context: UnsafeRawBufferPointer
    ) -> Bool {
        cipher.open(ciphertext, into: output, nonce: nonce, tag: tag, context: context)
    }
}
