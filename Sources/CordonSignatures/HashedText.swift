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

        /// Not in constant time, as digests are compared: what time tells of a hash leads to no text.
        package static func == (left: Self, right: Self) -> Bool {
            let isSame = left.signed.withUnsafeBytes { left in
                right.signed.withUnsafeBytes { right in left.elementsEqual(right) }
            }
            return isSame && left.end == right.end
        }

        /// By the first bytes of the hash, which are as good as random.
        package func hash(into hasher: inout Hasher) {
            hasher.combine(signed.withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) })
        }
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
