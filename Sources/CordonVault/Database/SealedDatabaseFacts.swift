internal import CordonBase
public import CordonIdentity

/// What a sealed database says of itself without any key. Nothing here is proved; ``Vault/verifyDatabase(_:)`` proves it.
public struct SealedDatabaseFacts: Sendable, Codable, Equatable {
    /// The format's version.
    public let formatVersion: Int
    /// The cipher's name.
    public let algorithm: String
    /// The database's random id, hexadecimal.
    public let fileID: String
    /// Who owns the database.
    public let owner: AccountID
    /// The account key that opens it, hexadecimal; a ``WipeReport`` names the same.
    public let accountKeyID: String
    /// Bytes of plaintext in a page; 0 before the first page was written.
    public let pageSize: Int
    /// How many pages there are on disk; a log beside the database may hold more.
    public let pageCount: Int64
    /// The length on disk.
    public let bytesOnDisk: Int64
}

extension SealedDatabaseFacts {
    init(_ image: SealedDatabaseImage) {
        formatVersion = Int(image.header.version.rawValue)
        algorithm = "AES-256-GCM"
        fileID = image.header.fileID.hex
        owner = image.header.owner
        accountKeyID = image.header.accountKeyID.hex
        pageSize = image.header.chunkSize
        pageCount = image.blockCount
        bytesOnDisk = image.bytesOnDisk
    }
}
