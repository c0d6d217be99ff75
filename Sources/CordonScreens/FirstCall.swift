internal import CordonBase

/// Says yes to the first who asks, and no to everybody after.
package struct FirstCall: Sendable {
    private let wasMade = Locked(false)

    /// Nobody has asked yet.
    package init() {}

    /// Whether the caller is the first.
    package func isMine() -> Bool {
        wasMade.withLock { wasMade in
            defer { wasMade = true }
            return !wasMade
        }
    }
}
