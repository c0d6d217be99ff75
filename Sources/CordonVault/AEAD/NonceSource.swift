internal import CordonAEADShim

/// Random 96-bit nonces, in runs: the system draws the first of a run, and the others count on from it, since a request for each would
/// cost more than the cipher. Any two nonces of a key are equal no more often than if each were drawn (SP 800-38D, 8.2.2).
///
/// A forked child never goes on with its parent's run: the fork generation is compared on every use. A machine that is resumed twice from
/// one snapshot uses what remains of a run twice; runs are short, so that this is soon over.
///
/// Not safe to share between threads; its owner locks.
struct NonceSource {
    /// Nonces in a run.
    static let drawn = 32

    private var head: UInt32 = 0
    private var rest: UInt64 = 0
    private var left = 0
    private var generation: UInt64 = 0

    init() {}

    /// The next nonce as its first four and last eight bytes.
    mutating func make() -> (UInt32, UInt64) {
        let now = cordon_fork_generation()
        if left == 0 || now != generation { draw(now) } else { step() }
        left -= 1
        return (head, rest)
    }

    private mutating func step() {
        rest &+= 1
        if rest == 0 { head &+= 1 }
    }

    private mutating func draw(_ now: UInt64) {
        var first: (UInt64, UInt64) = (0, 0)
        withUnsafeMutableBytes(of: &first) { SecureRandom.fill($0) }
        (head, rest) = (UInt32(truncatingIfNeeded: first.0), first.1)
        left = Self.drawn
        generation = now
    }
}
