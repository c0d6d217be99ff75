/// What a file's plaintext is poured into.
protocol PlainTarget: AnyObject {
    /// Writes all the bytes.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(VaultError)
    /// Cuts or extends to a length; what is new reads as zeros.
    func truncate(to size: Int64) throws(VaultError)
}

extension SealedFile: PlainTarget {}
extension PosixFile: PlainTarget {}

/// Copies a file's plaintext into an empty file, a megabyte a step. All-zero chunks of a sealed file become holes; every byte of a readable file is
/// written, so that a sealed copy does not reveal which of its chunks are zero.
struct PlaintextCopy {
    private let read: (UnsafeMutableRawBufferPointer, Int64) throws(VaultError) -> Int
    /// Bytes in a chunk of the source; nil for a readable one.
    private let chunkSize: Int?
    private let target: any PlainTarget
    private let memory = RawMemory(1 << 20, isSecret: true)
    private var offset: Int64 = 0

    init(from source: SealedFile, into target: any PlainTarget) {
        read = source.read(into:at:)
        chunkSize = source.chunkSize
        self.target = target
    }

    init(from source: PlainSource, into target: any PlainTarget) {
        read = source.read
        chunkSize = source.chunkSize
        self.target = target
    }

    /// Copies the next part; 0 when there was none, and the target has its length.
    mutating func step() throws(VaultError) -> Int {
        let count = try read(memory.slice(0, memory.bytes.count), offset)
        guard count > 0 else {
            try target.truncate(to: offset)
            return 0
        }
        var written = 0
        if let chunkSize {
            for start in stride(from: 0, to: count, by: chunkSize)
            where memory.isZero(from: start, to: min(count, start + chunkSize)) {
                try write(from: written, to: start)
                written = start + chunkSize
            }
        }
        try write(from: written, to: count)
        offset += Int64(count)
        return count
    }

    private func write(from start: Int, to end: Int) throws(VaultError) {
        guard start < end else { return }
        try target.write(UnsafeRawBufferPointer(memory.slice(start, end - start)), at: offset + Int64(start))
    }
}
