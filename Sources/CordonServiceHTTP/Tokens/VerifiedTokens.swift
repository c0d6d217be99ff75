import CordonBase
import CordonSignatures
import Foundation

/// Remembers tokens whose signature was verified a moment ago, by the mark of their text, so that an app's next request costs no
/// second verification.
///
/// Bounded, and no longer than it counts: when a generation is full, or as old as a verification may be, the one before is forgotten. A
/// provider's withdrawn key thus ends at most ``longest`` later than without this. Where the clock is set back, what was verified after the moment that it
/// shows is verified again: how long ago that was cannot be told, nor whether the token is of the future now.
final class VerifiedTokens: Sendable {
    /// How long a verification counts, in seconds.
    static let longest: TimeInterval = 300

    /// An object, so that a table that grows moves a pointer and not all that a token says.
    private final class Entry: Sendable {
        let token: AccessToken
        let audience: TokenAudience
        let verified: Date
        let until: Date

        init(_ token: AccessToken, _ audience: TokenAudience, at verified: Date, until: Date) {
            (self.token, self.audience, self.verified, self.until) = (token, audience, verified, until)
        }
    }

    private struct Generations {
        var current: [HashedText.Mark: Entry] = [:]
        var previous: [HashedText.Mark: Entry] = [:]
        /// When the current one began.
        var begun = Date.distantPast

        mutating func turn(at now: Date) {
            previous = current
            current = [:]
            begun = now
        }
    }

    private let capacity: Int
    private let known = Locked(Generations())

    init(capacity: Int = 20_000) {
        self.capacity = capacity
    }

    /// How many are remembered.
    var count: Int { known.withLock { $0.current.count + $0.previous.count } }

    /// The token, where it was verified for this audience and is valid now.
    func token(_ mark: HashedText.Mark, for audience: TokenAudience, at now: Date) -> AccessToken? {
        let entry = known.withLock { $0.current[mark] ?? $0.previous[mark] }
        guard let entry, entry.audience == audience, entry.verified <= now, now < entry.until else { return nil }
        return entry.token
    }

    /// Remembers a token that passed every check.
    func remember(_ mark: HashedText.Mark, _ token: AccessToken, for audience: TokenAudience, at now: Date) {
        let until = min(
            now.addingTimeInterval(Self.longest), token.expires.addingTimeInterval(TokenRules.clockTolerance))
        let entry = Entry(token, audience, at: now, until: until)
        known.withLock { [capacity] known in
            let age = now.timeIntervalSince(known.begun)
            if age < 0 || age >= 2 * Self.longest {
                // Nothing of it counts any more.
                known = Generations(begun: now)
            } else if age >= Self.longest || known.current.count >= capacity / 2 {
                known.turn(at: now)
            }
            known.current[mark] = entry
        }
    }
}
