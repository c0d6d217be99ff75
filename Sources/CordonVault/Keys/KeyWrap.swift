internal import Crypto

/// A 32-byte key sealed under another: nonce (12), ciphertext (32) and tag (16) at an offset of a record whose first
/// bytes are authenticated with it.
enum KeyWrap {
    static let size = 60

    /// Seals a key into the record; its first `context` bytes must be final.
    static func seal(
        _ key: SecretBytes, under wrap: SecretBytes, into record: RawMemory, at offset: Int, context: Int
    ) throws(VaultError) {
        record.store(SecureRandom.bytes(12), at: offset)
        guard let base = record.bytes.baseAddress else { return }
        let done = wrap.withBytes { wrapBytes in
            key.withBytes { keyBytes in
                CipherBackend.preferred.cipher(key: wrapBytes)?.seal(
                    keyBytes, into: base + offset + 12, nonce: base + offset, tag: base + offset + 44,
                    context: UnsafeRawBufferPointer(record.slice(0, context))) ?? false
            } ?? false
        }
        guard done == true else { throw VaultError(.sealingFailed, "A key could not be wrapped.") }
    }

    /// The key in a record; nil when record or wrapping key are not the ones it was sealed with.
    static func open(
        _ record: RawMemory, at offset: Int, context: Int, under wrap: SecretBytes
    ) throws(VaultError) -> SecretBytes? {
        guard let base = record.bytes.baseAddress else { return nil }
        var opened = false
        let key = SecretBytes(count: 32) { memory in
            guard let output = memory.baseAddress else { return }
            opened =
                wrap.withBytes { wrapBytes in
                    CipherBackend.preferred.cipher(key: wrapBytes)?.open(
                        UnsafeRawBufferPointer(record.slice(offset + 12, 32)), into: output, nonce: base + offset,
                        tag: base + offset + 44, context: UnsafeRawBufferPointer(record.slice(0, context))) ?? false
                } ?? false
        }
        return opened ? key : nil
    }

    /// A key derived from another for one purpose, by HKDF-SHA256.
    static func derive(from key: SecretBytes, salt: [UInt8], purpose: String) throws(VaultError) -> SecretBytes {
        guard let input = key.symmetricKey else { throw VaultError(.locked, "The key is no longer in memory.") }
        return SecretBytes(
            HKDF<SHA256>.deriveKey(
                inputKeyMaterial: input, salt: salt, info: Array(purpose.utf8), outputByteCount: 32))
    }
}
