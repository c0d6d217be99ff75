internal import CordonBase
internal import Foundation

/// When a session ends by itself: at the end of the shift, or after as long without activity as is allowed.
struct SessionTimer {
    /// When a person was last at work.
    private(set) var lastActivity: Date
    /// When the clock was last looked at.
    private var looked: Date
    /// Whether the screen is locked: then nothing counts as activity.
    private var isLocked = false
    private var warnedSession: UInt64?
    private let limits: Limits

    /// How long a session may last.
    struct Limits {
        let idle: Duration?
        let shift: Duration?
        let warning: Duration

        init(_ configuration: BrokerConfiguration) {
            idle = configuration.maximumIdle
            shift = configuration.maximumSession
            warning = configuration.warning
        }
    }

    /// What is due.
    enum Step {
        case warn
        case end(isIdle: Bool)
    }

    /// - Parameter looked: The latest moment that is known to have been.
    init(_ limits: Limits, lastActivity: Date, looked: Date) {
        self.limits = limits
        self.lastActivity = lastActivity
        self.looked = looked
    }

    /// Looks at the clock; says by how many seconds it was set back since the look before, and takes the last activity along: the time since
    /// then is not to shrink.
    mutating func look(at now: Date) -> TimeInterval {
        let back = max(0, looked.timeIntervalSince(now))
        looked = now
        lastActivity -= back
        return back
    }

    /// A person works, unless the screen is locked, or the idle time is already over and the session just has not been ended yet.
    mutating func noteActivity(at now: Date) {
        if !isLocked, !isIdle(at: now) { lastActivity = now }
    }

    private func isIdle(at now: Date) -> Bool {
        limits.idle.map { now >= lastActivity.addingTimeInterval($0.timeInterval) } ?? false
    }

    /// A person signed in, which counts whatever the screen says.
    mutating func noteSignIn(at now: Date) { lastActivity = now }

    mutating func lock() { isLocked = true }

    /// The screen is not locked; that does not mean that a person unlocked it just now.
    mutating func goOn() { isLocked = false }

    mutating func unlock(at now: Date) {
        isLocked = false
        noteActivity(at: now)
    }

    /// What is due for the session; warns once each time the end approaches.
    mutating func step(_ session: UInt64, began: Date, now: Date) -> Step? {
        let idle = limits.idle.map { lastActivity.addingTimeInterval($0.timeInterval) }
        let shift = limits.shift.map { began.addingTimeInterval($0.timeInterval) }
        guard let end = [idle, shift].compactMap({ $0 }).min() else { return nil }
        if now >= end { return .end(isIdle: end == idle) }
        guard now >= end.addingTimeInterval(-limits.warning.timeInterval) else {
            warnedSession = nil
            return nil
        }
        guard warnedSession != session else { return nil }
        warnedSession = session
        return .warn
    }
}

/// Work that is done now and then, never twice at the same time.
struct RecurringWork {
    private var next: Date
    private(set) var isRunning = false
    /// Whether it was asked for while it was under way.
    private(set) var isWantedAgain = false

    init(from now: Date) {
        next = now
    }

    /// Makes it due at once.
    mutating func hurry(_ now: Date) {
        next = now
        isWantedAgain = isRunning
    }

    mutating func put(off now: Date, by interval: Duration) { next = now.addingTimeInterval(interval.timeInterval) }

    /// Follows a clock that was set back by so many seconds.
    mutating func goBack(by seconds: TimeInterval) { next -= seconds }

    func isDue(_ now: Date) -> Bool { now >= next }

    /// Begins; false where it is under way.
    mutating func begin() -> Bool {
        guard !isRunning else { return false }
        isRunning = true
        return true
    }

    /// Requests that arrive from here on call for another round.
    mutating func beginRound() { isWantedAgain = false }

    mutating func end() { isRunning = false }
}

extension Duration {
    /// The same time in seconds.
    var timeInterval: TimeInterval { TimeInterval(components.seconds) + TimeInterval(components.attoseconds) / 1e18 }
}
