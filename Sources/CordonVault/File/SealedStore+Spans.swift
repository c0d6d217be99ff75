/// Spans of whole chunks, which are read and written in runs that lie beside each other on the disk, and large ones on several cores.
extension SealedStore {
    /// Bytes of chunks that one call of the system reads or writes.
    fileprivate static let runBytes = 1 << 16
    /// Bytes that all workers together may seal into: the largest chunks get two workers.
    private static let roomBytes = 1 << 21
    /// Chunks of a span that are looked up at a time: of a small one as many as have room on the stack, and of a large one what keeps every
    /// worker busy for a while.
    private static let (smallWindow, largeWindow, largeWindowBytes) = (32, 2048, 1 << 23)

    /// Reads whole chunks, at least two, into as many bytes as they have.
    ///
    /// - Throws: What is wrong with the first of them that cannot be read, where the disk's refusal of a run counts for all of it; the memory then holds
    ///   what is genuine, zeros, or what is on the disk.
    func readChunks(_ chunks: Range<Int64>, into output: UnsafeMutableRawBufferPointer) throws(VaultError) {
        try eachWindow(of: chunks) { (window, references, workers) throws(VaultError) in
            let found = look(window, references) { (chunk) throws(VaultError) in try reference(ofChunk: chunk) }
            let span = SpanPlace(self, found.chunks, references)
            let start = Int(window.lowerBound - chunks.lowerBound) * header.chunkSize
            let opening = OpeningSpan(
                span: span, slotsInReach: slotsInReach,
                output: UnsafeMutableRawBufferPointer(rebasing: output[start...]))
            if let failed = Crew.perform(opening, pieces: span.pieces, workers: workers) { throw failed.error }
            if let failure = found.failure { throw failure }
        }
    }

    /// Seals whole chunks, at least two, anew, and notes where they are from now on.
    ///
    /// A failure part-way ends all writing. Chunks before its piece are then noted, and those behind may be unreadable.
    func replaceChunks(_ chunks: Range<Int64>, with plaintext: UnsafeRawBufferPointer) throws(VaultError) {
        do {
            try eachWindow(of: chunks) { (window, references, workers) throws(VaultError) in
                let found = look(window, references) { (chunk) throws(VaultError) in
                    try placeForBlock(replacing: try reference(ofChunk: chunk))
                }
                let span = SpanPlace(self, found.chunks, references)
                let start = Int(window.lowerBound - chunks.lowerBound) * header.chunkSize
                let room = max(header.chunkSize, min(Self.runBytes, found.chunks.count * header.chunkSize))
                let workers = min(workers, Self.roomBytes / room)
                let sealing = SealingSpan(
                    span: span, plaintext: UnsafeRawBufferPointer(rebasing: plaintext[start...]),
                    rooms: rooms(for: workers, room))
                let failed = Crew.perform(sealing, pieces: span.pieces, workers: workers)
                let done = failed.map { span.indices(of: $0.piece).lowerBound } ?? found.chunks.count
                for index in 0..<done { try setReference(references[index], at: span.place(of: index)) }
                if let failure = failed?.error ?? found.failure { throw failure }
            }
        } catch {
            markBroken()
            throw error
        }
    }

    /// Calls the body for one part of a span after another, with room for the references of its chunks.
    private func eachWindow(
        of chunks: Range<Int64>,
        _ body: (Range<Int64>, UnsafeMutableBufferPointer<BlockReference>, _ workers: Int) throws(VaultError) -> Void
    ) throws(VaultError) {
        let workers = device.servesThreads ? Crew.workers(for: chunks.count * header.chunkSize) : 1
        let most = workers > 1 ? min(Self.largeWindow, Self.largeWindowBytes / header.chunkSize) : Self.smallWindow
        try withUnsafeTemporaryAllocation(of: BlockReference.self, capacity: min(most, chunks.count)) {
            (references) throws(VaultError) in
            references.initialize(repeating: .hole)
            var start = chunks.lowerBound
            while start < chunks.upperBound {
                let end = min(start + Int64(references.count), chunks.upperBound)
                try body(start..<end, references, workers)
                try trimNodes()
                start = end
            }
        }
    }

    /// Looks a window's chunks up, as far as that works: those before a failure come first.
    private func look(
        _ window: Range<Int64>, _ references: UnsafeMutableBufferPointer<BlockReference>,
        _ find: (Int64) throws(VaultError) -> BlockReference
    ) -> (chunks: Range<Int64>, failure: VaultError?) {
        for chunk in window {
            do {
                references[Int(chunk - window.lowerBound)] = try find(chunk)
            } catch {
                return (window.lowerBound..<chunk, error)
            }
        }
        return (window, nil)
    }
}

/// What the pieces of a span share, and none of them changes.
///
/// Unchecked: several threads may call the device, the references of a piece are its own, and the caller keeps their memory until all are done.
private struct SpanPlace: @unchecked Sendable {
    let device: any StorageDevice
    let blocks: BlockSealer
    let chunkSize: Int
    let chunks: Range<Int64>
    private let references: UnsafeMutableBufferPointer<BlockReference>

    init(_ store: SealedStore, _ chunks: Range<Int64>, _ references: UnsafeMutableBufferPointer<BlockReference>) {
        (device, blocks, chunkSize) = (store.device, store.blocks, store.header.chunkSize)
        (self.chunks, self.references) = (chunks, references)
    }

    private var chunksInPiece: Int { max(1, Crew.pieceBytes / chunkSize) }

    var pieces: Int { (chunks.count + chunksInPiece - 1) / chunksInPiece }

    /// The chunks of a piece, counted from the first of the span.
    func indices(of piece: Int) -> Range<Int> {
        piece * chunksInPiece..<min((piece + 1) * chunksInPiece, chunks.count)
    }

    subscript(index: Int) -> BlockReference {
        get { references[index] }
        nonmutating set { references[index] = newValue }
    }

    /// Where a chunk stands in the tree.
    func place(of index: Int) -> TreePlace { TreePlace(level: 0, index: chunks.lowerBound + Int64(index)) }

    /// The end of the chunks that lie beside each other on the disk from one on, which is no hole.
    func endOfRun(from start: Int, before end: Int) -> Int {
        var next = start + 1
        let limit = min(end, start + max(1, SealedStore.runBytes / chunkSize))
        while next < limit, Int(self[next].slot) == Int(self[start].slot) + next - start { next += 1 }
        return next
    }

    func offset(of index: Int) -> Int64 { Layout.offset(of: self[index].slot, chunkSize: chunkSize) }
}

/// Opens a span. Unchecked: each piece has its own part of the memory.
private struct OpeningSpan: Piecework, @unchecked Sendable {
    let span: SpanPlace
    let slotsInReach: UInt32
    let output: UnsafeMutableRawBufferPointer

    func doPiece(_ piece: Int, as worker: Int) throws(VaultError) {
        let indices = span.indices(of: piece)
        var start = indices.lowerBound
        while start < indices.upperBound {
            if span[start].isHole {
                part(start..<start + 1).initializeMemory(as: UInt8.self, repeating: 0)
                start += 1
            } else {
                let end = span.endOfRun(from: start, before: indices.upperBound)
                try openRun(start..<end)
                start = end
            }
        }
    }

    private func openRun(_ run: Range<Int>) throws(VaultError) {
        // Where the file ends early, the first chunk that is not there is the one to be told of, and only if none before it is damaged.
        var isWhole = span[run.upperBound - 1].slot <= slotsInReach
        if isWhole {
            isWhole = try span.device.read(part(run), at: span.offset(of: run.lowerBound)) == part(run).count
        }
        for index in run {
            let chunk = part(index..<index + 1)
            if !isWhole {
                guard span[index].slot <= slotsInReach else { throw .slotOutOfReach }
                try span.device.readAll(chunk, at: span.offset(of: index))
            }
            try span.blocks.open(chunk, span[index], at: span.place(of: index))
        }
    }

    private func part(_ indices: Range<Int>) -> UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(
            rebasing: output[indices.lowerBound * span.chunkSize..<indices.upperBound * span.chunkSize])
    }
}

/// Seals a span. Unchecked: each worker has memory of its own, and writes to places that are its piece's alone.
private struct SealingSpan: Piecework, @unchecked Sendable {
    let span: SpanPlace
    let plaintext: UnsafeRawBufferPointer
    let rooms: [RawMemory]

    func doPiece(_ piece: Int, as worker: Int) throws(VaultError) {
        let indices = span.indices(of: piece)
        let size = span.chunkSize
        var start = indices.lowerBound
        while start < indices.upperBound {
            let end = span.endOfRun(from: start, before: indices.upperBound)
            for index in start..<end {
                try span.blocks.seal(
                    UnsafeRawBufferPointer(rebasing: plaintext[index * size..<(index + 1) * size]),
                    into: rooms[worker].slice((index - start) * size, size), &span[index], at: span.place(of: index))
            }
            try span.device.write(
                UnsafeRawBufferPointer(rooms[worker].slice(0, (end - start) * size)), at: span.offset(of: start))
            start = end
        }
    }
}
