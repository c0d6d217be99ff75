/// The tree of references: looked up from the root, kept in memory within a limit, written bottom-up.
extension SealedStore {
    /// Where a chunk is now.
    func reference(ofChunk chunk: Int64) throws(VaultError) -> BlockReference {
        try reference(at: TreePlace(level: 0, index: chunk))
    }

    private func reference(at place: TreePlace) throws(VaultError) -> BlockReference {
        if place.level == shape.height { return root }
        let (parent, child) = shape.parent(of: place)
        return try node(at: parent).references[child]
    }

    /// Notes where a chunk is from now on.
    func setReference(_ reference: BlockReference, ofChunk chunk: Int64) throws(VaultError) {
        try setReference(reference, at: TreePlace(level: 0, index: chunk))
    }

    private func setReference(_ reference: BlockReference, at place: TreePlace) throws(VaultError) {
        isDirty = true
        if place.level == shape.height {
            root = reference
            return
        }
        let (parent, child) = shape.parent(of: place)
        let node = try node(at: parent)
        node.references[child] = reference
        node.isDirty = true
    }

    /// A node, from memory or disk.
    func node(at place: TreePlace) throws(VaultError) -> TreeNode {
        if let node = nodes[place] { return node }
        let reference = try reference(at: place)
        let count = shape.children(level: place.level, index: place.index)
        let node = TreeNode(references: Array(repeating: .hole, count: count), isDirty: false)
        if !reference.isHole {
            let memory = RawMemory(count * Layout.referenceSize)
            try readBlock(reference, at: place, into: memory.slice(0, count * Layout.referenceSize))
            for child in 0..<count {
                node.references[child] = BlockReference(memory, at: child * Layout.referenceSize)
            }
        }
        nodes[place] = node
        return node
    }

    /// Writes every changed node to a new place, children before parents.
    func flushNodes() throws(VaultError) {
        guard shape.height > 0 else { return }
        for level in 1...shape.height {
            let changed = nodes.filter { $0.key.level == level && $0.value.isDirty }
            for (place, node) in changed.sorted(by: { $0.key.index < $1.key.index }) {
                let old = try reference(at: place)
                let memory = RawMemory(node.references.count * Layout.referenceSize)
                for (child, reference) in node.references.enumerated() {
                    reference.write(to: memory, at: child * Layout.referenceSize)
                }
                let bytes = UnsafeRawBufferPointer(memory.slice(0, memory.bytes.count))
                try setReference(try writeBlock(bytes, at: place, replacing: old), at: place)
                node.isDirty = false
            }
        }
    }

    /// Keeps the memory for nodes within its limit.
    func trimNodes() throws(VaultError) {
        guard nodes.count > nodeLimit else { return }
        if allocator != nil { try flushNodes() }
        nodes.removeAll(keepingCapacity: true)
    }

    /// Brings the tree into the shape of another length; new chunks are holes.
    func reshape(to size: Int64) throws(VaultError) {
        let next = TreeShape(chunkSize: shape.chunkSize, size: size)
        if next.chunkCount > shape.chunkCount { try grow(to: next) }
        if next.chunkCount < shape.chunkCount { try shrink(to: next) }
        setShape(next)
    }

    private func grow(to next: TreeShape) throws(VaultError) {
        let old = shape
        guard old.chunkCount > 0 else { return root = .hole }
        if old.height > 0 {
            for level in 1...old.height {
                let index = old.count(level: level) - 1
                let last = try node(at: TreePlace(level: level, index: index))
                let missing = next.children(level: level, index: index) - last.references.count
                guard missing > 0 else { continue }
                last.references.append(contentsOf: repeatElement(.hole, count: missing))
                last.isDirty = true
            }
        }
        for level in old.height..<max(old.height, next.height) {
            let place = TreePlace(level: level + 1, index: 0)
            let count = next.children(level: level + 1, index: 0)
            let node = TreeNode(references: Array(repeating: .hole, count: count), isDirty: true)
            node.references[0] = root
            nodes[place] = node
            // The new root has no place on disk yet; its child keeps its own.
            root = .hole
        }
    }

    private func shrink(to next: TreeShape) throws(VaultError) {
        let old = shape
        guard next.chunkCount > 0 else {
            try release(root, at: TreePlace(level: old.height, index: 0))
            return root = .hole
        }
        guard old.height > 0 else { return }
        let fanout = Int64(old.fanout)
        for level in stride(from: old.height, through: 1, by: -1) {
            let index = next.count(level: level) - 1
            let kept = try node(at: TreePlace(level: level, index: index))
            let first = Int(next.count(level: level - 1) - index * fanout)
            guard first < kept.references.count else { continue }
            for child in first..<kept.references.count {
                let place = TreePlace(level: level - 1, index: index * fanout + Int64(child))
                try release(kept.references[child], at: place)
            }
            kept.references.removeSubrange(first...)
            kept.isDirty = true
        }
        for level in stride(from: old.height, to: next.height, by: -1) {
            let place = TreePlace(level: level, index: 0)
            let child = try node(at: place).references[0]
            if !root.isHole { allocator?.release(root.slot) }
            nodes[place] = nil
            root = child
        }
    }

    /// Gives back a block and all that hangs on it.
    private func release(_ reference: BlockReference, at place: TreePlace) throws(VaultError) {
        if place.level > 0, !reference.isHole || nodes[place] != nil {
            let node: TreeNode
            if let known = nodes[place] { node = known } else { node = try loadForRelease(reference, at: place) }
            for (child, reference) in node.references.enumerated() {
                let index = place.index * Int64(shape.fanout) + Int64(child)
                try release(reference, at: TreePlace(level: place.level - 1, index: index))
            }
            nodes[place] = nil
        }
        if !reference.isHole { allocator?.release(reference.slot) }
    }

    private func loadForRelease(_ reference: BlockReference, at place: TreePlace) throws(VaultError) -> TreeNode {
        let count = shape.children(level: place.level, index: place.index)
        let memory = RawMemory(count * Layout.referenceSize)
        try readBlock(reference, at: place, into: memory.slice(0, memory.bytes.count))
        let references = (0..<count).map { BlockReference(memory, at: $0 * Layout.referenceSize) }
        return TreeNode(references: references, isDirty: false)
    }

    /// Finds the slots that the last commit does not use; from then on the file can be written.
    func prepareForWriting() throws(VaultError) {
        guard allocator == nil else { return }
        var free: [UInt32] = []
        if Int64(record.slotCount) != shape.blockCount {
            var used = [Bool](repeating: false, count: Int(record.slotCount) + 1)
            try mark(root, at: TreePlace(level: shape.height, index: 0), in: &used)
            free = (1..<used.count).filter { !used[$0] }.map { UInt32($0) }.reversed()
        }
        allocator = SlotAllocator(count: record.slotCount, free: free)
    }

    private func mark(_ reference: BlockReference, at place: TreePlace, in used: inout [Bool]) throws(VaultError) {
        guard !reference.isHole else { return }
        guard Int(reference.slot) < used.count else {
            throw VaultError(.damaged, "A block names a slot that the file does not have.")
        }
        used[Int(reference.slot)] = true
        guard place.level > 0 else { return }
        for (child, reference) in try node(at: place).references.enumerated() {
            let index = place.index * Int64(shape.fanout) + Int64(child)
            try mark(reference, at: TreePlace(level: place.level - 1, index: index), in: &used)
        }
        if nodes.count > nodeLimit { nodes.removeAll(keepingCapacity: true) }
    }
}
