internal import CordonAEADShim

/// Random bytes of the operating system.
enum SecureRandom {
    /// Fills memory with random bytes. A system that has none to give cannot go on safely, and the process ends.
    static func fill(_ memory: UnsafeMutableRawBufferPointer) {
        guard let base = memory.baseAddress else { return }
        precondition(cordon_random(base, memory.count) == 1, "The system gives no random bytes.")
    }

    /// That many random bytes, for ids and nonces; never for keys, which live in ``SecretBytes``.
    static func bytes(_ count: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        bytes.withUnsafeMutableBytes { fill($0) }
        return bytes
    }
}
