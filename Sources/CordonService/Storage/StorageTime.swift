internal import Foundation

/// Moments in lookups: texts whose order is that of the moments.
enum StorageTime {
    /// A moment by the second.
    static func text(_ moment: Date) -> String {
        // Far beyond any clock, so that a number that means nothing cannot trap.
        let digits = String(Int64(max(0, min(moment.timeIntervalSince1970, 999_999_999_999))))
        return String(repeating: "0", count: max(0, 12 - digits.count)) + digits
    }

    /// A moment by the microsecond; later ones come first.
    static func newestFirst(_ moment: Date) -> String {
        let farthest: Int64 = 999_999_999_999_999_999
        let microseconds = Int64(max(0, min(moment.timeIntervalSince1970, 999_999_999_999)) * 1_000_000)
        let digits = String(farthest - min(microseconds, farthest))
        return String(repeating: "0", count: max(0, 18 - digits.count)) + digits
    }

    /// A moment by the hour, for what changes with every check-in.
    static func hour(_ moment: Date) -> String {
        text(Date(timeIntervalSince1970: (moment.timeIntervalSince1970 / 3_600).rounded(.down) * 3_600))
    }

    /// The values that begin with a reason and are not after a moment.
    static func range(_ reason: String, upTo moment: Date) -> Range<String> {
        reason + "/"..<reason + "/" + text(max(moment, Date(timeIntervalSince1970: 0)).addingTimeInterval(1))
    }
}
