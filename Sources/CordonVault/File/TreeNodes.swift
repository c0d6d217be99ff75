/// A node of a file's tree in memory.
final class TreeNode {
    /// As many references as a full node has, at a place that stays while the node lives; beyond the node's own they are holes. At the
    /// start of a cache line, so that none takes two.
    fileprivate let references: UnsafeMutablePointer<BlockReference>
    private let capacity: Int
    /// How many references the node has.
    private(set) var count: Int
    var isDirty: Bool

    /// Makes a node of holes.
    ///
    /// - Parameter capacity: References in a full node.
    init(count: Int, capacity: Int, isDirty: Bool) {
        self.count = count
        self.capacity = max(count, capacity)
        self.isDirty = isDirty
        references = UnsafeMutableRawPointer.allocate(
            byteCount: self.capacity * MemoryLayout<BlockReference>.stride, alignment: 64
        ).bindMemory(to: BlockReference.self, capacity: self.capacity)
        references.initialize(repeating: .hole, count: self.capacity)
    }

    deinit { UnsafeMutableRawPointer(references).deallocate() }

    subscript(child: Int) -> BlockReference {
        get {
            precondition(child >= 0 && child < count)
            return references[child]
        }
        set {
            precondition(child >= 0 && child < count)
            references[child] = newValue
        }
    }

    /// Takes more holes in, or leaves the last references out.
    func resize(to count: Int) {
        precondition(count >= 0 && count <= capacity)
        if count < self.count { (references + count).update(repeating: .hole, count: self.count - count) }
        self.count = count
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
        var count = 0
        /// Of a node in the table, which keeps it.
        var references: UnsafeMutablePointer<BlockReference>?
    }

    private static let mostRecent = 1 << 10

    private var known: [TreePlace: TreeNode] = [:]
    /// A power of two, or none.
    private var recent: [Recent] = []

    var count: Int { known.count }

    /// A reference of a node above chunks, where the node was used last among those that share its place.
    func reference(_ child: Int, ofLeaf index: Int64) -> BlockReference? {
        guard !recent.isEmpty else { return nil }
        let entry = recent[place(of: index)]
        guard entry.index == index, child < entry.count else { return nil }
        return entry.references?[child]
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
            index: place.index, count: node.count, references: node.references)
    }

    private func place(of index: Int64) -> Int { Int(truncatingIfNeeded: index) & (recent.count - 1) }
}
