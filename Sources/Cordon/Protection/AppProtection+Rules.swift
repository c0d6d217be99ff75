internal import CordonBase
internal import CordonIdentity
internal import CordonPolicy
internal import CordonProtocol
internal import CordonVault

extension AppProtection {
    /// Swaps the rules of an account for those of a verified envelope; decisions follow from this instant on.
    ///
    /// - Parameter isNews: False at a start: what was in force before it is no change to anybody.
    func activate(_ envelope: PolicyEnvelope, of record: RegistrationRecord, isNews: Bool = true) async {
        let account = record.account.id
        let now = AccountState(
            rules: envelope.policy.map { .policy($0) } ?? .noneTargeted, sequence: envelope.sequence,
            lastCheckIn: record.lastCheckIn, delivery: Delivery(envelope), version: envelope.version)
        let lists = accounts.allowedAccounts
        let before = accounts.activate(now, of: account)
        for follower in followers { await follower.rulesChanged(of: account, from: before, to: now) }
        guard isNews else { return }
        publishChanges(from: before?.delivery ?? Delivery(), to: now.delivery, of: account)
        if let before, before.rules.encryption != now.rules.encryption {
            broadcast.post(.dataProtectionChanged(account: account))
        }
        context.publishAllowedAccounts(before: lists)
    }

    private func publishChanges(from before: Delivery, to now: Delivery, of account: AccountID) {
        if before.configuration != now.configuration { broadcast.post(.configurationChanged(account: account)) }
        if before.workingTime?.status != now.workingTime?.status {
            broadcast.post(.workingTimeChanged(account: account, rules.workingTime(of: account)))
        }
    }

    /// Denies everything of an account whose data is about to go, and takes the key away that opens it.
    func close(_ record: RegistrationRecord) async {
        accounts.denyEverything(of: record)
        await vault.lock(record.account.id)
    }
}
