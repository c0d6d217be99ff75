import CordonBase
import Crypto
import Foundation

/// Remembers proofs until they are too old to be accepted anyway (RFC 9449 §11.1).
///
/// Only proofs that passed every other check, and the limits, get here, so strangers cannot fill it; and no key has more than
/// its share, so that the holder of one cannot either. When it is full of proofs that are still young it refuses new ones
/// rather than forgetting one.
final class ReplayCache: Sendable {
    enum Outcome: Sendable { case fresh, replayed, full }

    /// The proofs of one span.
    private struct Span {
        var proofs: Set<SHA256Digest> = []
        /// How many each key made, by the first bytes of its thumbprint's digest.
        var counts: [UInt64: Int] = [:]
    }

    private struct Seen {
        var current = Span()
        var previous = Span()
        var turned: Date

        func has(_ digest: SHA256Digest) -> Bool { current.proofs.contains(digest) || previous.proofs.contains(digest) }
    }

    /// Proofs are dropped between one and two of these spans after they came, in seconds.
    let span: TimeInterval
    private let capacity: Int
    private let seen: Locked<Seen>

    init(span: TimeInterval, capacity: Int, now: Date) {
        self.span = span
        self.capacity = capacity
        self.seen = Locked(Seen(turned: now))
    }

    /// Whether a proof is remembered; it may be said of one that is old enough to be forgotten.
    func knows(_ id: String, key thumbprint: String) -> Bool {
        let digest = Self.digest(id, thumbprint)
        return seen.withLock { $0.has(digest) }
    }

    private static func digest(_ id: String, _ thumbprint: String) -> SHA256Digest {
        var text = thumbprint + "." + id
        return text.withUTF8 { letters in
            var hash = SHA256()
            hash.update(bufferPointer: UnsafeRawBufferPointer(letters))
            return hash.finalize()
        }
    }

    /// Remembers a proof by the key that made it and its id.
    ///
    /// - Parameter share: The most proofs of the key that are remembered at once.
    func remember(_ id: String, key thumbprint: String, share: Int = .max, at now: Date) -> Outcome {
        let digest = Self.digest(id, thumbprint)
        let key = SHA256.hash(data: Data(thumbprint.utf8)).prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return seen.withLock { [span, capacity] seen in
            let age = now.timeIntervalSince(seen.turned)
            if age < 0 {
                // The clock was put back: what came since is as old as what comes now, and none of it is forgotten.
                seen.previous.proofs.formUnion(seen.current.proofs)
                seen.previous.counts.merge(seen.current.counts, uniquingKeysWith: +)
                seen.current = Span()
                seen.turned = now
            } else if age >= span {
                seen.previous = age >= 2 * span ? Span() : seen.current
                seen.current = Span()
                seen.turned = now
            }
            if seen.has(digest) { return .replayed }
            guard seen.current.proofs.count + seen.previous.proofs.count < capacity,
                seen.current.counts[key, default: 0] + seen.previous.counts[key, default: 0] < share
            else { return .full }
            seen.current.proofs.insert(digest)
            seen.current.counts[key, default: 0] += 1
            return .fresh
        }
    }
}
