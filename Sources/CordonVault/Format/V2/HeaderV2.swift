/// The secret part of a header of version 2: the content key and what the file is called, sealed as one.
enum HeaderV2 {
    /// Where the secret part ends; zeros follow.
    static let end = SealedHeader.secretOffset + KeyWrap.overhead + secretSize

    private static let purpose = "cordon vault 2 content key"
    private static let secretSize = 32 + SealedFacts.size

    static func seal(
        _ contentKey: SecretBytes, _ facts: SealedFacts, into memory: RawMemory, fileID: [UInt8],
        under accountKey: AccountKey
    ) throws(VaultError) {
        let wrap = try accountKey.wrappingKey(for: fileID, purpose: purpose)
        let bytes = try facts.bytes()
        let secret = SecretBytes(count: secretSize) { secret in
            _ = contentKey.withBytes { secret.copyMemory(from: $0) }
            UnsafeMutableRawBufferPointer(rebasing: secret[32...]).copyBytes(from: bytes)
        }
        try KeyWrap.seal(
            secret, under: wrap, into: memory, at: SealedHeader.secretOffset, context: SealedHeader.secretOffset)
    }

    /// The content key and the facts; nil when the header was changed.
    ///
    /// - Throws: `unsupportedFormat` when the facts ask for something this version does not know; `damaged` when they are
    ///   not well formed.
    static func open(
        _ memory: RawMemory, fileID: [UInt8], under accountKey: AccountKey
    ) throws(VaultError) -> (contentKey: SecretBytes, facts: SealedFacts)? {
        let wrap = try accountKey.wrappingKey(for: fileID, purpose: purpose)
        let opened = try KeyWrap.open(
            memory, at: SealedHeader.secretOffset, context: SealedHeader.secretOffset, under: wrap, count: secretSize)
        guard let secret = opened else { return nil }
        let parts = secret.withBytes { bytes in
            (
                SecretBytes(count: 32) { $0.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[..<32])) },
                RawMemory(bytes[32...])
            )
        }
        guard let (contentKey, facts) = parts else { return nil }
        return (contentKey, try SealedFacts(facts))
    }
}
