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
}
