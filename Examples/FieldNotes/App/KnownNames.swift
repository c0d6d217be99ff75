import CordonIdentity

/// Display names of accounts, so that the app never shows an id. Names of removed accounts are kept.
actor KnownNames {
    private var names: [AccountID: String] = [:]

    /// Learns the names of accounts.
    func learn(_ accounts: [ManagedAccount]) {
        for account in accounts { names[account.id] = account.userPrincipalName }
    }

    /// An account's name; its id where nothing better is known.
    func name(of account: AccountID) -> String { names[account] ?? account.rawValue }
}
