internal import CordonBase
internal import CordonIdentity

/// The changes of what windows show that are under way; any thread.
final class WindowChanges: Sendable {
    private let latest = Locked<[WindowID: Int]>([:])

    /// A new change of a window; whatever was under way there is superseded.
    func begin(_ window: WindowID) -> Int {
        latest.withLock { latest in
            latest[window, default: 0] += 1
            return latest[window] ?? 0
        }
    }

    /// Whether a change is still the latest of its window.
    func isLatest(_ number: Int, of window: WindowID) -> Bool { latest.withLock { $0[window] == number } }

    /// Makes a window show identities, unless a later change of it has begun.
    func finish(_ number: Int, of window: WindowID, _ identities: [Identity]?) -> IdentitySwitchOutcome {
        // Under the lock, so that a later change cannot begin between the question and the change.
        latest.withLock { latest in
            guard latest[window] == number else { return .superseded }
            IdentityContext.setWindowIdentities(identities, of: window)
            return .switched
        }
    }
}

/// How an account's gate answered before its data is shown.
package enum SwitchGateAnswer: Sendable, Equatable {
    /// The data may be shown.
    case passed
    /// The person cancelled.
    case cancelled
    /// A condition is not met: the message, and whether it is the working time.
    case blocked(reason: String, isClockedOut: Bool)
    /// The account's data was removed.
    case wiped
}
