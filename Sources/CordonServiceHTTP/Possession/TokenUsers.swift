import CordonBase
import Crypto
import Foundation

/// Which key first came with each token that its provider bound to none, so that one who reads such a token later cannot use
/// it with a key of their own.
///
/// Kept in memory and bounded: what is forgotten, also by a restart, is left to the end of the token. A registration is never
/// reached without its own key either way.
final class TokenUsers: Sendable {
    private struct Use {
        var key: String
        var until: Date
    }

    private let capacity: Int
    private let known = Locked<[SHA256Digest: Use]>([:])

    /// - Parameter capacity: The most tokens that are remembered.
    init(capacity: Int = 100_000) {
        self.capacity = capacity
    }

    /// Whether no other key came with the token; notes nothing.
    func mayAdmit(_ token: String, provedBy key: String) -> Bool {
        let digest = Self.digest(of: token)
        return known.withLock { $0[digest].map { $0.key == key } ?? true }
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
            if let use = known[digest] { return use.key == key }
            if known.count >= capacity {
                known = known.filter { $0.value.until.addingTimeInterval(TokenRules.clockTolerance) > now }
                // Full of tokens that are still good: the older half goes.
                if known.count >= capacity {
                    let middle = known.values.map(\.until).sorted()[capacity / 2]
                    known = known.filter { $0.value.until > middle }
                }
            }
            known[digest] = Use(key: key, until: until)
            return true
        }
    }
}
