/// Seals and opens the blocks of one file.
struct BlockSealer: Sendable {
    let cipher: any ChunkCipher
    let context: BlockContext

    /// Opens a block where it is; what is not genuine leaves zeros.
    func open(
        _ memory: UnsafeMutableRawBufferPointer, _ reference: BlockReference, at place: TreePlace
    ) throws(VaultError) {
        guard let target = memory.baseAddress else { throw .slotOutOfReach }
        let genuine = withUnsafeBytes(of: reference) { bytes in
            guard let base = bytes.baseAddress else { return false }
            return context.withBytes(.block, level: place.level, index: place.index) {
                cipher.open(
                    UnsafeRawBufferPointer(memory), into: target, nonce: base + 4, tag: base + 16, context: $0)
            }
        }
        guard genuine else {
            throw VaultError(.damaged, "A block was changed.", place: "level \(place.level), block \(place.index)")
        }
    }

    /// Seals a block under the nonce of its reference, which takes the tag.
    func seal(
        _ plaintext: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer,
        _ reference: inout BlockReference, at place: TreePlace
    ) throws(VaultError) {
        let done = withUnsafeMutableBytes(of: &reference) { bytes in
            guard let base = bytes.baseAddress, let target = output.baseAddress else { return false }
            return context.withBytes(.block, level: place.level, index: place.index) {
                cipher.seal(plaintext, into: target, nonce: base + 4, tag: base + 16, context: $0)
            }
        }
        guard done else { throw VaultError(.sealingFailed, "A block could not be sealed.") }
    }
}

extension VaultError {
    /// A reference that no genuine file has.
    static var slotOutOfReach: VaultError {
        VaultError(.damaged, "A block names a slot that the file does not have.")
    }
}
