internal import Foundation

/// When a service was seen last by its clock: what tells a time that has passed from a clock that is ahead.
struct ServicePresence: Sendable, Codable, Equatable {
    private static let day: TimeInterval = 86_400
    /// Longer than a service is usually away.
    private static let longest = 7 * day

    /// When it was seen last, to the day.
    private(set) var seen: Date
    /// Since when it looks as if it had been away for too long; nil where it does not.
    private(set) var doubtedSince: Date?

    init(seen: Date) { self.seen = seen }

    /// Takes a moment in; how long the service was away, while that is in doubt.
    ///
    /// The doubt ends when the clock has gone on for a day without another jump.
    mutating func jump(at now: Date) -> TimeInterval? {
        let away = now.timeIntervalSince(seen)
        let doubted = doubtedSince.map(now.timeIntervalSince)
        let isBelieved = doubted.map { (Self.day...Self.longest).contains($0) } ?? false
        guard away > Self.longest, !isBelieved else {
            if away < 0 || away > Self.day { seen = now }
            doubtedSince = nil
            return nil
        }
        if doubted.map({ $0 < 0 || $0 > Self.longest }) ?? true { doubtedSince = now }
        return away
    }
}
