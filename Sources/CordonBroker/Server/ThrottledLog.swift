internal import CordonIdentity
internal import Foundation

/// Says what a stranger can cause at will, or what is tried every second, once a minute only, and without characters that would forge a line.
struct ThrottledLog: Sendable {
    private var said: [String: Date] = [:]
    private static let pause: TimeInterval = 60
    private static let most = 64

    /// Whether this is to be said now.
    mutating func isDue(_ what: String, now: Date) -> Bool {
        if let last = said[what], now.timeIntervalSince(last) < Self.pause, now >= last { return false }
        if said.count >= Self.most {
            said = said.filter { now.timeIntervalSince($0.value) < Self.pause && now >= $0.value }
            guard said.count < Self.most else { return false }
        }
        said[what] = now
        return true
    }

    /// A stranger's text on one line, and not long.
    static func plain(_ text: String) -> String { TerminalText(text, limit: 256).text }
}
