internal import CordonIdentity
internal import Crypto

/// The first 4,096 bytes of a sealed file or database: who owns it, which key opens it, how it is cut. Never changed, but
/// for a database's last byte.
struct SealedHeader {
    /// What follows the header.
    enum Kind: String {
        case file = "CORDONSF"
        case database = "CORDONSD"
    }

    private static let wrapOffset = 576
    private static let end = 636
    /// A database's block size as a power of two, 0 until the first page is written. Every block authenticates it.
    private static let blockOffset = Layout.headerSize - 1

    let kind: Kind
    let memory: RawMemory
    let fileID: [UInt8]
    let accountKeyID: [UInt8]
    let owner: AccountID
    /// Bytes of plaintext in a chunk or page; 0 for a database without pages.
    let chunkSize: Int
    /// SHA-256 of the header, a database's last byte as zero; part of what every block authenticates.
    let digest: [UInt8]

    /// A header for a new file, with its content key wrapped under the account's key.
    static func make(
        _ kind: Kind = .file, owner: AccountID, accountKey: AccountKey, chunkSize: Int
    ) throws(VaultError) -> (header: SealedHeader, contentKey: SecretBytes) {
        let name = Array(owner.rawValue.utf8)
        guard !name.isEmpty, name.count <= Layout.longestOwner else {
            throw VaultError(.invalidArgument, "An owner has 1 to \(Layout.longestOwner) bytes.")
        }
        let log = kind == .file ? UInt8(chunkSize.trailingZeroBitCount) : 0
        guard kind == .database || (chunkSize.nonzeroBitCount == 1 && Layout.chunkSizes.contains(log)) else {
            throw VaultError(.invalidArgument, "A chunk has a power of two of bytes, 4,096 to 1,048,576.")
        }
        let memory = RawMemory(Layout.headerSize)
        let fileID = SecureRandom.bytes(16)
        memory.store(Array(kind.rawValue.utf8), at: 0)
        memory.store(Layout.version, at: 8)
        memory.store(Layout.algorithmAES256GCM, at: 10)
        memory.store(log, at: 11)
        memory.store(fileID, at: 16)
        memory.store(accountKey.id, at: 32)
        memory.store(UInt16(name.count), at: 48)
        memory.store(name, at: 50)
        let contentKey = SecretBytes.random()
        let wrap = try accountKey.wrappingKey(for: fileID)
        try KeyWrap.seal(contentKey, under: wrap, into: memory, at: wrapOffset, context: wrapOffset)
        return (try SealedHeader(memory), contentKey)
    }

    /// Reads a header without any key; says nothing yet about whether it is genuine.
    init(_ memory: RawMemory) throws(VaultError) {
        guard memory.bytes.count == Layout.headerSize, let kind = Self.kind(of: memory) else {
            throw VaultError(.notSealed, "The file does not begin as a sealed file does.")
        }
        guard memory.load(8, as: UInt16.self) == Layout.version,
            memory.load(10, as: UInt8.self) == Layout.algorithmAES256GCM
        else { throw VaultError(.unsupportedFormat, "Format or algorithm is not known to this version.") }
        let log = memory.load(11, as: UInt8.self)
        let length = Int(memory.load(48, as: UInt16.self))
        let isDatabase = kind == .database
        let block = isDatabase ? memory.load(Self.blockOffset, as: UInt8.self) : 0
        guard
            isDatabase ? log == 0 && (block == 0 || Layout.pageSizes.contains(block)) : Layout.chunkSizes.contains(log),
            memory.load(12, as: UInt32.self) == 0,
            (1...Layout.longestOwner).contains(length), memory.isZero(from: 50 + length, to: Self.wrapOffset),
            memory.isZero(from: Self.end, to: Self.blockOffset), isDatabase || memory.bytes[Self.blockOffset] == 0,
            let name = String(validating: memory.array(50, length), as: UTF8.self)
        else { throw VaultError(.damaged, "The header is not well formed.") }
        self.kind = kind
        self.memory = memory
        fileID = memory.array(16, 16)
        accountKeyID = memory.array(32, 16)
        owner = AccountID(name)
        chunkSize = isDatabase && block == 0 ? 0 : 1 << Int(isDatabase ? block : log)
        var hash = SHA256()
        hash.update(bufferPointer: UnsafeRawBufferPointer(memory.slice(0, Self.blockOffset)))
        hash.update(data: [0])
        digest = Array(hash.finalize())
    }

    /// What the beginning of a file says it is; nil when it is nothing of the vault's.
    static func kind(of memory: RawMemory) -> Kind? {
        Kind(rawValue: String(decoding: memory.array(0, 8), as: UTF8.self))
    }

    /// The content key, which also proves the header genuine.
    ///
    /// - Throws: `wrongKey` when another account key wrapped it, `damaged` when the header was changed.
    func contentKey(under accountKey: AccountKey) throws(VaultError) -> SecretBytes {
        guard accountKey.id == accountKeyID else {
            throw VaultError(.wrongKey, "The file was sealed under the account key \(accountKeyID.hex).")
        }
        let wrap = try accountKey.wrappingKey(for: fileID)
        guard let key = try KeyWrap.open(memory, at: Self.wrapOffset, context: Self.wrapOffset, under: wrap) else {
            throw VaultError(.damaged, "The header was changed.")
        }
        return key
    }
}
