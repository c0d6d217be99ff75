/// Which names belong to one account: its object id, and the sign-in name it is known by here.
///
/// A sign-in name and an object id are the same account only once the app has said so (SDK-ID-02); until then they are
/// two. A sign-in name that passes to another account names the later one. An object id names its own account, whoever calls themselves so:
/// at some providers people choose their sign-in names.
public struct AccountNames: Sendable, Equatable {
    private var objectIDs: [AccountID: AccountID] = [:]
    /// The ids of the accounts that are known, whether or not they have a sign-in name of their own.
    private var ids: Set<AccountID> = []

    /// Knows no account yet.
    public init() {}

    /// Notes that both names of an account are one.
    public mutating func learn(_ account: ManagedAccount) {
        guard !account.id.rawValue.isEmpty else { return }
        ids.insert(account.id)
        let name = AccountID(account.userPrincipalName)
        if !name.rawValue.isEmpty { objectIDs[name] = account.id }
    }

    /// The object id behind a name where it is known, else the name itself.
    public func canonical(_ id: AccountID) -> AccountID {
        ids.contains(id) ? id : objectIDs[id] ?? id
    }

    /// Whether both name one account: equal but for case, or known to be one (SDK-ID-01, SDK-ID-02).
    public func areSame(_ left: AccountID, _ right: AccountID) -> Bool {
        left == right || canonical(left) == canonical(right)
    }
}
