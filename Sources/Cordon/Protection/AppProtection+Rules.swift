internal import CordonBase
internal import CordonIdentity
internal import CordonPolicy
internal import CordonProtocol
internal import CordonVault

extension AppProtection {
    /// Swaps the rules of an account for those of a verified envelope; decisions follow from this instant on.
    ///
    /// - Parameter isNews: False at a start: what was in force before it is no change to anybody.
    func putInForce(_ envelope: PolicyEnvelope, of record: RegistrationRecord, isNews: Bool = true) {
        let standing = RulesInForce.Standing(
            rules: envelope.policy.map { .policy($0) } ?? .noneTargeted, sequence: envelope.sequence,
            lastCheckIn: record.lastCheckIn, delivery: Delivery(envelope), version: envelope.version)
        let lists = allowedAccounts
        let before = rules.withLock { [account = record.account.id] rules in
            defer { rules[account] = standing }
            return rules[account]
        }
        // What was open because there were no rules is closed until the gate was passed under them.
        if case .noneTargeted? = before?.rules, envelope.policy != nil {
            gates.withLock { [account = record.account.id] in $0[account] = nil }
        }
        // Without an interface, rules that have come to ask somebody close what was open without.
        if configuration.interface == nil, standing.rules.askSomebody, before?.rules.askSomebody != true {
            gates.withLock { [account = record.account.id] in $0[account] = nil }
        }
        if records.count > 1 { settleProcessIdentity() }
        tellLog()
        guard isNews else { return }
        tellChanges(from: before?.delivery ?? Delivery(), to: standing.delivery, of: record.account.id)
        if let before, before.rules.encryption != standing.rules.encryption {
            broadcast.post(.dataProtectionChanged(account: record.account.id))
        }
        tellAllowedAccounts(before: lists)
    }

    private func tellChanges(from before: Delivery, to now: Delivery, of account: AccountID) {
        if before.configuration != now.configuration { broadcast.post(.configurationChanged(account: account)) }
        if before.workingTime?.status != now.workingTime?.status {
            broadcast.post(.workingTimeChanged(account: account, workingTime(of: account)))
        }
    }

    /// Treats an enrolled account whose rules or key cannot be read as managed by rules that allow nothing; what else the
    /// administrator said of it stays, such as the list of accounts.
    func denyEverything(of record: RegistrationRecord) {
        rules.withLock { [account = record.account.id] rules in
            let delivery = rules[account]?.delivery ?? Delivery()
            rules[account] = RulesInForce.Standing(
                rules: .unreadable, sequence: 0, lastCheckIn: record.lastCheckIn, delivery: delivery)
        }
    }

    /// Denies everything of an account whose data is about to go, and takes the key away that opens it.
    func close(_ record: RegistrationRecord) async {
        denyEverything(of: record)
        await vault.lock(record.account.id)
    }

    /// Forgets an account's rules, and that they kept its data from the person.
    func dropRules(of account: AccountID) {
        rules.withLock { $0[account] = nil }
        switches.withLock { $0.note(.notBlocked, of: account) }
    }
}
