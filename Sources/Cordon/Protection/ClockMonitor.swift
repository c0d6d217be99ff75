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
    private let doubt = Locked(Doubt())
    private let seenRun: Locked<RunTime?> = Locked(nil)

    /// Why no time that the clock shows may count.
    private struct Doubt {
        /// Whether what the clock has shown before was lost or put back.
        var isMomentLost = false
        /// Whether the next start of the machine will not know how long it ran.
        var isRunTimeLost = false
        /// Whether this process has reached the service: from then on it knows itself what time it is, whatever can be stored.
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
        doubt.withLock { $0.isSettled = true }
    }

    /// Whether what the clock has shown before was lost or put back, or the time that the machine runs is not written down: then no time
    /// that it shows counts, as if it had been turned back, until this process has reached the service.
    var isInDoubt: Bool { doubt.withLock { !$0.isSettled && ($0.isMomentLost || $0.isRunTimeLost) } }

    /// Says whether what the clock has shown before is known.
    func setInDoubt(_ isInDoubt: Bool) { doubt.withLock { $0.isMomentLost = isInDoubt } }

    /// Says whether the time that the machine runs cannot be written down. The wall clock could then be set back before each of its starts,
    /// and no time would ever add up.
    func setRunTimeLost(_ isLost: Bool) { doubt.withLock { $0.isRunTimeLost = isLost } }
}
