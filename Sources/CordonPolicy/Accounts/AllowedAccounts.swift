public import CordonIdentity

/// The administrator's list of accounts that an app may hold (SDK-AA-01…06).
///
/// Sign-in names and object ids may be mixed; letter case does not matter. An empty name names no account.
public struct AllowedAccounts: Sendable, Equatable {
    /// The list as it was given; nil when there is no restriction.
    public let list: [String]?
    /// The object ids among the list, for apps that know their accounts by these alone (SDK-AA-02); nil when there is no restriction, and
    /// where the list does not say which of its entries are object ids.
    public let objectIDs: [String]?
    private let members: Set<AccountID>

    /// Takes the list; nil is no restriction, an empty list admits no account.
    public init(_ list: [String]?) { self.init(list, objectIDs: nil) }

    /// Takes a list of accounts that each have an object id, a sign-in name or both; what is missing is empty.
    package init(accounts: [(objectID: String, signInName: String)]) {
        self.init(accounts.flatMap { [$0.objectID, $0.signInName] }, objectIDs: accounts.map(\.objectID))
    }

    private init(_ list: [String]?, objectIDs: [String]?) {
        self.list = list?.filter { !$0.isEmpty }
        self.objectIDs = objectIDs?.filter { !$0.isEmpty }
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
