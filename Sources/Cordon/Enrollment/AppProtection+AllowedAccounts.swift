internal import CordonBase
public import CordonIdentity
public import CordonPolicy
internal import CordonProtocol
internal import Logging

/// The administrator's list of accounts that the app may hold (SDK-AA-01…06).
extension AppProtection {
    /// The list in force: no restriction while no enrolled account has one; where several have, an account must be on all.
    ///
    /// Its `list` names every account by its object id and by its sign-in name; letter case does not matter.
    public nonisolated var allowedAccounts: AllowedAccounts {
        accounts.rules.allowedAccounts
    }

    /// Whether the app may hold an account; a mismatch is logged by its id for whoever looks for the reason (SDK-AA-06).
    public nonisolated func admits(_ account: ManagedAccount) -> Bool {
        if accounts.allowedAccounts.admits(account) { return true }
        configuration.logger.warning(
            "an account is not on the administrator's list", metadata: ["account": "\(account.id)"])
        return false
    }

    /// Tells of a list that changed, and of every account present that is not on it (SDK-AA-03, SDK-AA-04).
    func tellAllowedAccounts(before: AllowedAccounts) {
        let now = allowedAccounts
        guard now.list != before.list else { return }
        broadcast.post(.allowedAccountsChanged(now.list))
        let waiting = pending.registered.map(\.account).filter { records[$0.id] == nil }
        for account in records.values.map(\.account) + waiting where !accounts.admits(account) {
            broadcast.post(.accountNotAllowed(account.id))
        }
    }
}

extension RulesInForce {
    /// The list that the lists of all enrolled accounts come to.
    var allowedAccounts: AllowedAccounts {
        let lists = accounts.values.compactMap(\.delivery.allowedAccounts)
        guard let first = lists.first else { return .everyone }
        let common = first.filter { entry in lists.allSatisfy { $0.contains { $0.names(theSameAs: entry) } } }
        return AllowedAccounts(common.flatMap { [$0.id.rawValue, $0.userPrincipalName] })
    }
}

extension PolicyEnvelope.AllowedAccount {
    /// Whether both have an object id in common, or a sign-in name where one of them has no object id.
    fileprivate func names(theSameAs other: Self) -> Bool {
        if !id.rawValue.isEmpty, !other.id.rawValue.isEmpty { return id == other.id }
        return !userPrincipalName.isEmpty
            && AccountID(userPrincipalName) == AccountID(other.userPrincipalName)
    }
}
