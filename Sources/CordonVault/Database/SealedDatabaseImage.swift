/// A sealed database as it lies on disk, read block by block without SQLite. Its log and its journal are not part of it.
struct SealedDatabaseImage {
    /// After every block: nonce and tag.
    private static let trailer = 28
    private static let pageBlock: UInt8 = 3

    let header: SealedHeader
    let bytesOnDisk: Int64
    private let device: any StorageDevice

    /// Reads the header.
    ///
    /// - Throws: `notSealed`, `unsupportedFormat`, `damaged`, or what the disk refused.
    init(_ device: any StorageDevice) throws(VaultError) {
        let magic = RawMemory(8)
        guard try device.read(magic.slice(0, 8), at: 0) == 8, SealedHeader.kind(of: magic) == .database else {
            throw VaultError(.notSealed, "The file does not begin as a sealed database does.")
        }
        header = try SealedHeader(of: device)
        self.device = device
        bytesOnDisk = try device.size()
        let body = bytesOnDisk - Int64(Layout.headerSize)
        // The file may have been cut since its header was read.
        guard body >= 0, header.chunkSize > 0 ? body % slotSize == 0 : body == 0 else {
            throw VaultError(.damaged, "The database does not end with a whole page.")
        }
    }

    /// How many blocks there are; of a database whose pages were never made smaller, its pages.
    var blockCount: Int64 {
        header.chunkSize > 0 ? (bytesOnDisk - Int64(Layout.headerSize)) / slotSize : 0
    }

    private var slotSize: Int64 { Int64(header.chunkSize + Self.trailer) }

    /// Proves every block genuine, from the first to the last, and lends each in the clear.
    ///
    /// - Throws: `wrongKey`, `damaged` naming the block, or what the disk refused.
    func forEachBlock(
        under key: AccountKey, backend: CipherBackend = .preferred, _ body: (UnsafeRawBufferPointer) -> Void
    ) throws(VaultError) {
        let contentKey = try header.contentKey(under: key)
        defer { contentKey.destroy() }
        guard let made = contentKey.withBytes({ backend.cipher(key: $0) }), let cipher = made else {
            throw VaultError(.sealingFailed, "The cipher takes no key.")
        }
        let context = RawMemory(48)
        context.store(Self.pageBlock, at: 0)
        context.store(UInt8(header.chunkSize.trailingZeroBitCount), at: 1)
        context.store(header.digest, at: 16)
        let slot = RawMemory(Int(slotSize), isSecret: true)
        for index in 0..<blockCount {
            try device.readAll(slot.slice(0, Int(slotSize)), at: Int64(Layout.headerSize) + index * slotSize)
            context.store(UInt64(index), at: 8)
            let block = slot.slice(0, header.chunkSize)
            guard let start = block.baseAddress,
                cipher.open(
                    UnsafeRawBufferPointer(block), into: start, nonce: start + header.chunkSize,
                    tag: start + header.chunkSize + 12, context: UnsafeRawBufferPointer(context.slice(0, 48)))
            else { throw VaultError(.damaged, "A page was changed.", place: "page \(index + 1)") }
            body(UnsafeRawBufferPointer(block))
        }
    }
}
