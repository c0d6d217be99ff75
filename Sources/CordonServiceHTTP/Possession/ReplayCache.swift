import CordonBase
import Crypto
import Foundation

/// Remembers proofs until they are too old to be accepted anyway (RFC 9449 §11.1).
///
/// Only proofs that passed every other check get here, so strangers cannot fill it. When it is full of proofs that are
/// still young it refuses new ones rather than forgetting one.
final class ReplayCache: Sendable {
    enum Outcome: Sendable { case fresh, replayed, full }

    private struct Seen {
        var current: Set<Data> = []
        var previous: Set<Data> = []
        var turned: Date
    }

    /// Proofs are dropped between one and two of these spans after they came, in seconds.
    let span: TimeInterval
    private let capacity: Int
    private let seen: Locked<Seen>

    init(span: TimeInterval, capacity: Int = 500_000, now: Date) {
        self.span = span
        self.capacity = capacity
        self.seen = Locked(Seen(turned: now))
    }

    /// Remembers a proof by the key that made it and its id.
    func remember(_ id: String, key thumbprint: String, at now: Date) -> Outcome {
        let digest = Data(SHA256.hash(data: Data((thumbprint + "." + id).utf8)))
        return seen.withLock { [span, capacity] seen in
            let age = now.timeIntervalSince(seen.turned)
            if age < 0 {
                // The clock was put back: what came since is as old as what comes now, and none of it is forgotten.
                seen.previous.formUnion(seen.current)
                seen.current = []
                seen.turned = now
            } else if age >= span {
                seen.previous = age >= 2 * span ? [] : seen.current
                seen.current = []
                seen.turned = now
            }
            if seen.current.contains(digest) || seen.previous.contains(digest) { return .replayed }
            if seen.current.count + seen.previous.count >= capacity { return .full }
            seen.current.insert(digest)
            return .fresh
        }
    }
}
