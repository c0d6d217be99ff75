internal import CordonBase

/// Says yes to the first caller and no to every later one.
package struct FirstCall: Sendable {
    private let wasMade = Locked(false)

    /// No caller has asked yet.
    package init() {}

    /// Whether the caller is the first.
    package func isMine() -> Bool {
        wasMade.withLock { wasMade in
            defer { wasMade = true }
            return !wasMade
        }
    }
}
