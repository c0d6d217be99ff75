internal import CordonAEADShim

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// A node of a file's tree in memory.
final class TreeNode {
    /// As many references as a full node has, at a place that stays while the node lives; beyond the node's own they are holes. At the
    /// start of a cache line, so that none takes two.
    fileprivate let references: UnsafeMutablePointer<BlockReference>
    private let capacity: Int
    /// How many bytes were mapped for them; 0 where they are the allocator's.
    let mapped: Int
    /// How many references the node has.
    private(set) var count: Int
    var isDirty: Bool
    /// The place of the first block where the blocks of all the references lie beside each other on the disk; 0 where they do not, and in a node
    /// that was changed.
    private(set) var firstSlot: UInt32 = 0

    /// Makes a node of holes.
    ///
    /// - Parameters:
    ///   - capacity: References in a full node.
    ///   - isOfMany: The memory comes from the system, and goes back to it: of many nodes the allocator would keep what lies below anything else. A
    ///     node smaller than a page is the allocator's all the same: the page would be the node's alone.
    init(count: Int, capacity: Int, isDirty: Bool, isOfMany: Bool = false) {
        self.count = count
        self.capacity = max(count, capacity)
        self.isDirty = isDirty
        let bytes = self.capacity * MemoryLayout<BlockReference>.stride
        if isOfMany, bytes >= cordon_guarded_size(), let memory = Self.map(bytes) {
            mapped = bytes
            // Zeros, which are holes.
            references = memory.bindMemory(to: BlockReference.self, capacity: self.capacity)
        } else {
            mapped = 0
            references = UnsafeMutableRawPointer.allocate(byteCount: bytes, alignment: 64)
                .bindMemory(to: BlockReference.self, capacity: self.capacity)
            references.initialize(repeating: .hole, count: self.capacity)
        }
    }

    deinit {
        if mapped > 0 {
            munmap(references, mapped)
        } else {
            UnsafeMutableRawPointer(references).deallocate()
        }
    }

    private static func map(_ bytes: Int) -> UnsafeMutableRawPointer? {
        let memory = mmap(nil, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0)
        // MAP_FAILED
        return memory == UnsafeMutableRawPointer(bitPattern: -1) ? nil : memory
    }

    subscript(child: Int) -> BlockReference {
        get {
            precondition(child >= 0 && child < count)
            return references[child]
        }
        set {
            precondition(child >= 0 && child < count)
            references[child] = newValue
            firstSlot = 0
        }
    }

    /// Takes more holes in, or leaves the last references out.
    func resize(to count: Int) {
        precondition(count >= 0 && count <= capacity)
        if count < self.count { (references + count).update(repeating: .hole, count: self.count - count) }
        self.count = count
        firstSlot = 0
    }

    /// Says that all the references are there, and looks at where their blocks lie.
    func fill(from memory: RawMemory) {
        for child in 0..<count { references[child] = BlockReference(memory, at: child * Layout.referenceSize) }
        let first = references[0].slot
        let isRun = (0..<count).allSatisfy { Int(references[$0].slot) == Int(first) + $0 }
        firstSlot = isRun ? first : 0
    }
}

/// Where a block stands in the tree.
struct TreePlace: Hashable {
    let level: Int
    let index: Int64

    /// As one number, since every block that is read or written has its node looked up; an index is below 2^48.
    func hash(into hasher: inout Hasher) { hasher.combine(UInt64(level) << 48 | UInt64(index)) }
}

/// The nodes of one file that are in memory.
///
/// Those above chunks are found without the table as well, by a place that their index gives: what a random read looks at to find one
/// chunk is in no cache any more, and costs it most of what it takes over a plain read.
struct TreeNodes {
    private struct Recent {
        var index: Int64 = -1
        var count: UInt32 = 0
        var firstSlot: UInt32 = 0
        /// Of a node in the table, which keeps it.
        var references: UnsafeMutablePointer<BlockReference>?
    }

    private static let mostRecent = 1 << 10

    private var known: [TreePlace: TreeNode] = [:]
    /// A power of two, or none.
    private var recent: [Recent] = []

    var count: Int { known.count }

    /// A node of holes, to be put here.
    func make(count: Int, capacity: Int, isDirty: Bool) -> TreeNode {
        TreeNode(count: count, capacity: capacity, isDirty: isDirty, isOfMany: known.count >= 16)
    }

    /// A reference of a node above chunks, where the node was used last among those that share its place.
    func reference(_ child: Int, ofLeaf index: Int64) -> BlockReference? {
        guard !recent.isEmpty else { return nil }
        let entry = recent[place(of: index)]
        guard entry.index == index, child < entry.count else { return nil }
        return entry.references?[child]
    }

    /// A reference that ``reference(_:ofLeaf:)`` would give, and the slot that it names, where that can be told without looking at the reference:
    /// in a node that was not changed since it was loaded, whose blocks lie beside each other on the disk.
    func referenceAhead(_ child: Int, ofLeaf index: Int64) -> (reference: UnsafePointer<BlockReference>, slot: UInt32)?
    {
        guard !recent.isEmpty else { return nil }
        let entry = recent[place(of: index)]
        guard entry.index == index, child < entry.count, entry.firstSlot > 0, let references = entry.references else {
            return nil
        }
        return (UnsafePointer(references + child), entry.firstSlot + UInt32(child))
    }

    mutating func node(at place: TreePlace) -> TreeNode? {
        guard let node = known[place] else { return nil }
        note(node, at: place)
        return node
    }

    mutating func put(_ node: TreeNode, at place: TreePlace) {
        known[place] = node
        if known.count > recent.count, recent.count < Self.mostRecent {
            recent = Array(repeating: Recent(), count: max(16, recent.count * 2))
        }
        note(node, at: place)
    }

    mutating func remove(_ place: TreePlace) {
        guard known.removeValue(forKey: place) != nil, place.level == 1 else { return }
        let entry = self.place(of: place.index)
        if recent[entry].index == place.index { recent[entry] = Recent() }
    }

    mutating func removeAll() {
        known.removeAll(keepingCapacity: true)
        for entry in recent.indices { recent[entry] = Recent() }
    }

    /// The changed nodes of a level, by their indices.
    func changed(level: Int) -> [(place: TreePlace, node: TreeNode)] {
        known.filter { $0.key.level == level && $0.value.isDirty }
            .sorted { $0.key.index < $1.key.index }.map { ($0.key, $0.value) }
    }

    private mutating func note(_ node: TreeNode, at place: TreePlace) {
        guard place.level == 1 else { return }
        recent[self.place(of: place.index)] = Recent(
            index: place.index, count: UInt32(node.count), firstSlot: node.firstSlot, references: node.references)
    }

    private func place(of index: Int64) -> Int { Int(truncatingIfNeeded: index) & (recent.count - 1) }
}
