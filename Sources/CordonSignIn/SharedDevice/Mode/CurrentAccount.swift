public import CordonIdentity
public import Foundation

/// Who is here, and who was here when this app last asked (SI-032 to SI-036).
public struct CurrentAccount: Sendable, Codable, Equatable {
    /// What changed since this app last asked.
    public enum Change: String, Sendable, CaseIterable {
        /// No one is signed in, and no one was.
        case nobody
        /// A person is signed in whom this app has not seen yet.
        case firstSeen
        /// The same person.
        case unchanged
        /// Another person is: the earlier person's data must go.
        case switched
        /// No one is any more: the earlier person's data must go.
        case signedOut
    }

    /// A person whose data this app still has to remove; repeated until it says that it has (SI-036).
    public struct OwedCleanUp: Sendable, Codable, Hashable {
        /// Who left.
        public var account: AccountID
        /// The session that ended.
        public var session: UInt64
        /// Why it ended; nil where the broker does not say.
        public var reason: SignOutReason?
        /// Until when the broker waits for this app; nil where it does not say.
        public var deadline: Date?

        /// Makes a mark.
        package init(account: AccountID, session: UInt64, reason: SignOutReason? = nil, deadline: Date? = nil) {
            self.account = account
            self.session = session
            self.reason = reason
            self.deadline = deadline
        }

        /// Reads a mark; a newer broker may give a reason that this library does not know (SI-194).
        public init(from decoder: any Decoder) throws {
            let mark = try decoder.container(keyedBy: CodingKeys.self)
            account = try mark.decode(AccountID.self, forKey: .account)
            session = try mark.decode(UInt64.self, forKey: .session)
            reason = try mark.decodeIfPresent(String.self, forKey: .reason).flatMap(SignOutReason.init(rawValue:))
            deadline = try mark.decodeIfPresent(Date.self, forKey: .deadline)
        }
    }

    /// The device's account; nil when no one is signed in.
    public var current: SignedInAccount?
    /// Whom this app saw as current when it last asked.
    public var previous: AccountID?
    /// Whose data this app has still to remove, oldest first.
    public var owed: [OwedCleanUp]
    /// The session number in force.
    public var session: UInt64
    /// When the session of ``current`` began, by the broker's clock; nil when no one is signed in, and from an older broker.
    public var began: Date?
    /// Random and unique to the session: if a restored device gives out a session number again, this differs. Nil when no one is signed in, and
    /// from an older broker.
    public var nonce: String?

    /// Makes an answer.
    package init(
        current: SignedInAccount?, previous: AccountID?, owed: [OwedCleanUp], session: UInt64, began: Date? = nil,
        nonce: String? = nil
    ) {
        self.current = current
        self.previous = previous
        self.owed = owed
        self.session = session
        self.began = began
        self.nonce = nonce
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
}
