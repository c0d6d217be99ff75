import CordonBase
import Crypto
import Foundation

/// Which key first came with each token that its provider bound to none, so that one who reads such a token later cannot use
/// it with a key of their own.
///
/// Kept in memory, until the token has ended, and bounded: what is forgotten before, also by a restart, is left to the end of the token. A
/// registration is never reached without its own key either way.
final class TokenUsers: Sendable {
    private struct Use {
        var key: String
        var until: Date
    }

    private let capacity: Int
    private let known: Locked<Known>

    private struct Known {
        var uses: [SHA256Digest: Use] = [:]
        /// With how many it is looked for tokens that have ended: twice as many as were left the last time.
        var limit: Int
    }

    /// With fewer, none is looked for.
    private static let fewest = 1_024

    /// - Parameter capacity: The most tokens that are remembered.
    init(capacity: Int = 100_000) {
        self.capacity = capacity
        known = Locked(Known(limit: min(capacity, Self.fewest)))
    }

    /// How many tokens are remembered.
    var count: Int { known.withLock { $0.uses.count } }

    /// Whether no other key came with the token; notes nothing.
    func mayAdmit(_ token: String, provedBy key: String) -> Bool {
        let digest = Self.digest(of: token)
        return known.withLock { $0.uses[digest].map { $0.key == key } ?? true }
    }

    private static func digest(of token: String) -> SHA256Digest {
        // Without the signature: of ECDSA's, whoever reads one can make another that is good, too.
        let signed = token.lastIndex(of: ".").map { token[..<$0] } ?? token[...]
        return SHA256.hash(data: Data(signed.utf8))
    }

    /// Whether the key is the first that came with the token, which it is from now on where none came before.
    func admit(_ token: String, provedBy key: String, until: Date, at now: Date) -> Bool {
        let digest = Self.digest(of: token)
        return known.withLock { [capacity] known in
            if let use = known.uses[digest] { return use.key == key }
            if known.uses.count >= known.limit {
                known.uses = known.uses.filter { $0.value.until.addingTimeInterval(TokenRules.clockTolerance) > now }
                // Full of tokens that are still good: the older half goes.
                if known.uses.count >= capacity {
                    let middle = known.uses.values.map(\.until).sorted()[capacity / 2]
                    known.uses = known.uses.filter { $0.value.until > middle }
                }
                known.limit = min(capacity, max(Self.fewest, 2 * known.uses.count))
            }
            known.uses[digest] = Use(key: key, until: until)
            return true
        }
    }
}
