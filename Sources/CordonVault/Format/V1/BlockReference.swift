/// Names one sealed block: its slot, its nonce and its tag; 32 bytes on disk, little-endian.
///
/// A reader with a genuine reference can tell the one genuine version of the block from every other.
struct BlockReference: Equatable {
    /// The slot, from 1; 0 stands for a block that was never written and reads as zeros.
    var slot: UInt32 = 0
    var nonceHead: UInt32 = 0
    var nonceRest: UInt64 = 0
    var tagHead: UInt64 = 0
    var tagRest: UInt64 = 0

    /// A block of zeros that takes no space.
    static let hole = BlockReference()

    var isHole: Bool { slot == 0 }
}

/// What is authenticated beside a block: which kind it is, its place in the tree, and the header's digest, which
/// stands for file id, owner, key id, chunk size and algorithm. 48 bytes.
struct BlockContext: Sendable {
    enum Kind: UInt8 {
        case block = 1
        case record = 2
    }

    /// The 48 bytes of one block, put together for each call.
    private typealias Words = (kind: UInt64, index: UInt64, digest: (UInt64, UInt64, UInt64, UInt64))

    private let digest: (UInt64, UInt64, UInt64, UInt64)

    init(headerDigest: [UInt8]) {
        precondition(headerDigest.count == 32)
        digest = headerDigest.withUnsafeBytes { $0.loadUnaligned(as: (UInt64, UInt64, UInt64, UInt64).self) }
    }

    /// Hands the context of one block to the body.
    @inline(__always)
    func withBytes<Result>(
        _ kind: Kind, level: Int, index: Int64, _ body: (UnsafeRawBufferPointer) -> Result
    ) -> Result {
        let first = UInt64(kind.rawValue) | UInt64(UInt8(level)) << 8
        let words: Words = (first.littleEndian, UInt64(index).littleEndian, digest)
        return withUnsafeBytes(of: words, body)
    }
}
