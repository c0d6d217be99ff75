public import CordonIdentity

/// How long an account may still be without contact to the organisation.
public struct OfflineCountdown: Sendable, Equatable {
    /// Whose data.
    public let account: AccountID
    /// Time until its data closes; zero when it is closed for this already.
    public let untilBlock: Duration
    /// Time until its data is removed, nil when the policy never does; zero when it is due.
    public let untilWipe: Duration?

    /// Makes a countdown from how long the account was without contact, and how long it may be; zero for never.
    package init(account: AccountID, offline: Duration, blockAfter: Duration, wipeAfter: Duration) {
        self.account = account
        // A clock turned back gives no time: it counts as closed.
        untilBlock = offline < .zero ? .zero : max(.zero, blockAfter - offline)
        untilWipe = wipeAfter == .zero ? nil : max(.zero, wipeAfter - max(.zero, offline))
    }

    /// Whether it is time to show it: less than an hour until the data closes, or a day until it is removed.
    public var isUrgent: Bool {
        untilBlock <= .seconds(3600) || (untilWipe.map { $0 <= .seconds(86_400) } ?? false)
    }
}
