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
struct BlockContext {
    enum Kind: UInt8 {
        case block = 1
        case record = 2
    }

    private let memory = RawMemory(48)

    init(headerDigest: [UInt8]) {
        memory.store(headerDigest, at: 16)
    }

    /// The context of one block; valid until the next call.
    func bytes(_ kind: Kind, level: Int, index: Int64) -> UnsafeRawBufferPointer {
        memory.store(kind.rawValue, at: 0)
        memory.store(UInt8(level), at: 1)
        memory.store(UInt64(index), at: 8)
        return UnsafeRawBufferPointer(memory.slice(0, 48))
    }
}
