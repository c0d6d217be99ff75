public import CordonIdentity

/// Who is here, and who was here when this app last asked (SI-032 to SI-036).
public struct CurrentAccount: Sendable, Codable, Equatable {
    /// What changed since this app last asked.
    public enum Change: String, Sendable, CaseIterable {
        /// Nobody is and nobody was signed in.
        case nobody
        /// Somebody is signed in whom this app has not seen yet.
        case firstSeen
        /// The same person.
        case unchanged
        /// Somebody else: the earlier person's data must go.
        case switched
        /// Nobody any more: the earlier person's data must go.
        case signedOut
    }

    /// Somebody whose data this app has still to remove; repeated until it says that it has (SI-036).
    public struct OwedCleanUp: Sendable, Codable, Hashable {
        /// Who left.
        public var account: AccountID
        /// The session that ended.
        public var session: UInt64

        /// Makes a mark.
        package init(account: AccountID, session: UInt64) {
            self.account = account
            self.session = session
        }
    }

    /// The device's account, nil when nobody is signed in.
    public var current: SignedInAccount?
    /// Whom this app saw as current when it last asked.
    public var previous: AccountID?
    /// Whose data this app has still to remove, oldest first.
    public var owed: [OwedCleanUp]
    /// The session number in force.
    public var session: UInt64

    /// Makes an answer.
    package init(current: SignedInAccount?, previous: AccountID?, owed: [OwedCleanUp], session: UInt64) {
        self.current = current
        self.previous = previous
        self.owed = owed
        self.session = session
    }

    /// What changed; ids are compared, never names (SI-035).
    public var change: Change {
        switch (current?.id, previous) {
        case (nil, nil): .nobody
        case (nil, _?): .signedOut
        case (_?, nil): .firstSeen
        case (let current?, let previous?): current == previous ? .unchanged : .switched
        }
    }

    /// Whether somebody's data must be removed now.
    public var isCleanUpDue: Bool { !owed.isEmpty || change == .switched || change == .signedOut }
}
