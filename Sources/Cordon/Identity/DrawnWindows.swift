internal import CordonBase

/// What draws the app's windows: it looks again when one shows something else, or under other rules. Any thread.
final class DrawnWindows: Sendable {
    private let drawer = Locked<(@Sendable () async -> Void)?>(nil)

    /// Names it.
    func drawn(by look: @escaping @Sendable () async -> Void) { drawer.withLock { $0 = look } }

    /// Has it look, and waits.
    nonisolated(nonsending) func look() async { await drawer.withLock { $0 }?() }

    /// Has it look soon.
    func noteChange() { if let look = drawer.withLock({ $0 }) { Task { await look() } } }
}
