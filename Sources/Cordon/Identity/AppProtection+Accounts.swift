internal import CordonIdentity

extension AppProtection {
    /// The id that everything of an account is kept under, whichever of its names is given (SDK-ID-02, CQ-03).
    nonisolated func resolved(_ account: AccountID) -> AccountID { IdentityContext.canonical(account) }

    /// The identity with its account under that id.
    nonisolated func resolved(_ identity: EffectiveIdentity) -> EffectiveIdentity {
        identity.account.map { .managed(resolved($0)) } ?? identity
    }

    /// Makes both names of the enrolled accounts known, and in an app that holds one account sets the process identity to
    /// it (SDK-ID-02, SDK-ID-11). An app that reports identities itself sets its own (SDK-ID-12).
    func learnAccounts(before: [AccountID: RegistrationRecord]) {
        for (id, record) in records where before[id]?.account != record.account {
            IdentityContext.learn(record.account)
        }
        guard !allowsSeveralManagedAccounts, !settings.holdsSeveralIdentities, Set(before.keys) != Set(records.keys)
        else { return }
        IdentityContext.setProcessIdentity(records.keys.first.map { .managed($0) })
    }
}
