/// A node of a file's tree in memory.
final class TreeNode {
    var references: [BlockReference]
    var isDirty: Bool

    init(references: [BlockReference], isDirty: Bool) {
        self.references = references
        self.isDirty = isDirty
    }
}

/// Where a block stands in the tree.
struct TreePlace: Hashable {
    let level: Int
    let index: Int64

    /// As one number, since every block that is read or written has its node looked up; an index is below 2^48.
    func hash(into hasher: inout Hasher) { hasher.combine(UInt64(level) << 48 | UInt64(index)) }
}
