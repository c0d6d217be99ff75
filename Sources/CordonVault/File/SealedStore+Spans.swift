/// Spans of whole chunks, which are read and written in runs that lie beside each other on the disk.
extension SealedStore {
    /// Bytes of chunks that one call of the system reads or writes.
    static let runBytes = 1 << 16
    /// Chunks of a span that are looked up at a time: as many as have room on the stack.
    private static let window = 32

    /// Reads whole chunks, at least two, into as many bytes as they have.
    ///
    /// - Throws: What is wrong with the first of them that cannot be read, where the disk's refusal of a run counts for all of it; the memory then holds
    ///   what is genuine, zeros, or what is on the disk.
    func readChunks(_ chunks: Range<Int64>, into output: UnsafeMutableRawBufferPointer) throws(VaultError) {
        try eachWindow(of: chunks) { (window, references) throws(VaultError) in
            let found = look(window, references) { (chunk) throws(VaultError) in try reference(ofChunk: chunk) }
            let first = Int(window.lowerBound - chunks.lowerBound)
            var start = 0
            while start < found.count {
                let end = references[start].isHole ? start + 1 : endOfRun(from: start, in: references[..<found.count])
                let size = header.chunkSize
                let part = UnsafeMutableRawBufferPointer(
                    rebasing: output[(first + start) * size..<(first + end) * size])
                if references[start].isHole {
                    part.initializeMemory(as: UInt8.self, repeating: 0)
                } else {
                    try openRun(references[start..<end], from: window.lowerBound + Int64(start), into: part)
                }
                start = end
            }
            if let failure = found.failure { throw failure }
        }
    }

    private func openRun(
        _ references: Slice<UnsafeMutableBufferPointer<BlockReference>>, from chunk: Int64,
        into output: UnsafeMutableRawBufferPointer
    ) throws(VaultError) {
        let first = references[references.startIndex]
        // Where the file ends early, the first chunk that is not there is the one to be told of, and only if none before it is damaged.
        var isWhole = references[references.endIndex - 1].slot <= slotsInReach
        if isWhole { isWhole = try device.read(output, at: offset(of: first.slot)) == output.count }
        for (index, reference) in references.enumerated() {
            let size = header.chunkSize
            let part = UnsafeMutableRawBufferPointer(rebasing: output[index * size..<(index + 1) * size])
            let place = TreePlace(level: 0, index: chunk + Int64(index))
            if isWhole {
                try blocks.open(part, reference, at: place)
            } else {
                try readBlock(reference, at: place, into: part)
            }
        }
    }

    /// Seals whole chunks, at least two, anew, and notes where they are from now on.
    ///
    /// A failure part-way ends all writing. Chunks before its run are then noted, and those behind may be unreadable.
    func replaceChunks(_ chunks: Range<Int64>, with plaintext: UnsafeRawBufferPointer) throws(VaultError) {
        do {
            try eachWindow(of: chunks) { (window, references) throws(VaultError) in
                let found = look(window, references) { (chunk) throws(VaultError) in
                    try placeForBlock(replacing: try reference(ofChunk: chunk))
                }
                let first = Int(window.lowerBound - chunks.lowerBound)
                var start = 0
                while start < found.count {
                    let end = endOfRun(from: start, in: references[..<found.count])
                    let size = header.chunkSize
                    let part = plaintext[(first + start) * size..<(first + end) * size]
                    try sealRun(
                        &references[start..<end], from: window.lowerBound + Int64(start),
                        UnsafeRawBufferPointer(rebasing: part))
                    start = end
                }
                if let failure = found.failure { throw failure }
            }
        } catch {
            markBroken()
            throw error
        }
    }

    private func sealRun(
        _ references: inout Slice<UnsafeMutableBufferPointer<BlockReference>>, from chunk: Int64,
        _ plaintext: UnsafeRawBufferPointer
    ) throws(VaultError) {
        let size = header.chunkSize
        let sealed = run.slice(0, plaintext.count)
        let start = references.startIndex
        for index in references.indices {
            let place = (index - start) * size
            try blocks.seal(
                UnsafeRawBufferPointer(rebasing: plaintext[place..<place + size]), into: run.slice(place, size),
                &references[index], at: TreePlace(level: 0, index: chunk + Int64(index - start)))
        }
        try device.write(UnsafeRawBufferPointer(sealed), at: offset(of: references[start].slot))
        for index in references.indices {
            try setReference(references[index], at: TreePlace(level: 0, index: chunk + Int64(index - start)))
        }
    }

    /// Calls the body for one part of a span after another, with room for the references of its chunks.
    private func eachWindow(
        of chunks: Range<Int64>,
        _ body: (Range<Int64>, UnsafeMutableBufferPointer<BlockReference>) throws(VaultError) -> Void
    ) throws(VaultError) {
        try withUnsafeTemporaryAllocation(of: BlockReference.self, capacity: min(Self.window, chunks.count)) {
            (references) throws(VaultError) in
            references.initialize(repeating: .hole)
            var start = chunks.lowerBound
            while start < chunks.upperBound {
                let end = min(start + Int64(references.count), chunks.upperBound)
                try body(start..<end, references)
                try trimNodes()
                start = end
            }
        }
    }

    /// Looks a window's chunks up, as far as that works: those before a failure come first.
    private func look(
        _ window: Range<Int64>, _ references: UnsafeMutableBufferPointer<BlockReference>,
        _ find: (Int64) throws(VaultError) -> BlockReference
    ) -> (count: Int, failure: VaultError?) {
        for chunk in window {
            let index = Int(chunk - window.lowerBound)
            do { references[index] = try find(chunk) } catch { return (index, error) }
        }
        return (window.count, nil)
    }

    /// The end of the chunks that lie beside each other on the disk from one on, which is no hole.
    private func endOfRun(from start: Int, in references: Slice<UnsafeMutableBufferPointer<BlockReference>>) -> Int {
        var next = start + 1
        let limit = min(references.endIndex, start + max(1, Self.runBytes / header.chunkSize))
        while next < limit, Int(references[next].slot) == Int(references[start].slot) + next - start { next += 1 }
        return next
    }
}
