internal import CordonIdentity
internal import CordonSignIn

extension AppProtection {
    /// The one account that is signed in under a name, is not enrolled, and can get a token without asking anybody (SDK-EN-10,
    /// CQ-28).
    ///
    /// - Parameter name: Either name of the account; nil for whoever is signed in, where that is one account.
    /// - Returns: Nil where nobody is, where several could be meant, or where no token is to be had.
    func signedIn(as name: String?) async -> ManagedAccount? {
        let sessions = configuration.sessions
        let known =
            await Deadline.answer(within: ServiceClient.timeout, by: configuration.clock) {
                await sessions.signedInAccounts()
            }
            ?? []
        let wanted = name.map { resolved(AccountID($0)) }
        let candidates = known.filter { account in
            guard records[account.id] == nil else { return false }
            guard let wanted else { return true }
            return account.id == wanted || AccountID(account.userPrincipalName) == wanted
        }
        guard let account = candidates.first, candidates.count == 1, let discovery = try? await discovered(),
            (try? await session(for: account.id, discovery: discovery)) != nil
        else { return nil }
        return account
    }
}
