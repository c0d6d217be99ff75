internal import CordonIdentity

/// The changes of windows that are under way, and the accounts that are kept from the person.
struct WindowSwitches: Sendable {
    private var latest: [WindowID: Int] = [:]
    private(set) var blocks: [AccountID: AccountBlock] = [:]

    /// A new change of a window; whatever was under way there is superseded.
    mutating func begin(_ window: WindowID) -> Int {
        let number = (latest[window] ?? 0) + 1
        latest[window] = number
        return number
    }

    /// Whether a change is still the latest of its window.
    func isLatest(_ number: Int, of window: WindowID) -> Bool { latest[window] == number }

    /// Notes how an account stands with its gate.
    mutating func note(_ block: AccountBlock, of account: AccountID) {
        blocks[account] = block == .notBlocked ? nil : block
    }
}

/// How an account's gate answered before its data is shown.
package enum SwitchGateAnswer: Sendable, Equatable {
    /// The data may be shown.
    case passed
    /// The person turned away.
    case cancelled
    /// A condition is not met: the message, and whether it is the working time.
    case blocked(reason: String, isClockedOut: Bool)
    /// The account's data was removed.
    case wiped
}
