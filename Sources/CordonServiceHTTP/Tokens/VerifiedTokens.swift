import CordonBase
import CordonSignatures
import Foundation

/// Remembers tokens whose signature was verified a moment ago, by the mark of their text, so that an app's next request costs no
/// second verification. What a token says of time is looked at again each time.
///
/// Bounded: when a generation is full, the one before is forgotten. A provider's withdrawn key thus ends at most ``longest`` later than
/// without this.
final class VerifiedTokens: Sendable {
    /// How long a verification counts, in seconds.
    static let longest: TimeInterval = 300

    /// An object, so that a table that grows moves a pointer and not all that a token says.
    private final class Entry: Sendable {
        let token: AccessToken
        let audience: TokenAudience
        let notBefore: Date
        let until: Date

        init(_ token: AccessToken, _ audience: TokenAudience, from notBefore: Date, until: Date) {
            (self.token, self.audience, self.notBefore, self.until) = (token, audience, notBefore, until)
        }
    }

    private struct Generations {
        var current: [HashedText.Mark: Entry] = [:]
        var previous: [HashedText.Mark: Entry] = [:]
    }

    private let capacity: Int
    private let known = Locked(Generations())

    init(capacity: Int = 20_000) {
        self.capacity = capacity
    }

    /// The token, where it was verified for this audience and is valid now.
    func token(_ mark: HashedText.Mark, for audience: TokenAudience, at now: Date) -> AccessToken? {
        let entry = known.withLock { $0.current[mark] ?? $0.previous[mark] }
        guard let entry, entry.audience == audience, entry.notBefore <= now, now < entry.until else { return nil }
        return entry.token
    }

    /// Remembers a token that passed every check.
    func remember(
        _ mark: HashedText.Mark, _ token: AccessToken, for audience: TokenAudience, notBefore: Date, at now: Date
    ) {
        let until = min(
            now.addingTimeInterval(Self.longest), token.expires.addingTimeInterval(TokenRules.clockTolerance))
        let entry = Entry(token, audience, from: notBefore, until: until)
        known.withLock { [capacity] known in
            if known.current.count >= capacity / 2 {
                known.previous = known.current
                known.current = [:]
            }
            known.current[mark] = entry
        }
    }
}
