internal import CordonBase
internal import Foundation

/// The latest moment that the device's clock has shown: a clock that is turned back makes times unknown, not short.
final class ClockMonitor: Sendable {
    /// What the clock says, seen against what it said before.
    struct Moment: Sendable {
        /// What the clock says, or said last where it went back a little.
        var now: Date
        /// How far it was turned back, zero where it was not.
        var turnedBack: TimeInterval
    }

    private let clock: ProtectionClock
    private let latest = Locked(Date.distantPast)
    private let doubt = Locked(false)
    private let loss = Locked(Loss())
    private let seenRun: Locked<RunTime?> = Locked(nil)

    /// Whether the next start of the machine will not know how long it ran.
    private struct Loss {
        var isLost = false
        /// Whether this process has reached the service: it counts the time since then itself.
        var isSettled = false
    }

    init(_ clock: ProtectionClock) { self.clock = clock }

    /// The latest moment seen.
    var latestMoment: Date { latest.withLock { $0 } }

    /// What time it is.
    func read() -> Moment {
        let shown = clock.now()
        let latest = latest.withLock { latest in
            latest = max(latest, shown)
            return latest
        }
        let back = max(latest.timeIntervalSince(shown), isInDoubt ? 2 * Intervals.clockTolerance : 0)
        if back <= Intervals.clockTolerance { return Moment(now: latest, turnedBack: 0) }
        return Moment(now: shown, turnedBack: back)
    }

    /// Takes in a moment that was seen before this process began.
    func remember(_ moment: Date) {
        latest.withLock { $0 = max($0, moment) }
    }

    /// How long the machine has run until now.
    func runTime() -> RunTime {
        let now = ClockReading(clock)
        return seenRun.withLock { seen in
            var run = seen ?? RunTime(now)
            run.note(now)
            seen = run
            return run
        }
    }

    /// Takes in how long the machine was seen to run by a process before, or another one.
    func remember(_ stored: RunTime?) {
        guard var stored else { return }
        stored.note(ClockReading(clock))
        seenRun.withLock { [stored] seen in
            if stored.total > seen?.total ?? 0 { seen = stored }
        }
    }

    /// Begins anew: the service was asked just now, so whatever the clock shows is where times count from.
    func trustClock() {
        let shown = clock.now()
        latest.withLock { $0 = shown }
        setInDoubt(false)
        loss.withLock { $0.isSettled = true }
    }

    /// Whether what the clock has shown before was lost or put back, or the time that the machine runs is not written down: then no time
    /// that it shows counts, as if it had been turned back.
    var isInDoubt: Bool { doubt.withLock { $0 } || loss.withLock { $0.isLost && !$0.isSettled } }

    /// Says whether what the clock has shown before is known.
    func setInDoubt(_ isInDoubt: Bool) { doubt.withLock { $0 = isInDoubt } }

    /// Says whether the time that the machine runs cannot be written down. The wall clock could then be set back before each of its starts,
    /// and no time would ever add up.
    func setRunTimeLost(_ isLost: Bool) { loss.withLock { $0.isLost = isLost } }
}
