internal import CordonIdentity
internal import Crypto

/// The first 4,096 bytes of a sealed file: who owns it, which key opens it, how it is cut. Never changed.
struct SealedHeader {
    static let magic: [UInt8] = Array("CORDONSF".utf8)
    private static let wrapOffset = 576
    private static let end = 636

    let memory: RawMemory
    let fileID: [UInt8]
    let accountKeyID: [UInt8]
    let owner: AccountID
    let chunkSize: Int
    /// SHA-256 of the header; part of what every block authenticates.
    let digest: [UInt8]

    /// A header for a new file, with its content key wrapped under the account's key.
    static func make(
        owner: AccountID, accountKey: AccountKey, chunkSize: Int
    ) throws(VaultError) -> (header: SealedHeader, contentKey: SecretBytes) {
        let name = Array(owner.rawValue.utf8)
        guard !name.isEmpty, name.count <= Layout.longestOwner else {
            throw VaultError(.invalidArgument, "An owner has 1 to \(Layout.longestOwner) bytes.")
        }
        let log = UInt8(chunkSize.trailingZeroBitCount)
        guard chunkSize > 0, chunkSize.nonzeroBitCount == 1, Layout.chunkSizes.contains(log) else {
            throw VaultError(.invalidArgument, "A chunk has a power of two of bytes, 4,096 to 1,048,576.")
        }
        let memory = RawMemory(Layout.headerSize)
        let fileID = SecureRandom.bytes(16)
        memory.store(magic, at: 0)
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
        guard memory.bytes.count == Layout.headerSize, memory.array(0, 8) == Self.magic else {
            throw VaultError(.notSealed, "The file does not begin as a sealed file does.")
        }
        guard memory.load(8, as: UInt16.self) == Layout.version,
            memory.load(10, as: UInt8.self) == Layout.algorithmAES256GCM
        else { throw VaultError(.unsupportedFormat, "Format or algorithm is not known to this version.") }
        let log = memory.load(11, as: UInt8.self)
        let length = Int(memory.load(48, as: UInt16.self))
        guard Layout.chunkSizes.contains(log), memory.load(12, as: UInt32.self) == 0,
            (1...Layout.longestOwner).contains(length), memory.isZero(from: 50 + length, to: Self.wrapOffset),
            memory.isZero(from: Self.end, to: Layout.headerSize),
            let name = String(validating: memory.array(50, length), as: UTF8.self)
        else { throw VaultError(.damaged, "The header is not well formed.") }
        self.memory = memory
        fileID = memory.array(16, 16)
        accountKeyID = memory.array(32, 16)
        owner = AccountID(name)
        chunkSize = 1 << Int(log)
        digest = Array(SHA256.hash(data: UnsafeRawBufferPointer(memory.slice(0, Layout.headerSize))))
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
