internal import Crypto
internal import Foundation

/// A text that looks like a signed one, hashed once: for telling whether it was verified before, and for verifying it.
package struct HashedText: Sendable {
    /// What tells a text from every other: the hash of what stands before the last dot, and what stands after that, as it is.
    package struct Mark: Sendable, Hashable {
        fileprivate let signed: SHA256Digest
        /// As bytes: texts count as equal also where their bytes differ.
        private let end: [UInt8]

        fileprivate init(letters: UnsafeBufferPointer<UInt8>) {
            let end = letters.lastIndex(of: UInt8(ascii: ".")) ?? letters.endIndex
            var hash = SHA256()
            hash.update(bufferPointer: UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: letters[..<end])))
            signed = hash.finalize()
            self.end = Array(letters[end...])
        }

        package func hash(into hasher: inout Hasher) { hasher.combine(signed) }
    }

    /// The text.
    package let text: String
    /// What tells the text from every other.
    package let mark: Mark
    /// The SHA-256 of what is signed, where the text is a signed one.
    var signed: SHA256Digest { mark.signed }

    /// Hashes a text.
    package init(_ text: String) {
        self.text = text
        mark =
            text.utf8.withContiguousStorageIfAvailable(Mark.init(letters:))
            ?? Array(text.utf8).withUnsafeBufferPointer(Mark.init(letters:))
    }
}
