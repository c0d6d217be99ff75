import CordonBase
import Foundation

/// A sign-in under way, sealed in a cookie of the browser that began it.
struct PendingSignIn: Codable, Sendable {
    /// How long a person may spend on the provider's pages, in seconds.
    static let lifetime: TimeInterval = 900

    var state: String
    var verifier: String
    /// The secret key to which the token will be bound.
    var key: Data
    /// The page to go to afterwards.
    var next: String
    /// Whether the person has to prove again who they are.
    var isFresh: Bool
    var ends: Date
}

/// Which sign-ins have had their answer: one is answered once, whatever a browser or an attacker kept (RFC 9700 §4.2.4).
final class AnsweredSignIns: Sendable {
    /// More are forgotten, oldest first: of those the provider still takes no code a second time.
    private static let most = 10_000
    private let states = Locked<(ends: [String: Date], order: [String])>(([:], []))

    /// Notes an answer.
    ///
    /// - Returns: Whether it is the sign-in's first.
    func isFirst(of pending: PendingSignIn, at now: Date) -> Bool {
        states.withLock { states in
            while let oldest = states.order.first,
                states.order.count >= Self.most || states.ends[oldest].map({ $0 <= now }) ?? true
            {
                states.ends[oldest] = nil
                states.order.removeFirst()
            }
            guard states.ends.updateValue(pending.ends, forKey: pending.state) == nil else { return false }
            states.order.append(pending.state)
            return true
        }
    }
}
