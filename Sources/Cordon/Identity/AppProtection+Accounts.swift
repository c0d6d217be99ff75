internal import CordonBase
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
        if Set(before.keys) != Set(records.keys) { settleProcessIdentity() }
    }

    /// Whether the app may hold several managed accounts (SDK-ST-17).
    nonisolated var allowsSeveralManagedAccounts: Bool {
        configuration.allowsSeveralIdentities || configuration.settings.holdsSeveralManagedIdentities
    }

    /// The account that has the place of an app for one managed account, nil while it is free. One that no rules target
    /// counts as unmanaged and takes none (SDK-EN-27, SDK-ID-36).
    var placeHolder: AccountID? {
        let holders = records.keys.filter { !isUntargeted($0) }
        // Whoever has it keeps it, should an administrator give rules to another enrolled account later.
        if let present = IdentityContext.processIdentity?.account, holders.contains(present) { return present }
        return holders.min { $0.rawValue < $1.rawValue }
    }

    /// Whether another managed account can be enrolled.
    var isPlaceFree: Bool { allowsSeveralManagedAccounts || placeHolder == nil }

    /// Whether an account is enrolled and no rules target it.
    nonisolated func isUntargeted(_ account: AccountID) -> Bool {
        if case .noneTargeted? = rules.withLock({ $0[account]?.rules }) { true } else { false }
    }

    /// Gives the process the identity of the account that has the place; one without rules has it where there is no other.
    func settleProcessIdentity() {
        guard !allowsSeveralManagedAccounts, !settings.holdsSeveralIdentities else { return }
        let account = placeHolder ?? records.keys.min { $0.rawValue < $1.rawValue }
        IdentityContext.setProcessIdentity(account.map { .managed($0) })
    }
}
