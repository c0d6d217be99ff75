internal import CordonPolicy
internal import Foundation

/// How long the machine has run, added up over the starts that the app has seen. No less time has passed, whatever the wall clock says.
struct RunTime: Codable, Equatable, Sendable {
    /// The machine's start that was seen last, see ``BootReading``.
    private(set) var boot: String
    /// Milliseconds since that start, when it was seen last.
    private(set) var uptime: Int64
    /// Milliseconds that the app saw of earlier starts, with ``leastBetweenStarts`` for each. Negative where the uptime at this start's first
    /// reading, which may have been counted already, is more than that.
    private(set) var before: Int64

    /// Begins to count.
    init(_ now: ClockReading) {
        (boot, uptime, before) = (now.boot, now.uptime, 0)
    }

    /// Each start counts for five minutes: the wall clock may be set back that far unnoticed, and an attacker could do so at every start.
    private static let leastBetweenStarts = Int64(Intervals.clockTolerance * 1000)

    /// Milliseconds in all.
    var total: Int64 { before + uptime }

    /// How long it has run since it had run for so many milliseconds; nothing for a number that it never had.
    func time(since mark: Int64) -> Duration { (0...total).contains(mark) ? .milliseconds(total - mark) : .zero }

    /// Whether the numbers are ones that counting can have led to.
    var isPlausible: Bool {
        (-1 << 53...1 << 53).contains(before) && (0...1 << 53).contains(uptime) && total >= 0
    }

    /// Takes a later moment in.
    mutating func note(_ now: ClockReading) {
        if boot != now.boot {
            let isTold = BootReading.isOfMachine(boot) && BootReading.isOfMachine(now.boot)
            let uncounted = isTold ? 0 : now.uptime
            (boot, uptime, before) = (now.boot, uncounted, total + Self.leastBetweenStarts - uncounted)
        }
        uptime = max(uptime, now.uptime)
    }

    /// Whether the next start of the machine would count noticeably less, where this was written down last: more is missing than the wall
    /// clock may be set back.
    func isLost(beyond kept: RunTime?) -> Bool {
        guard let kept else { return true }
        return total - kept.total >= Self.leastBetweenStarts
    }

    /// Whether to write this down where another was written before: once for each start, and each minute.
    func isNews(after stored: RunTime?) -> Bool {
        guard let stored, stored.boot == boot else { return true }
        return total - stored.total >= 60_000
    }
}

extension RunTime: JSONReadable {
    init(_ members: JSONMembers) throws(PolicyError) {
        boot = try members.text("boot")
        uptime = try members.number("uptime")
        before = try members.number("before")
    }
}
