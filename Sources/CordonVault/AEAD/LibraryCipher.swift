internal import Crypto
internal import Foundation

/// AES-256-GCM through Crypto's public API: the fallback, and the only one on Apple platforms.
final class LibraryCipher: ChunkCipher {
    private let key: SymmetricKey

    init?(key: UnsafeRawBufferPointer) {
        guard key.count == 32 else { return nil }
        self.key = SymmetricKey(data: key)
    }

    func seal(
        _ plaintext: UnsafeRawBufferPointer, into output: UnsafeMutableRawPointer, nonce: UnsafeRawPointer,
        tag: UnsafeMutableRawPointer, context: UnsafeRawBufferPointer
    ) -> Bool {
        guard let nonce = try? AES.GCM.Nonce(data: UnsafeRawBufferPointer(start: nonce, count: 12)),
            let box = try? AES.GCM.seal(plaintext, using: key, nonce: nonce, authenticating: context)
        else { return false }
        box.ciphertext.copyBytes(to: UnsafeMutableRawBufferPointer(start: output, count: plaintext.count))
        box.tag.copyBytes(to: UnsafeMutableRawBufferPointer(start: tag, count: 16))
        return true
    }

    func open(
        _ ciphertext: UnsafeRawBufferPointer, into output: UnsafeMutableRawPointer, nonce: UnsafeRawPointer,
        tag: UnsafeRawPointer, context: UnsafeRawBufferPointer
    ) -> Bool {
        let result = UnsafeMutableRawBufferPointer(start: output, count: ciphertext.count)
        guard let nonce = try? AES.GCM.Nonce(data: UnsafeRawBufferPointer(start: nonce, count: 12)),
            let box = try? AES.GCM.SealedBox(
                nonce: nonce, ciphertext: ciphertext, tag: UnsafeRawBufferPointer(start: tag, count: 16)),
            var plaintext = try? AES.GCM.open(box, using: key, authenticating: context)
        else {
            result.initializeMemory(as: UInt8.self, repeating: 0)
            return false
        }
        plaintext.copyBytes(to: result)
        plaintext.resetBytes(in: plaintext.startIndex..<plaintext.endIndex)
        return true
    }
}
