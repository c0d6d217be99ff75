import CordonBase
import Crypto
import Foundation

/// Remembers tokens whose signature was verified a moment ago, by their digest, so that an app's next request costs no
/// second verification. What a token says of time is looked at again each time.
///
/// Bounded: when a generation is full or old the one before is forgotten. A withdrawn key of a provider thus ends at most
/// ``longest`` later than without this.
final class VerifiedTokens: Sendable {
    /// How long a verification counts, in seconds.
    static let longest: TimeInterval = 300

    private struct Entry {
        var token: AccessToken
        var audience: TokenAudience
        var notBefore: Date
        var until: Date
    }

    private struct Generations {
        var current: [SHA256Digest: Entry] = [:]
        var previous: [SHA256Digest: Entry] = [:]
    }

    private let capacity: Int
    private let known = Locked(Generations())

    init(capacity: Int = 20_000) {
        self.capacity = capacity
    }

    /// The token, where it was verified for this audience and is valid now.
    func token(_ digest: SHA256Digest, for audience: TokenAudience, at now: Date) -> AccessToken? {
        let entry = known.withLock { $0.current[digest] ?? $0.previous[digest] }
        guard let entry, entry.audience == audience, entry.notBefore <= now, now < entry.until else { return nil }
        return entry.token
    }

    /// Remembers a token that passed every check.
    func remember(
        _ digest: SHA256Digest, _ token: AccessToken, for audience: TokenAudience, notBefore: Date, at now: Date
    ) {
        let until = min(
            now.addingTimeInterval(Self.longest), token.expires.addingTimeInterval(TokenRules.clockTolerance))
        let entry = Entry(token: token, audience: audience, notBefore: notBefore, until: until)
        known.withLock { [capacity] known in
            if known.current.count >= capacity / 2 {
                known.previous = known.current
                known.current = [:]
            }
            known.current[digest] = entry
        }
    }
}
