internal import CordonAEADShim

/// The tree of references: looked up from the root, kept in memory within a limit, written bottom-up.
extension SealedStore {
    /// Where a chunk is now.
    func reference(ofChunk chunk: Int64) throws(VaultError) -> BlockReference {
        try reference(at: TreePlace(level: 0, index: chunk))
    }

    func reference(at place: TreePlace) throws(VaultError) -> BlockReference {
        if place.level == shape.height { return root }
        let (parent, child) = shape.parent(of: place)
        if parent.level == 1, let known = nodes.reference(child, ofLeaf: parent.index) { return known }
        return try node(at: parent)[child]
    }

    /// Reads the stored bytes of a chunk that is known not to need the memory of a collected one, zeros for a hole.
    ///
    /// In a reader of a file that was written in one go, the disk is asked before the reference, which has left the processor's caches by the time that
    /// a random read comes to it, and arrives meanwhile.
    func readChunk(_ chunk: Int64, into output: UnsafeMutableRawBufferPointer) throws(VaultError) {
        let place = TreePlace(level: 0, index: chunk)
        let (parent, child) = shape.parent(of: place)
        if allocator == nil, parent.level == 1, shape.height > 0,
            let (reference, slot) = nodes.referenceAhead(child, ofLeaf: parent.index), slot <= record.slotCount
        {
            cordon_prefetch(reference)
            try device.readAll(output, at: offset(of: slot))
            return try blocks.open(output, reference.pointee, at: place)
        }
        let reference = try reference(at: place)
        if reference.isHole {
            output.initializeMemory(as: UInt8.self, repeating: 0)
        } else {
            try readBlock(reference, at: place, into: output)
        }
    }

    /// The first chunk from a number on that is no hole; nil where all of these are. Only of a file that is open for reading: what a writer has
    /// in memory may have no place yet.
    func firstStored(from chunk: Int64) throws(VaultError) -> Int64? {
        guard chunk < shape.chunkCount else { return nil }
        return try firstStored(from: chunk, root, at: TreePlace(level: shape.height, index: 0))
    }

    private func firstStored(
        from chunk: Int64, _ reference: BlockReference, at place: TreePlace
    ) throws(VaultError) -> Int64? {
        guard !reference.isHole else { return nil }
        guard place.level > 0 else { return place.index }
        let node = try node(at: place)
        if nodes.count > nodeLimit { nodes.removeAll() }
        let start = place.index * Int64(shape.fanout)
        let first = chunk >> Int64(shape.fanout.trailingZeroBitCount * (place.level - 1)) - start
        for child in Int(max(0, first))..<node.count {
            let below = TreePlace(level: place.level - 1, index: start + Int64(child))
            if let found = try firstStored(from: chunk, node[child], at: below) { return found }
        }
        return nil
    }

    /// Notes where a block is from now on.
    func setReference(_ reference: BlockReference, at place: TreePlace) throws(VaultError) {
        isDirty = true
        if place.level == shape.height {
            root = reference
            return
        }
        let (parent, child) = shape.parent(of: place)
        let node = try node(at: parent)
        node[child] = reference
        node.isDirty = true
    }

    /// A node, from memory or disk.
    func node(at place: TreePlace) throws(VaultError) -> TreeNode {
        if let node = nodes.node(at: place) { return node }
        let reference = try reference(at: place)
        let node = try load(reference, at: place)
        nodes.put(node, at: place)
        return node
    }

    private func load(_ reference: BlockReference, at place: TreePlace) throws(VaultError) -> TreeNode {
        let count = shape.children(level: place.level, index: place.index)
        let node = nodes.make(count: count, capacity: shape.fanout, isDirty: false)
        if reference.isHole { return node }
        let memory = RawMemory(count * Layout.referenceSize)
        try readBlock(reference, at: place, into: memory.slice(0, count * Layout.referenceSize))
        node.fill(from: memory)
        return node
    }

    /// Writes every changed node to a new place, children before parents.
    func flushNodes() throws(VaultError) {
        guard shape.height > 0 else { return }
        for level in 1...shape.height {
            for (place, node) in nodes.changed(level: level) {
                let memory = RawMemory(node.count * Layout.referenceSize)
                for child in 0..<node.count { node[child].write(to: memory, at: child * Layout.referenceSize) }
                try replaceBlock(at: place, with: UnsafeRawBufferPointer(memory.slice(0, memory.bytes.count)))
                node.isDirty = false
            }
        }
    }

    /// Keeps the memory for nodes within its limit.
    func trimNodes() throws(VaultError) {
        guard nodes.count > nodeLimit else { return }
        if allocator != nil { try flushNodes() }
        nodes.removeAll()
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
                let count = next.children(level: level, index: index)
                guard count > last.count else { continue }
                last.resize(to: count)
                last.isDirty = true
            }
        }
        for level in old.height..<max(old.height, next.height) {
            let place = TreePlace(level: level + 1, index: 0)
            let count = next.children(level: level + 1, index: 0)
            let node = nodes.make(count: count, capacity: next.fanout, isDirty: true)
            node[0] = root
            nodes.put(node, at: place)
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
            guard first < kept.count else { continue }
            for child in first..<kept.count {
                let place = TreePlace(level: level - 1, index: index * fanout + Int64(child))
                try release(kept[child], at: place)
            }
            kept.resize(to: first)
            kept.isDirty = true
        }
        for level in stride(from: old.height, to: next.height, by: -1) {
            let place = TreePlace(level: level, index: 0)
            let child = try node(at: place)[0]
            if !root.isHole { allocator?.release(root.slot) }
            nodes.remove(place)
            root = child
        }
    }

    /// Gives back a block and all that hangs on it.
    private func release(_ reference: BlockReference, at place: TreePlace) throws(VaultError) {
        let known = nodes.node(at: place)
        if place.level > 0, !reference.isHole || known != nil {
            let node = if let known { known } else { try load(reference, at: place) }
            for child in 0..<node.count {
                let index = place.index * Int64(shape.fanout) + Int64(child)
                try release(node[child], at: TreePlace(level: place.level - 1, index: index))
            }
            nodes.remove(place)
        }
        if !reference.isHole { allocator?.release(reference.slot) }
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
        let node = try node(at: place)
        for child in 0..<node.count {
            let index = place.index * Int64(shape.fanout) + Int64(child)
            try mark(node[child], at: TreePlace(level: place.level - 1, index: index), in: &used)
        }
        if nodes.count > nodeLimit { nodes.removeAll() }
    }
}
