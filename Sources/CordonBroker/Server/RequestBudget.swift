/// Lets a burst pass and then so many a second; belongs to one event loop.
struct RequestBudget: Sendable {
    private let burst: Double
    private let perNanosecond: Double
    private var left: Double
    private var updated: UInt64

    /// A full budget.
    ///
    /// - Parameter now: The event loop's clock, in nanoseconds.
    init(burst: Int, perSecond: Int, now: UInt64) {
        self.burst = Double(burst)
        perNanosecond = Double(perSecond) / 1e9
        left = Double(burst)
        updated = now
    }

    /// Whether something is left now.
    mutating func isLeft(now: UInt64) -> Bool {
        refill(now)
        return left >= 1
    }

    /// Spends one; how many nanoseconds to wait before going on, zero for none.
    mutating func spend(now: UInt64) -> Int64 {
        refill(now)
        left -= 1
        return left >= 0 ? 0 : Int64(min(-left / perNanosecond, 1e10))
    }

    private mutating func refill(_ now: UInt64) {
        left = min(burst, left + Double(now - min(now, updated)) * perNanosecond)
        updated = now
    }
}
