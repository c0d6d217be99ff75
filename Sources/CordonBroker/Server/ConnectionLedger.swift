/// Counts open connections, by user and in all; belongs to one event loop.
struct ConnectionLedger {
    private let limits: BrokerLimits
    private var total = 0
    private var byUser: [UInt32: Int] = [:]

    init(_ limits: BrokerLimits) {
        self.limits = limits
    }

    /// Whether one more connection of the user may stay.
    mutating func admit(_ user: UInt32) -> Bool {
        guard total < limits.connections, byUser[user, default: 0] < limits.connectionsPerUser else { return false }
        total += 1
        byUser[user, default: 0] += 1
        return true
    }

    /// Takes note of the end of an admitted connection.
    mutating func release(_ user: UInt32) {
        total -= 1
        byUser[user, default: 1] -= 1
        if byUser[user] == 0 { byUser[user] = nil }
    }
}

/// Lets a burst of requests pass and then so many a second; belongs to one connection.
struct RequestBudget {
    private let burst: Double
    private let perNanosecond: Double
    private var left: Double
    private var updated: UInt64

    /// A full budget.
    ///
    /// - Parameter now: The event loop's clock, in nanoseconds.
    init(_ limits: BrokerLimits, now: UInt64) {
        burst = Double(limits.burst)
        perNanosecond = Double(limits.perSecond) / 1e9
        left = burst
        updated = now
    }

    /// Spends one request; how many nanoseconds to wait before reading on, zero for none.
    mutating func spend(now: UInt64) -> Int64 {
        left = min(burst, left + Double(now - min(now, updated)) * perNanosecond)
        updated = now
        left -= 1
        return left >= 0 ? 0 : Int64(-left / perNanosecond)
    }
}
