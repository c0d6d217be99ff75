internal import CordonBase

/// Counts open connections, by user and in all, and how fast a user makes new ones; belongs to one event loop.
struct ConnectionLedger {
    private struct User {
        var connections = 0
        var connects: TokenBucket
    }

    private struct Program {
        var connections = 0
        let budget: ProgramBudget
    }

    private let limits: BrokerLimits
    private var total = 0
    private var users: [UInt32: User] = [:]
    private var programs: [ProgramKey: Program] = [:]

    /// What counts as one program: a user's processes of one file, whatever path they see it at.
    struct ProgramKey: Hashable {
        let user: UInt32
        let device: UInt64
        let inode: UInt64
    }

    /// Users and programs whose connections have all ended are forgotten beyond this number, not at once: whoever comes
    /// back has no new budget.
    private static let most = 1_024

    init(_ limits: BrokerLimits) {
        self.limits = limits
    }

    /// Whether one more connection of the user may stay.
    ///
    /// - Parameter now: The event loop's clock, in nanoseconds.
    mutating func admit(_ user: UInt32, now: UInt64) -> Bool {
        if users.count > Self.most { users = users.filter { $0.value.connections > 0 } }
        var known =
            users[user]
            ?? User(
                connects: TokenBucket(burst: limits.connectsAtOnce, perSecond: limits.connectsPerSecond, now: now))
        defer { users[user] = known }
        guard known.connects.take(at: Double(now) / 1e9) == nil else { return false }
        guard total < limits.connections, known.connections < limits.connectionsPerUser else { return false }
        total += 1
        known.connections += 1
        return true
    }

    /// Takes note of the end of an admitted connection.
    mutating func release(_ user: UInt32) {
        total -= 1
        users[user]?.connections -= 1
    }

    /// The budget that all connections of the program share; to be given back with ``leave(_:)``.
    mutating func enter(_ key: ProgramKey, now: UInt64) -> ProgramBudget {
        if programs.count > Self.most { programs = programs.filter { $0.value.connections > 0 } }
        var program =
            programs[key]
            ?? Program(
                budget: ProgramBudget(
                    TokenBucket(burst: limits.programBurst, perSecond: limits.programPerSecond, now: now)))
        program.connections += 1
        programs[key] = program
        return program.budget
    }

    /// Takes note of the end of one of the program's connections.
    mutating func leave(_ key: ProgramKey) {
        programs[key]?.connections -= 1
    }
}

/// The requests of all connections of one program.
final class ProgramBudget: Sendable {
    private let budget: Locked<TokenBucket>

    init(_ budget: TokenBucket) {
        self.budget = Locked(budget)
    }

    /// Spends one request; how many nanoseconds to wait before reading on, zero for none.
    func spend(now: UInt64) -> Int64 { budget.withLock { $0.spend(now: now) } }
}

extension TokenBucket {
    /// A full bucket by the event loop's clock, in nanoseconds.
    init(burst: Int, perSecond: Int, now: UInt64) {
        self.init(burst: Double(burst), perSecond: Double(perSecond), at: Double(now) / 1e9)
    }

    /// Spends one request; how many nanoseconds to wait before reading on, zero for none, at most ten seconds.
    mutating func spend(now: UInt64) -> Int64 { Int64(min(spend(at: Double(now) / 1e9) * 1e9, 1e10)) }
}
