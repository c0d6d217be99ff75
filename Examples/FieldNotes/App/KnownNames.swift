import CordonIdentity

/// What the people of this app's accounts are called, so that nobody reads an id; also after an account has gone.
actor KnownNames {
    private var names: [AccountID: String] = [:]

    /// Learns the names of accounts.
    func learn(_ accounts: [ManagedAccount]) {
        for account in accounts { names[account.id] = account.userPrincipalName }
    }

    /// An account's name; its id where nothing better is known.
    func name(of account: AccountID) -> String { names[account] ?? account.rawValue }
}
