package import Crypto
internal import Foundation

/// A text that looks like a signed one, hashed once: for telling whether it was verified before, and for verifying it.
///
/// Each text has its own ``digest``: what stands after the last dot begins with that dot, and what stands before it is hashed by
/// itself.
package struct HashedText: Sendable {
    /// The text.
    package let text: String
    /// What tells the text from every other.
    package let digest: SHA256Digest
    /// The SHA-256 of what is signed, where the text is a signed one.
    let signed: SHA256Digest

    /// Hashes a text.
    package init(_ text: String) {
        self.text = text
        let digests = text.utf8.withContiguousStorageIfAvailable(Self.digests(of:))
        (signed, digest) = digests ?? Array(text.utf8).withUnsafeBufferPointer(Self.digests(of:))
    }

    private static func digests(
        of letters: UnsafeBufferPointer<UInt8>
    ) -> (signed: SHA256Digest, digest: SHA256Digest) {
        let end = letters.lastIndex(of: UInt8(ascii: ".")) ?? letters.endIndex
        var hash = SHA256()
        hash.update(bufferPointer: UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(letters)[..<end]))
        let signed = hash.finalize()
        var whole = SHA256()
        signed.withUnsafeBytes { whole.update(bufferPointer: $0) }
        whole.update(bufferPointer: UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(letters)[end...]))
        return (signed, whole.finalize())
    }
}
