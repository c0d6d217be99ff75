/// The state of a file that one write makes true: its length and the root of its tree. 108 bytes, written in one
/// sector, so that it is on disk whole or not at all.
struct CommitRecord: Equatable {
    static let magic: [UInt8] = Array("CORDONCR".utf8)
    static let size = 108
    private static let sealedSize = 80

    /// Rises by one with each record; its parity names the page the record stands in.
    var generation: UInt64
    /// The plaintext length.
    var length: Int64
    /// Seals made under the content key so far; while `isWriting`, ``Layout/sealsUnderMark`` less than may be made.
    var sealCount: UInt64
    /// Slots in use or free, from the first.
    var slotCount: UInt32
    /// Whether a writer was at work: bytes beyond what the tree names may follow.
    var isWriting: Bool
    /// The length of the whole file on disk; exact unless `isWriting`, then the least it can be.
    var physicalLength: Int64
    var root: BlockReference

    /// Seals that may have been made under the content key while the record is in force.
    var reach: UInt64 { sealCount + (isWriting ? Layout.sealsUnderMark : 0) }

    /// Where the record of a generation stands.
    static func page(of generation: UInt64) -> Int { Int(generation & 1) }

    /// Puts the record into a page and authenticates it.
    func seal(
        into page: RawMemory, cipher: any ChunkCipher, context: BlockContext, height: Int, nonce: (UInt32, UInt64)
    ) -> Bool {
        page.zero()
        page.store(Self.magic, at: 0)
        page.store(generation, at: 8)
        page.store(UInt64(length), at: 16)
        page.store(sealCount, at: 24)
        page.store(slotCount, at: 32)
        page.store(UInt8(height), at: 36)
        page.store(UInt8(isWriting ? 1 : 0), at: 37)
        page.store(UInt64(physicalLength), at: 40)
        root.write(to: page, at: 48)
        page.store(nonce.0, at: 80)
        page.store(nonce.1, at: 84)
        // The record is no secret: it is authenticated as 80 bytes of ciphertext's worth of context.
        let bytes = Self.context(page, context, generation)
        guard let base = page.bytes.baseAddress else { return false }
        return cipher.seal(
            UnsafeRawBufferPointer(start: base, count: 0), into: base + 80, nonce: base + 80, tag: base + 92,
            context: UnsafeRawBufferPointer(bytes.slice(0, bytes.bytes.count)))
    }

    /// The record in a page; nil when it is not genuine, or stands in the wrong page.
    static func open(
        _ page: RawMemory, index: Int, cipher: any ChunkCipher, context: BlockContext, chunkSize: Int
    ) -> CommitRecord? {
        guard let record = claim(in: page, index: index, chunkSize: chunkSize), let base = page.bytes.baseAddress else {
            return nil
        }
        let bytes = Self.context(page, context, record.generation)
        let genuine = cipher.open(
            UnsafeRawBufferPointer(start: base, count: 0), into: bytes.bytes.baseAddress ?? base, nonce: base + 80,
            tag: base + 92, context: UnsafeRawBufferPointer(bytes.slice(0, bytes.bytes.count)))
        return genuine ? record : nil
    }

    /// The record that a page claims to hold, unproved; nil when it is not well formed or stands in the wrong page.
    static func claim(in page: RawMemory, index: Int, chunkSize: Int) -> CommitRecord? {
        guard page.array(0, 8) == magic, page.isZero(from: size, to: Layout.recordPage) else { return nil }
        let generation: UInt64 = page.load(8)
        let length: UInt64 = page.load(16)
        let seals: UInt64 = page.load(24)
        let physical: UInt64 = page.load(40)
        guard Self.page(of: generation) == index, generation < 1 << 62, seals < 1 << 62, length < 1 << 52,
            physical < 1 << 62, page.load(37, as: UInt8.self) <= 1, page.load(38, as: UInt16.self) == 0,
            TreeShape(chunkSize: chunkSize, size: Int64(length)).height == Int(page.load(36, as: UInt8.self))
        else { return nil }
        return CommitRecord(
            generation: generation, length: Int64(length), sealCount: seals, slotCount: page.load(32),
            isWriting: page.load(37, as: UInt8.self) == 1, physicalLength: Int64(physical),
            root: BlockReference(page, at: 48))
    }

    /// Of two records, the newer one that both and the length on disk agree with; nil when they do not fit together.
    static func newest(of records: [CommitRecord], bytesOnDisk: Int64, recovering: Bool) -> CommitRecord? {
        guard let newest = records.max(by: { $0.generation < $1.generation }) else { return nil }
        let follows = records.count == 2 && records.contains { $0.generation + 1 == newest.generation }
        guard follows || (recovering && records.count == 1) else { return nil }
        let fits =
            newest.isWriting ? bytesOnDisk >= newest.physicalLength : bytesOnDisk == newest.physicalLength
        return fits ? newest : nil
    }

    private static func context(_ page: RawMemory, _ context: BlockContext, _ generation: UInt64) -> RawMemory {
        let whole = RawMemory(48 + sealedSize)
        context.withBytes(.record, level: 0, index: Int64(generation & 1)) { whole.bytes.copyMemory(from: $0) }
        whole.store(page.array(0, sealedSize), at: 48)
        return whole
    }
}

extension BlockReference {
    /// The reference at an offset.
    init(_ memory: RawMemory, at offset: Int) {
        self.init(
            slot: memory.load(offset), nonceHead: memory.load(offset + 4), nonceRest: memory.load(offset + 8),
            tagHead: memory.load(offset + 16), tagRest: memory.load(offset + 24))
    }

    /// Puts the reference at an offset.
    func write(to memory: RawMemory, at offset: Int) {
        memory.store(slot, at: offset)
        memory.store(nonceHead, at: offset + 4)
        memory.store(nonceRest, at: offset + 8)
        memory.store(tagHead, at: offset + 16)
        memory.store(tagRest, at: offset + 24)
    }
}
