internal import CordonBase
public import CordonIdentity

/// What a sealed file says of itself without any key. Nothing here is proved; ``Vault/verify(_:progress:)`` proves it.
public struct SealedFileFacts: Sendable, Codable, Equatable {
    /// The format's version.
    public let formatVersion: Int
    /// The cipher's name.
    public let algorithm: String
    /// The file's random id, hexadecimal.
    public let fileID: String
    /// Who owns the file.
    public let owner: AccountID
    /// The account key that opens it, hexadecimal; a ``WipeReport`` names the same.
    public let accountKeyID: String
    /// Bytes of plaintext in a chunk.
    public let chunkSize: Int
    /// The plaintext length.
    public let length: Int64
    /// The newest commit's number.
    public let generation: UInt64
    /// How often the content key has sealed; the most that it may have, where ``isBeingWritten``.
    public let seals: UInt64
    /// Whether a writer has the file open, or was killed.
    public let isBeingWritten: Bool
    /// The length on disk.
    public let bytesOnDisk: Int64
}

extension SealedFileFacts {
    init(_ header: SealedHeader, _ record: CommitRecord, bytesOnDisk: Int64) {
        formatVersion = Int(header.version.rawValue)
        algorithm = "AES-256-GCM"
        fileID = header.fileID.hex
        owner = header.owner
        accountKeyID = header.accountKeyID.hex
        chunkSize = header.chunkSize
        length = record.length
        generation = record.generation
        seals = record.reach
        isBeingWritten = record.isWriting
        self.bytesOnDisk = bytesOnDisk
    }
}
