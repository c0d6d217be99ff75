internal import CordonIdentity
internal import CordonPolicy
internal import CordonProtocol

extension AppProtection {
    /// Swaps the rules of an account for those of a verified envelope; decisions follow from this instant on.
    func putInForce(_ envelope: PolicyEnvelope, of record: RegistrationRecord) {
        let standing = RulesInForce.Standing(
            rules: envelope.policy.map { .policy($0) } ?? .noneTargeted, sequence: envelope.sequence,
            lastCheckIn: record.lastCheckIn)
        rules.withLock { [account = record.account.id] in $0[account] = standing }
    }

    /// Treats an enrolled account whose rules cannot be read as managed by rules that allow nothing.
    func denyEverything(of record: RegistrationRecord) {
        let standing = RulesInForce.Standing(rules: .unreadable, sequence: 0, lastCheckIn: record.lastCheckIn)
        rules.withLock { [account = record.account.id] in $0[account] = standing }
    }

    /// Forgets an account's rules.
    func dropRules(of account: AccountID) {
        rules.withLock { $0[account] = nil }
    }
}
