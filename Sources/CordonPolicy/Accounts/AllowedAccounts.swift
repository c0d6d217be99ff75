public import CordonIdentity

/// The administrator's list of accounts that an app may hold (SDK-AA-01…06).
///
/// Sign-in names and object ids may be mixed; letter case does not matter. An empty name names nobody.
public struct AllowedAccounts: Sendable, Equatable {
    /// The list as it was given; nil when there is no restriction.
    public let list: [String]?
    private let members: Set<AccountID>

    /// Takes the list; nil is no restriction, an empty list admits nobody.
    public init(_ list: [String]?) {
        self.list = list?.filter { !$0.isEmpty }
        members = Set((self.list ?? []).map { AccountID($0) })
    }

    /// No restriction.
    public static let everyone = AllowedAccounts(nil)

    /// Whether the account may be held, by its object id or its sign-in name.
    public func admits(_ account: ManagedAccount) -> Bool {
        admits(account.id) || admits(AccountID(account.userPrincipalName))
    }

    /// Whether an id or a sign-in name is on the list.
    public func admits(_ id: AccountID) -> Bool {
        list == nil || members.contains(id)
    }

    /// The accounts that must be signed out because the list does not name them.
    public func refused(among accounts: [ManagedAccount]) -> [ManagedAccount] {
        accounts.filter { !admits($0) }
    }
}
