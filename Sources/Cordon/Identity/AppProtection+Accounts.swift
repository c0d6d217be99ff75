internal import CordonIdentity

extension AppProtection {
    /// Makes both names of the enrolled accounts known, and in an app that holds one account sets the process identity to
    /// it (SDK-ID-02, SDK-ID-11). An app that reports identities itself sets its own (SDK-ID-12).
    func learnAccounts(before: [AccountID: RegistrationRecord]) {
        for (id, record) in records where before[id] == nil { IdentityContext.learn(record.account) }
        guard !allowsSeveralManagedAccounts, !settings.holdsSeveralIdentities, Set(before.keys) != Set(records.keys)
        else { return }
        IdentityContext.setProcessIdentity(records.keys.first.map { .managed($0) })
    }
}
