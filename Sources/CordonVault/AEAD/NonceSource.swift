internal import CordonAEADShim

/// Random 96-bit nonces, fetched from the system a few at a time because one request per chunk costs more than the
/// cipher. A forked child never sees its parent's remaining nonces: the fork generation is compared on every use. A machine
/// that is resumed twice from one snapshot uses what remains twice; few remain, so that this is soon over.
///
/// Not safe to share between threads; its owner locks.
struct NonceSource {
    /// Nonces that are fetched at a time.
    static let drawn = 32

    private var pool = [UInt64](repeating: 0, count: drawn * 2)
    private var next = drawn * 2
    private var generation: UInt64 = 0

    init() {}

    /// The next nonce as its first four and last eight bytes.
    mutating func make() -> (UInt32, UInt64) {
        let now = cordon_fork_generation()
        if next + 2 > pool.count || now != generation {
            pool.withUnsafeMutableBytes { SecureRandom.fill($0) }
            generation = now
            next = 0
        }
        defer { next += 2 }
        return (UInt32(truncatingIfNeeded: pool[next]), pool[next + 1])
    }
}
