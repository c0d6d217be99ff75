/// Where things stand in a sealed file, and the numbers it uses; the same in versions 1 and 2 (`docs/vault-format.md`).
enum Layout {
    static let algorithmAES256GCM: UInt8 = 1
    /// The header, unchanged from the file's creation on.
    static let headerSize = 4096
    /// Each commit record has a page of its own, so that writing one cannot tear the other.
    static let recordPage = 4096
    static let recordOffsets: [Int64] = [4096, 8192]
    /// What a disk writes whole or not at all; no record is longer.
    static let sector = 512
    /// Where slot 1 begins.
    static let dataStart: Int64 = 12288
    static let referenceSize = 32
    static let longestOwner = 336
    static let chunkSizes: ClosedRange<UInt8> = 12...20
    /// Page sizes of a database, as powers of two.
    static let pageSizes: ClosedRange<UInt8> = 9...16
    /// Seals under one content key, half of what random 96-bit nonces allow at a risk of 2^-32.
    static let sealLimit: UInt64 = 1 << 31
    /// What a record with the mark leaves out of its count, so that the count with this added is what its writer may reach.
    static let sealsUnderMark: UInt64 = 1 << 20
    /// Seals that a writer reserves at a time at least, hence what a kill costs; and at most.
    static let reservations: ClosedRange<UInt64> = 1 << 10...1 << 19

    /// Where a slot begins.
    static func offset(of slot: UInt32, chunkSize: Int) -> Int64 { dataStart + Int64(slot - 1) * Int64(chunkSize) }
}

/// How the chunks of a file of some length hang together: a tree whose leaves are chunks and whose inner nodes are
/// lists of references.
struct TreeShape: Equatable {
    let chunkSize: Int
    let size: Int64
    /// References in a full node, a power of two.
    let fanout: Int
    let chunkCount: Int64
    /// How many levels of nodes stand above the chunks; 0 when the root reference names the one chunk itself.
    let height: Int

    init(chunkSize: Int, size: Int64) {
        self.chunkSize = chunkSize
        self.size = size
        fanout = chunkSize / Layout.referenceSize
        chunkCount = (size + Int64(chunkSize) - 1) / Int64(chunkSize)
        var height = 0
        var reach: Int64 = 1
        while reach < chunkCount {
            reach *= Int64(fanout)
            height += 1
        }
        self.height = height
    }

    /// How many blocks a level has; level 0 are the chunks.
    func count(level: Int) -> Int64 {
        var count = chunkCount
        for _ in 0..<level { count = (count + Int64(fanout) - 1) / Int64(fanout) }
        return count
    }

    /// Which child of which node a block is. Without a division, since every block that is read or written asks.
    func parent(of place: TreePlace) -> (place: TreePlace, child: Int) {
        let parent = TreePlace(level: place.level + 1, index: place.index >> Int64(fanout.trailingZeroBitCount))
        return (parent, Int(place.index) & (fanout - 1))
    }

    /// How many references a node holds.
    func children(level: Int, index: Int64) -> Int {
        Int(min(Int64(fanout), count(level: level - 1) - index * Int64(fanout)))
    }

    /// How many bytes a chunk has on disk: whole chunks, padded with zeros, except in a file of one chunk.
    var storedChunkSize: Int { chunkCount <= 1 ? Int(size) : chunkSize }

    /// How many slots the file needs when it has neither holes nor free slots.
    var blockCount: Int64 {
        var total = chunkCount
        let height = height
        if height > 0 { for level in 1...height { total += count(level: level) } }
        return total
    }
}
