import CordonBase

/// Counts the connections that are open, and refuses those above the most that there may be.
final class OpenConnections: Sendable {
    /// The most that there may be.
    let most: Int
    private let metrics: ServiceMetrics?
    private let count = Locked(0)

    init(atMost most: Int, metrics: ServiceMetrics? = nil) {
        self.most = most
        self.metrics = metrics
    }

    /// Takes a place; false where none is left.
    func enter() -> Bool {
        let entered = count.withLock { count in
            guard count < most else { return false }
            count += 1
            return true
        }
        if entered { metrics?.connectionOpened() } else { metrics?.connectionRefused() }
        return entered
    }

    /// Gives a place back.
    func leave() {
        count.withLock { $0 -= 1 }
        metrics?.connectionClosed()
    }
}
