internal import CordonBase
internal import CordonProtocol
internal import Foundation

/// When things are tried again, in seconds (spec rows SRV-CI-061…071, SDK-EN-02, SDK-EN-06).
struct Intervals: Sendable {
    /// A random number from -1 to 1, so that the devices of an organisation do not all ask at once.
    let jitter: @Sendable () -> Double

    static let day: TimeInterval = 86_400
    /// An enrolled app asks at least this often, whatever the service says.
    static let longestCheckIn: TimeInterval = 8 * 3_600
    /// A launch asks when the last check-in is older.
    static let freshAtLaunch: TimeInterval = 15 * 60
    /// How far a clock may go back before its time counts as unknown: corrections over the network are smaller.
    static let clockTolerance: TimeInterval = 5 * 60
    /// A registration that was not used for so long is gone at the service.
    static let registrationLifetime = 90 * day
    /// The pauses where no organisation has said anything.
    private static let usualBackOff: [TimeInterval] = [60, 120, 300, 900, 1_800, longestBackOff]
    /// The longest of them.
    static let longestBackOff: TimeInterval = 3_600
    private static let spread = 0.1

    /// Until the next check-in after one that succeeded.
    func afterCheckIn(serviceAsksFor seconds: Int) -> TimeInterval {
        let wanted = min(max(TimeInterval(seconds), 60), Self.longestCheckIn)
        return wanted * (1 - Self.spread * abs(jitter()))
    }

    /// Until the next check-in after one that failed, however often.
    func afterFailedCheckIn(
        _ status: EnrollmentStatus, failures: Int, retryAfter: Int?, backOff: [Int]? = nil
    ) -> TimeInterval {
        switch status {
        case .notLicensed, .notTargeted: later(of: spreadOut(Self.day / 2), retryAfter)
        case .tenantMigration: later(of: spreadOut(Self.day), retryAfter)
        default: later(of: growing(failures, by: backOff), retryAfter)
        }
    }

    /// Until the next attempt to enrol an account after one that failed.
    func afterFailedEnrollment(_ status: EnrollmentStatus, failures: Int, retryAfter: Int?) -> TimeInterval {
        switch status {
        case .discoveryFailed, .enrollmentNetworkFailure, .checkInNetworkFailure, .timedOut, .removingExistingAccount:
            later(of: growing(failures), retryAfter)
        case .notLicensed, .notTargeted: later(of: spreadOut(Self.day / 2), retryAfter)
        default: later(of: spreadOut(Self.day), retryAfter)
        }
    }

    /// The growing pauses after failures in a row.
    ///
    /// - Parameter table: The pauses that the service asks for, nil for the usual ones. An app keeps away for a second at
    ///   least, and no longer than it ever does (SRV-CI-016, SRV-CI-067).
    func growing(_ failures: Int, by table: [Int]? = nil) -> TimeInterval {
        let asked = (table ?? []).map { min(max(TimeInterval($0), 1), Self.longestCheckIn) }
        let pauses = asked.isEmpty ? Self.usualBackOff : asked
        return spreadOut(pauses[min(max(failures - 1, 0), pauses.count - 1)])
    }

    /// Until something that waits is tried again: as long as it has waited, so that the pauses double, a minute at least and an hour at most.
    /// By its age and not by a count, which every start would begin anew.
    ///
    /// - Parameter begun: Since when it waits; nil where that is not kept.
    func afterWaiting(since begun: Date?, at now: Date) -> TimeInterval {
        let age = begun.map { abs(now.timeIntervalSince($0)) } ?? Self.longestBackOff
        return spreadOut(min(max(age, 60), Self.longestBackOff))
    }

    /// How long an event stream is open at least that does not count as one more failure.
    static let lastingStream = Duration.seconds(30)

    /// How often events have an app check in: some at once, and then one a second.
    static func eventBudget(at now: Double) -> TokenBucket { TokenBucket(burst: 4, perSecond: 1, at: now) }

    /// Pauses between attempts while the service cannot be reached and an observer listens for it: short at first, because a
    /// service that restarts is back in seconds; at most a quarter of an hour.
    func reconnection(after failures: Int) -> Duration {
        let seconds: [TimeInterval] = [1, 2, 5, 10, 30, 60, 120, 300, 900]
        return .seconds(spreadOut(seconds[min(max(failures - 1, 0), seconds.count - 1)]))
    }

    /// Whether a planned moment has come, or is further away than anything of its kind is ever planned: then the clock was
    /// ahead when it was.
    static func isDue(_ moment: Date, at now: Date, atMost longest: TimeInterval = day) -> Bool {
        now >= moment || moment.timeIntervalSince(now) > longest * (1 + 2 * spread)
    }

    /// Whether a planned moment has come, or was planned at a time that the clock says is still to come: it was turned back
    /// since.
    static func isDue(_ moment: Date, plannedAt planned: Date?, at now: Date) -> Bool {
        isDue(moment, at: now) || planned.map { $0.timeIntervalSince(now) > clockTolerance } ?? false
    }

    /// A pause that the devices of an organisation do not all end at once.
    func spreadOut(_ interval: TimeInterval) -> TimeInterval {
        interval * (1 + Self.spread * jitter())
    }

    /// The longer of the interval and the service's `Retry-After` (a day at most), which is never shortened.
    private func later(of interval: TimeInterval, _ retryAfter: Int?) -> TimeInterval {
        max(interval, min(TimeInterval(retryAfter ?? 0), Self.day) * (1 + Self.spread * abs(jitter())))
    }
}
