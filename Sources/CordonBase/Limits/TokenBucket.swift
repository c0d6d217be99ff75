/// Lets a burst pass and then so many a second.
///
/// Times are seconds of any one clock that its owner reads; one that is set back refills nothing.
package struct TokenBucket: Sendable {
    private let burst: Double
    private let perSecond: Double
    private var left: Double
    /// When it was last asked.
    package private(set) var asked: Double

    /// Makes a full bucket.
    package init(burst: Double, perSecond: Double, at now: Double) {
        self.burst = burst
        self.perSecond = perSecond
        left = burst
        asked = now
    }

    /// Whether it is full, or will be by a moment that is not before that at which it was last asked: then a new one is the same.
    package func isFull(at now: Double) -> Bool { left + max(0, now - asked) * perSecond >= burst }

    /// Takes one; if none is there it takes nothing and says in how many seconds one will be, nil after taking one.
    package mutating func take(at now: Double) -> Double? {
        refill(now)
        guard left < 1 else {
            left -= 1
            return nil
        }
        return (1 - left) / perSecond
    }

    /// Takes one that is not there either, on credit; in how many seconds the credit is paid back, zero for none.
    package mutating func spend(at now: Double) -> Double {
        refill(now)
        left -= 1
        return left >= 0 ? 0 : -left / perSecond
    }

    private mutating func refill(_ now: Double) {
        left = min(burst, left + max(0, now - asked) * perSecond)
        asked = now
    }
}
