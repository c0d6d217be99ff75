/// Copies the plaintext of a sealed file into a new one, a megabyte a step; holes stay holes.
struct SealedPouring {
    private let source: SealedFile
    private let target: SealedFile
    private let size: Int64
    private let memory = RawMemory(1 << 20, isSecret: true)
    private var offset: Int64 = 0

    init(from source: SealedFile, into target: SealedFile) throws(VaultError) {
        self.source = source
        self.target = target
        size = try source.size()
        try target.truncate(to: size)
    }

    /// Copies the next part; false when there was none.
    mutating func step() throws(VaultError) -> Bool {
        guard offset < size else { return false }
        let count = try source.read(into: memory.slice(0, memory.bytes.count), at: offset)
        guard count > 0 else { throw VaultError(.damaged, "The file ends before its size.") }
        for start in stride(from: 0, to: count, by: target.chunkSize) {
            let end = min(count, start + target.chunkSize)
            guard !memory.isZero(from: start, to: end) else { continue }
            try target.write(UnsafeRawBufferPointer(memory.slice(start, end - start)), at: offset + Int64(start))
        }
        offset += Int64(count)
        return true
    }
}
