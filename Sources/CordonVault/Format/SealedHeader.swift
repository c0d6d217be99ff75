internal import CordonBase
internal import CordonIdentity
internal import Crypto

/// The first 4,096 bytes of a sealed file or database: who owns it, which key opens it, how it is cut. Never changed, but
/// for a database's last byte.
///
/// Versions 1 and 2 differ in the secret part alone: ``HeaderV1``, ``HeaderV2``.
struct SealedHeader {
    /// What follows the header.
    enum Kind: String {
        case file = "CORDONSF"
        case database = "CORDONSD"
    }

    /// Where the secret part begins; all before it is in the clear and authenticated with it.
    static let secretOffset = 576
    /// A database's block size as a power of two, 0 until the first page is written. Every block authenticates it.
    private static let blockOffset = Layout.headerSize - 1

    let version: FormatVersion
    let kind: Kind
    let memory: RawMemory
    let fileID: [UInt8]
    let accountKeyID: [UInt8]
    let owner: AccountID
    /// Bytes of plaintext in a chunk or page; 0 for a database without pages.
    let chunkSize: Int

    /// A header for a new file, with its content key wrapped under the account's key.
    ///
    /// - Parameter name: What the file is called; version 1 keeps none.
    static func make(
        _ version: FormatVersion = .two, _ kind: Kind = .file, owner: AccountID, accountKey: AccountKey,
        chunkSize: Int, name: SealedName = .none
    ) throws(VaultError) -> (header: SealedHeader, contentKey: SecretBytes) {
        let ownerName = Array(owner.rawValue.utf8)
        guard !ownerName.isEmpty, ownerName.count <= Layout.longestOwner else {
            throw VaultError(.invalidArgument, "An owner has 1 to \(Layout.longestOwner) bytes.")
        }
        let log = kind == .file ? UInt8(chunkSize.trailingZeroBitCount) : 0
        guard kind == .database || (chunkSize.nonzeroBitCount == 1 && Layout.chunkSizes.contains(log)) else {
            throw VaultError(.invalidArgument, "A chunk has a power of two of bytes, 4,096 to 1,048,576.")
        }
        let memory = RawMemory(Layout.headerSize)
        let fileID = SecureRandom.bytes(16)
        memory.store(Array(kind.rawValue.utf8), at: 0)
        memory.store(version.rawValue, at: 8)
        memory.store(Layout.algorithmAES256GCM, at: 10)
        memory.store(log, at: 11)
        memory.store(fileID, at: 16)
        memory.store(accountKey.id, at: 32)
        memory.store(UInt16(ownerName.count), at: 48)
        memory.store(ownerName, at: 50)
        let contentKey = SecretBytes.random()
        switch version {
        case .one: try HeaderV1.seal(contentKey, into: memory, fileID: fileID, under: accountKey)
        case .two:
            try HeaderV2.seal(contentKey, SealedFacts(name: name), into: memory, fileID: fileID, under: accountKey)
        }
        return (try SealedHeader(memory), contentKey)
    }

    /// Reads a header without any key; says nothing yet about whether it is genuine.
    init(_ memory: RawMemory) throws(VaultError) {
        guard memory.bytes.count == Layout.headerSize, let kind = Self.kind(of: memory) else {
            throw VaultError(.notSealed, "The file does not begin as a sealed file does.")
        }
        guard let version = FormatVersion(rawValue: memory.load(8)), version == .one || kind == .file,
            memory.load(10, as: UInt8.self) == Layout.algorithmAES256GCM
        else { throw VaultError(.unsupportedFormat, "Format or algorithm is not known to this version.") }
        let log = memory.load(11, as: UInt8.self)
        let length = Int(memory.load(48, as: UInt16.self))
        let isDatabase = kind == .database
        let block = isDatabase ? memory.load(Self.blockOffset, as: UInt8.self) : 0
        let end = version == .one ? HeaderV1.end : HeaderV2.end
        guard
            isDatabase ? log == 0 && (block == 0 || Layout.pageSizes.contains(block)) : Layout.chunkSizes.contains(log),
            memory.load(12, as: UInt32.self) == 0,
            (1...Layout.longestOwner).contains(length), memory.isZero(from: 50 + length, to: Self.secretOffset),
            memory.isZero(from: end, to: Self.blockOffset), isDatabase || memory.bytes[Self.blockOffset] == 0,
            let name = String(validating: memory.array(50, length), as: UTF8.self)
        else { throw VaultError(.damaged, "The header is not well formed.") }
        self.version = version
        self.kind = kind
        self.memory = memory
        fileID = memory.array(16, 16)
        accountKeyID = memory.array(32, 16)
        owner = AccountID(name)
        chunkSize = isDatabase && block == 0 ? 0 : 1 << Int(isDatabase ? block : log)
    }

    /// SHA-256 of the header, a database's last byte as zero; part of what every block authenticates. Made when it is asked for: a look at many files
    /// for their owners needs none.
    var digest: [UInt8] {
        var hash = SHA256()
        hash.update(bufferPointer: UnsafeRawBufferPointer(memory.slice(0, Self.blockOffset)))
        hash.update(data: [0])
        return Array(hash.finalize())
    }

    /// What the beginning of a file says it is; nil when it is nothing of the vault's.
    static func kind(of memory: RawMemory) -> Kind? {
        Kind(rawValue: String(decoding: memory.array(0, 8), as: UTF8.self))
    }

    /// The content key, which also proves the header genuine, and what the file is called.
    ///
    /// - Throws: `wrongKey` when another account key wrapped it, `damaged` when the header was changed,
    ///   `unsupportedFormat` when it asks for something this version does not know.
    func open(under accountKey: AccountKey) throws(VaultError) -> (contentKey: SecretBytes, name: SealedName) {
        guard let accountKey = accountKey.key(withID: accountKeyID) else {
            throw VaultError(.wrongKey, "The file was sealed under the account key \(accountKeyID.hex).")
        }
        switch version {
        case .one:
            if let key = try HeaderV1.open(memory, fileID: fileID, under: accountKey) { return (key, .none) }
        case .two:
            if let (key, facts) = try HeaderV2.open(memory, fileID: fileID, under: accountKey) {
                return (key, facts.name)
            }
        }
        throw VaultError(.damaged, "The header was changed.")
    }

    /// The content key alone; throws what ``open(under:)`` throws.
    func contentKey(under accountKey: AccountKey) throws(VaultError) -> SecretBytes {
        try open(under: accountKey).contentKey
    }
}

extension SealedHeader {
    /// Reads the header at the beginning of a file.
    init(of device: any StorageDevice) throws(VaultError) {
        let memory = RawMemory(Layout.headerSize)
        let count = try device.read(memory.slice(0, Layout.headerSize), at: 0)
        guard count == Layout.headerSize else {
            guard count >= 8, Self.kind(of: memory) != nil else {
                throw VaultError(.notSealed, "The file does not begin as a sealed file does.")
            }
            throw VaultError(.damaged, "The file ends inside its header.")
        }
        try self.init(memory)
    }
}
