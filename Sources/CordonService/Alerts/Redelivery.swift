package import Foundation

/// When a receiver is asked again that did not take something: half a minute later, then twice as long each time, up to an hour.
package enum Redelivery {
    private static let longest: TimeInterval = 3_600
    /// After how many failures the pause is the longest.
    private static let settled = 8

    /// How many attempts something gets that is tried for so long: the quick ones of the beginning, and one for each hour.
    static func attempts(in limit: Duration) -> Int { settled + Int(limit.wholeSeconds) / Int(longest) }

    /// The next attempt after so many that failed.
    package static func next(after failures: Int, at now: Date) -> Date {
        now.addingTimeInterval(min(30 * pow(2, Double(min(failures, settled) - 1)), longest))
    }

    /// Whether the next attempt is due: also where it is further away than any pause, since the clock was ahead when the last one failed.
    package static func isDue(_ next: Date, at now: Date) -> Bool {
        next <= now || next.timeIntervalSince(now) > longest
    }
}
