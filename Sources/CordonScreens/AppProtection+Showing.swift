package import Cordon

extension AppProtection {
    /// Whether an account's data may be shown now: its gate is open, or no rules apply to it, so that it has none. Not so once the account is
    /// gone. Any thread.
    package nonisolated func mayShow(_ account: AccountID) -> Bool {
        if rules.isManaged(account) { return gate.isOpen(for: account) }
        return enrolledAccounts.contains { IdentityContext.areSame($0.id, account) }
    }
}
