internal import CordonBase

/// Counts open connections, by program, by user and in all, and how fast new ones are made; belongs to one event loop.
///
/// A program of the list always has some places of its own, whatever others hold. Programs that are not on the list share a few
/// places, enough to tell each that it is refused.
struct ConnectionLedger {
    /// What counts as one program: a user's processes of one file or group, whatever path they see it at.
    struct ProgramKey: Hashable {
        let user: UInt32
        let program: String
    }

    /// What a caller is before it says a word.
    enum Caller: Hashable {
        /// The system's administrator or the broker's own user.
        case administrator
        /// A program of the list.
        case listed(ProgramKey)
        /// A program that is not on the list, of this user.
        case stranger(UInt32)

        /// Whose requests and connects are counted together.
        fileprivate var key: ProgramKey {
            switch self {
            case .administrator: ProgramKey(user: 0, program: "administrator")
            case .listed(let key): key
            case .stranger(let user): ProgramKey(user: user, program: "strangers")
            }
        }

        fileprivate var isStranger: Bool { if case .stranger = self { true } else { false } }
    }

    private struct Program {
        var connections = 0
        var connects: TokenBucket
        let budget: ProgramBudget

        init(_ limits: BrokerLimits, isStranger: Bool, now: UInt64) {
            connects = TokenBucket(
                burst: isStranger ? limits.strangers : limits.connectsAtOnce,
                perSecond: isStranger ? limits.strangersPerSecond : limits.connectsPerSecond, now: now)
            budget = ProgramBudget(
                TokenBucket(burst: limits.programBurst, perSecond: limits.programPerSecond, now: now))
        }
    }

    private let limits: BrokerLimits
    private var total = 0
    private var strangers = 0
    private var users: [UInt32: Int] = [:]
    private var programs: [ProgramKey: Program] = [:]
    private var processes: [Int32: TokenBucket] = [:]

    /// Programs whose connections have all ended are forgotten beyond this number, not at once: a program that comes back has
    /// no new budget.
    private static let most = 1_024

    init(_ limits: BrokerLimits) {
        self.limits = limits
    }

    /// Whether a process may be looked at that connects: not one that connects faster than its whole program may.
    ///
    /// Looking at it costs more than the connect does.
    ///
    /// - Parameter now: The event loop's clock, in nanoseconds.
    mutating func mayKnock(_ process: Int32, now: UInt64) -> Bool {
        if processes.count > Self.most { processes = [:] }
        var bucket =
            processes[process]
            ?? TokenBucket(burst: limits.connectsAtOnce, perSecond: limits.connectsPerSecond, now: now)
        defer { processes[process] = bucket }
        return bucket.take(at: Double(now) / 1e9) == nil
    }

    /// The budget that all connections of the caller's program share, where one more connection may stay; to be given back with
    /// ``release(_:)``.
    ///
    /// - Parameter now: The event loop's clock, in nanoseconds.
    mutating func admit(_ caller: Caller, now: UInt64) -> ProgramBudget? {
        let key = caller.key
        if programs.count > Self.most { programs = programs.filter { $0.value.connections > 0 } }
        var program = programs[key] ?? Program(limits, isStranger: caller.isStranger, now: now)
        defer { programs[key] = program }
        guard program.connects.take(at: Double(now) / 1e9) == nil, hasRoom(for: caller, program.connections) else {
            return nil
        }
        program.connections += 1
        if caller.isStranger {
            strangers += 1
        } else {
            total += 1
            users[key.user, default: 0] += 1
        }
        return program.budget
    }

    private func hasRoom(for caller: Caller, _ own: Int) -> Bool {
        if caller.isStranger { return strangers < limits.strangers }
        return own < limits.reservedPerProgram
            || (total < limits.connections && users[caller.key.user] ?? 0 < limits.connectionsPerUser)
    }

    /// Takes note of the end of an admitted connection.
    mutating func release(_ caller: Caller) {
        let key = caller.key
        programs[key]?.connections -= 1
        if caller.isStranger {
            strangers -= 1
        } else {
            total -= 1
            users[key.user] = users[key.user].flatMap { $0 > 1 ? $0 - 1 : nil }
        }
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
