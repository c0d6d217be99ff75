import Foundation

/// Counts attempts within a window, per key and in all. An attempt counts when it begins, so that many at once gain
/// nothing; a success gives it back.
struct ProviderAttemptLimiter: Sendable {
    private struct Window: Sendable {
        var count: Int
        let ends: Date
    }

    private var windows: ProviderBoundedTable<String, Window>
    private var all: Window?
    private let perKey: Int
    private let total: Int
    private let length: TimeInterval

    init(perKey: Int, total: Int, window: TimeInterval, capacity: Int) {
        self.perKey = perKey
        self.total = total
        length = window
        windows = .init(capacity: capacity)
    }

    /// Seconds to wait before another attempt; nil when this one may begin, which is then counted.
    mutating func begin(_ key: String, at now: Date) -> Int? {
        var mine = windows.value(key, at: now) ?? Window(count: 0, ends: now.addingTimeInterval(length))
        var everyone =
            all.flatMap { $0.ends > now ? $0 : nil } ?? Window(count: 0, ends: now.addingTimeInterval(length))
        if mine.count >= perKey { return Self.seconds(from: now, to: mine.ends) }
        if everyone.count >= total { return Self.seconds(from: now, to: everyone.ends) }
        mine.count += 1
        everyone.count += 1
        windows.insert(mine, for: key, until: mine.ends, at: now)
        all = everyone
        return nil
    }

    /// Forgets the attempts of a key after a success.
    mutating func succeed(_ key: String, at now: Date) {
        guard let mine = windows.remove(key, at: now), let everyone = all else { return }
        all?.count = max(0, everyone.count - mine.count)
    }

    /// Takes one attempt back that was none; other attempts of the key still count.
    mutating func giveBack(_ key: String, at now: Date) {
        windows.update(key, at: now) { $0.count = max(0, $0.count - 1) }
        guard let everyone = all else { return }
        all?.count = max(0, everyone.count - 1)
    }

    private static func seconds(from now: Date, to end: Date) -> Int {
        max(1, Int(end.timeIntervalSince(now).rounded(.up)))
    }
}
