/// The secret part of a header of version 1: the wrapped content key.
enum HeaderV1 {
    /// Where the secret part ends; zeros follow.
    static let end = SealedHeader.secretOffset + KeyWrap.overhead + 32

    private static let purpose = "cordon vault 1 content key"

    static func seal(
        _ contentKey: SecretBytes, into memory: RawMemory, fileID: [UInt8], under accountKey: AccountKey
    ) throws(VaultError) {
        let wrap = try accountKey.wrappingKey(for: fileID, purpose: purpose)
        try KeyWrap.seal(
            contentKey, under: wrap, into: memory, at: SealedHeader.secretOffset, context: SealedHeader.secretOffset)
    }

    /// The content key; nil when the header was changed.
    static func open(
        _ memory: RawMemory, fileID: [UInt8], under accountKey: AccountKey
    ) throws(VaultError) -> SecretBytes? {
        let wrap = try accountKey.wrappingKey(for: fileID, purpose: purpose)
        return try KeyWrap.open(
            memory, at: SealedHeader.secretOffset, context: SealedHeader.secretOffset, under: wrap)
    }
}
