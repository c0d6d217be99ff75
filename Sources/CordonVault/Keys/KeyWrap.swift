internal import Crypto

/// A secret sealed under a key of its own: nonce (12), ciphertext and tag (16) at an offset of a record whose first bytes are
/// authenticated with it.
enum KeyWrap {
    /// What sealing adds to a secret.
    static let overhead = 28
    /// A wrapped key.
    static let size = 32 + overhead

    /// Seals a secret into the record; its first `context` bytes must be final.
    static func seal(
        _ secret: SecretBytes, under wrap: SecretBytes, into record: RawMemory, at offset: Int, context: Int
    ) throws(VaultError) {
        record.store(SecureRandom.bytes(12), at: offset)
        guard let base = record.bytes.baseAddress else { return }
        let done = wrap.withBytes { wrapBytes in
            secret.withBytes { bytes in
                CipherBackend.preferred.cipher(key: wrapBytes)?.seal(
                    bytes, into: base + offset + 12, nonce: base + offset, tag: base + offset + 12 + bytes.count,
                    context: UnsafeRawBufferPointer(record.slice(0, context))) ?? false
            } ?? false
        }
        guard done == true else { throw VaultError(.sealingFailed, "A key could not be wrapped.") }
    }

    /// The secret in a record; nil when record or wrapping key are not the ones it was sealed with.
    ///
    /// - Parameter count: The secret's length; 32, a key's, unless said otherwise.
    static func open(
        _ record: RawMemory, at offset: Int, context: Int, under wrap: SecretBytes, count: Int = 32
    ) throws(VaultError) -> SecretBytes? {
        guard let base = record.bytes.baseAddress else { return nil }
        var opened = false
        let secret = SecretBytes(count: count) { memory in
            guard let output = memory.baseAddress else { return }
            opened =
                wrap.withBytes { wrapBytes in
                    CipherBackend.preferred.cipher(key: wrapBytes)?.open(
                        UnsafeRawBufferPointer(record.slice(offset + 12, count)), into: output, nonce: base + offset,
                        tag: base + offset + 12 + count, context: UnsafeRawBufferPointer(record.slice(0, context)))
                        ?? false
                } ?? false
        }
        return opened ? secret : nil
    }

    /// A key derived from another for one purpose, by HKDF-SHA256.
    static func derive(from key: SecretBytes, salt: [UInt8], purpose: String) throws(VaultError) -> SecretBytes {
        guard let input = key.symmetricKey else { throw VaultError(.locked, "The key is no longer in memory.") }
        return SecretBytes(
            HKDF<SHA256>.deriveKey(
                inputKeyMaterial: input, salt: salt, info: Array(purpose.utf8), outputByteCount: 32))
    }
}
