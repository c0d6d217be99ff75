#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The blocks of one sealed file: reads them, writes them to places no commit reaches, and commits. Its owner locks.
///
/// When a change failed part-way the store refuses to write again, because what the disk holds and what is in memory may differ. Its owner
/// calls ``markBroken()`` for changes that take several calls.
final class SealedStore {
    let header: SealedHeader
    private(set) var record: CommitRecord
    private(set) var shape: TreeShape
    let device: any StorageDevice
    let blocks: BlockSealer
    /// Where blocks are sealed on their way to the disk; readers do not allocate it, and it never holds plaintext.
    private lazy var sealed = RawMemory(header.chunkSize)
    /// The same for chunks that are written together.
    private(set) lazy var run = RawMemory(max(header.chunkSize, Self.runBytes))
    var nonces = NonceSource()
    var allocator: SlotAllocator?
    var root: BlockReference
    var nodes = TreeNodes()
    var seals: UInt64
    private let sealsAtOpening: UInt64
    /// How many seals the record in force allows.
    private var reservedSeals: UInt64
    var isDirty = false
    private(set) var isBroken = false
    /// The record in force as it was found, until this writer has put it onto the disk once more.
    private var found: [UInt8]?
    /// The page whose record was not genuine in a recovering open, until this writer has written over all of it: no record counts with anything else
    /// in its page.
    private var damagedPage: Int?
    let nodeLimit: Int

    /// References kept in memory: enough for random reads in 280 MiB of the smallest chunks.
    static let usualNodeBytes = 9 << 18

    private init(
        header: SealedHeader, record: CommitRecord, found: [UInt8]? = nil, damagedPage: Int? = nil,
        device: any StorageDevice, blocks: BlockSealer
    ) {
        self.header = header
        self.record = record
        self.found = found
        self.damagedPage = damagedPage
        self.device = device
        self.blocks = blocks
        shape = TreeShape(chunkSize: header.chunkSize, size: record.length)
        root = record.root
        // A killed writer may have sealed as often as its record allowed.
        seals = record.reach
        sealsAtOpening = seals
        reservedSeals = seals
        nodeLimit = max(16, Self.usualNodeBytes / header.chunkSize)
    }

    // MARK: Opening

    /// Writes a new, empty file onto a device; durable once the device is synced, or something committed.
    static func create(
        on device: any StorageDevice, header: SealedHeader, contentKey: SecretBytes, backend: CipherBackend
    ) throws(VaultError) -> SealedStore {
        let store = SealedStore(
            header: header,
            record: CommitRecord(
                generation: 0, length: 0, sealCount: 0, slotCount: 0, isWriting: true,
                physicalLength: Layout.dataStart, root: .hole),
            device: device, blocks: try blocks(of: header, contentKey, backend))
        store.seals = 0
        store.allocator = SlotAllocator(count: 0)
        try device.write(UnsafeRawBufferPointer(header.memory.slice(0, Layout.headerSize)), at: 0)
        try store.write(store.record)
        var second = store.record
        second.generation = 1
        try store.write(second)
        return store
    }

    /// Opens what is on a device.
    ///
    /// - Parameter recovering: take the one genuine commit record when the other is damaged.
    static func open(
        on device: any StorageDevice, header: SealedHeader, contentKey: SecretBytes, backend: CipherBackend,
        recovering: Bool = false
    ) throws(VaultError) -> SealedStore {
        let blocks = try blocks(of: header, contentKey, backend)
        let (record, bytes, isAlone) = try newestRecord(
            on: device, header: header, blocks: blocks, recovering: recovering)
        return SealedStore(
            header: header, record: record, found: bytes,
            damagedPage: isAlone ? CommitRecord.page(of: record.generation + 1) : nil, device: device, blocks: blocks)
    }

    private static func blocks(
        of header: SealedHeader, _ key: SecretBytes, _ backend: CipherBackend
    ) throws(VaultError) -> BlockSealer {
        guard let cipher = key.withBytes({ backend.cipher(key: $0) }) ?? nil else {
            throw VaultError(.sealingFailed, "The cipher could not be set up.")
        }
        return BlockSealer(cipher: cipher, context: BlockContext(headerDigest: header.digest))
    }

    /// The newest record, its bytes, and whether it is the only one; read again while a writer changes what is there.
    private static func newestRecord(
        on device: any StorageDevice, header: SealedHeader, blocks: BlockSealer, recovering: Bool
    ) throws(VaultError) -> (record: CommitRecord, bytes: [UInt8], isAlone: Bool) {
        let page = RawMemory(Layout.recordPage)
        var former: [UInt8] = []
        var looksAlike = 0
        for _ in 0..<1000 where looksAlike < 3 {
            var found: [CommitRecord] = []
            var look: [UInt8] = []
            for index in 0...1 {
                try device.readAll(page.slice(0, Layout.recordPage), at: Layout.recordOffsets[index])
                let record = CommitRecord.open(
                    page, index: index, cipher: blocks.cipher, context: blocks.context, chunkSize: header.chunkSize)
                if let record { found.append(record) }
                look += page.array(0, CommitRecord.size)
            }
            let size = try device.size()
            if let newest = CommitRecord.newest(of: found, bytesOnDisk: size, recovering: recovering) {
                let start = CommitRecord.page(of: newest.generation) * CommitRecord.size
                return (newest, Array(look[start..<start + CommitRecord.size]), found.count == 1)
            }
            withUnsafeBytes(of: size) { look += $0 }
            looksAlike = look == former ? looksAlike + 1 : 1
            former = look
            if looksAlike > 1 { usleep(500) }
        }
        throw VaultError(.damaged, "The commit records or the length on disk are not what was written.")
    }

    private func newestRecord() throws(VaultError) -> CommitRecord {
        try Self.newestRecord(on: device, header: header, blocks: blocks, recovering: false).record
    }

    /// Whether a writer has committed since.
    func isOvertaken() throws(VaultError) -> Bool { try newestRecord().generation != record.generation }

    /// Takes over what a writer has committed since; true when there was something.
    func refresh() throws(VaultError) -> Bool {
        let newest = try newestRecord()
        guard newest.generation != record.generation else { return false }
        record = newest
        shape = TreeShape(chunkSize: header.chunkSize, size: newest.length)
        root = newest.root
        nodes.removeAll()
        return true
    }

    // MARK: Sealing and opening blocks

    func offset(of slot: UInt32) -> Int64 { Layout.offset(of: slot, chunkSize: header.chunkSize) }

    /// Slots that a reference may name: a reader's commit has so many, and a writer has taken more.
    var slotsInReach: UInt32 { allocator == nil ? record.slotCount : .max }

    /// Reads a block into `output`, as many bytes as it takes, and opens it there; what is not genuine leaves zeros.
    func readBlock(
        _ reference: BlockReference, at place: TreePlace, into output: UnsafeMutableRawBufferPointer
    ) throws(VaultError) {
        guard reference.slot <= record.slotCount || allocator != nil else { throw .slotOutOfReach }
        try device.readAll(output, at: offset(of: reference.slot))
        try blocks.open(output, reference, at: place)
    }

    /// Seals a block anew, and notes where it is from now on.
    ///
    /// A failure part-way ends all writing, also where a read had to make room: memory may still name a place that was given away.
    func replaceBlock(at place: TreePlace, with plaintext: UnsafeRawBufferPointer) throws(VaultError) {
        do {
            let old = try reference(at: place)
            try setReference(try writeBlock(plaintext, at: place, replacing: old), at: place)
        } catch {
            isBroken = true
            throw error
        }
    }

    /// Writes a block to a place no commit reaches, preferably where the uncommitted former version stands.
    private func writeBlock(
        _ plaintext: UnsafeRawBufferPointer, at place: TreePlace, replacing old: BlockReference
    ) throws(VaultError) -> BlockReference {
        let sealed = self.sealed.slice(0, plaintext.count)
        var reference = try placeForBlock(replacing: old)
        try blocks.seal(plaintext, into: sealed, &reference, at: place)
        try device.write(UnsafeRawBufferPointer(sealed), at: offset(of: reference.slot))
        return reference
    }

    /// Takes a nonce and a place for a block that is to be sealed, and counts the seal.
    func placeForBlock(replacing old: BlockReference) throws(VaultError) -> BlockReference {
        try beginWriting()
        guard let allocator else { throw VaultError(.readOnly, "The file is open for reading only.") }
        var reference = BlockReference()
        (reference.nonceHead, reference.nonceRest) = nonces.make()
        try countSeal()
        if !old.isHole, allocator.mayOverwrite(old.slot) {
            reference.slot = old.slot
        } else {
            reference.slot = try allocator.take()
            if !old.isHole { allocator.release(old.slot) }
        }
        isDirty = true
        return reference
    }

    private func countSeal() throws(VaultError) {
        seals += 1
        guard seals < Layout.sealLimit else {
            throw VaultError(.keyExhausted, "The content key has sealed \(seals) blocks.")
        }
    }

    /// Whether the content key has sealed half as often as is safe, so that the file is better resealed.
    var isDueForNewKey: Bool { seals >= Layout.sealLimit / 2 }

    /// Says that a change failed part-way.
    func markBroken() { isBroken = true }

    // MARK: Committing

    /// Refuses when an earlier write failed; marks the file as being written before its first change, and reserves more
    /// seals before the reserved ones are used up.
    private func beginWriting() throws(VaultError) {
        guard !isBroken else { throw VaultError(.closed, "An earlier write to the file failed.") }
        guard allocator != nil else { throw VaultError(.readOnly, "The file is open for reading only.") }
        guard seals >= reservedSeals else { return }
        var mark = record
        mark.generation += 1
        mark.isWriting = true
        try putRecord(mark)
    }

    /// Makes a state durable: everything it names first, then the record.
    private func putRecord(_ next: CommitRecord) throws(VaultError) {
        try rewriteFoundRecord()
        try device.sync()
        try write(next)
        try device.sync()
    }

    /// Writes the record that was found where it stands. If the sync of its writer failed, it was in memory alone, which the system then takes for
    /// written and may give up; with a later record or a shorter file on the disk and without this one, no record there would count. To be synced
    /// before either.
    private func rewriteFoundRecord() throws(VaultError) {
        guard let bytes = found else { return }
        let sector = RawMemory(Layout.sector)
        sector.store(bytes, at: 0)
        try device.write(
            UnsafeRawBufferPointer(sector.slice(0, Layout.sector)),
            at: Layout.recordOffsets[CommitRecord.page(of: record.generation)])
        found = nil
    }

    private func write(_ next: CommitRecord) throws(VaultError) {
        let page = RawMemory(Layout.recordPage)
        let height = TreeShape(chunkSize: header.chunkSize, size: next.length).height
        var sealed = next
        try countSeal()
        reservedSeals = next.isWriting ? max(seals + reservation, Layout.sealsUnderMark) : seals
        sealed.sealCount = next.isWriting ? reservedSeals - Layout.sealsUnderMark : seals
        let isSealed = sealed.seal(
            into: page, cipher: blocks.cipher, context: blocks.context, height: height, nonce: nonces.make())
        guard isSealed else {
            throw VaultError(.sealingFailed, "A commit record could not be sealed.")
        }
        // The first write of a page fills it; later ones touch one sector.
        let place = CommitRecord.page(of: next.generation)
        let count = next.generation < 2 || place == damagedPage ? Layout.recordPage : Layout.sector
        try device.write(UnsafeRawBufferPointer(page.slice(0, count)), at: Layout.recordOffsets[place])
        if place == damagedPage { damagedPage = nil }
        record = sealed
    }

    /// As many again as this writer has made, within bounds: few records more, and a kill costs no more than was used.
    private var reservation: UInt64 {
        min(max(seals - min(sealsAtOpening, seals), Layout.reservations.lowerBound), Layout.reservations.upperBound)
    }

    /// Makes everything written so far the file's durable state.
    ///
    /// - Parameter closing: leave the file marked as complete, with its exact length on disk.
    func commit(closing: Bool) throws(VaultError) {
        guard !isBroken else { throw VaultError(.closed, "An earlier write to the file failed.") }
        guard let allocator, isDirty || (closing && record.isWriting) else { return }
        if isDirty { try beginWriting() }
        try flushNodes()
        let end = allocator.countWithoutFreeTail()
        let limit = Layout.dataStart + Int64(end) * Int64(header.chunkSize)
        let sizeOnDisk = try device.size()
        let isExact = end == allocator.count && sizeOnDisk <= limit
        // What lies beyond the limit may be cut off at any time, so no record counts on it.
        let length = min(sizeOnDisk, limit)
        if isDirty, !closing || !isExact {
            try putRecord(nextRecord(writing: true, physicalLength: length))
            allocator.didCommit()
        }
        if closing {
            // What nothing names is cut off only after the commit that stopped naming it, which may be one that was found.
            if !isExact {
                if found != nil {
                    try rewriteFoundRecord()
                    try device.sync()
                }
                try cut(to: end, limit)
            }
            try putRecord(nextRecord(writing: false, physicalLength: length))
            allocator.didCommit()
        }
        isDirty = false
    }

    private func nextRecord(writing: Bool, physicalLength: Int64) -> CommitRecord {
        var next = record
        next.generation += 1
        next.length = shape.size
        next.root = root
        next.slotCount = allocator?.count ?? record.slotCount
        next.isWriting = writing
        next.physicalLength = physicalLength
        return next
    }

    private func cut(to end: UInt32, _ limit: Int64) throws(VaultError) {
        allocator?.cut(to: end)
        if try device.size() > limit { try device.truncate(to: limit) }
    }

    /// Takes a new shape; the tree has been brought into it.
    func setShape(_ shape: TreeShape) {
        self.shape = shape
        isDirty = true
    }
}
