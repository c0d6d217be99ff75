internal import CordonIdentity
internal import CordonPolicy
internal import CordonProtocol
internal import Foundation

/// Everything a decision is made from, as one value that is swapped whole.
struct RulesInForce: Sendable {
    private(set) var accounts: [AccountID: AccountState] = [:]
    private(set) var policies = PolicySet()
    /// How often what is known of any account was replaced.
    private var replacements = 0

    /// What is known of an account.
    subscript(account: AccountID) -> AccountState? { accounts[account] }

    /// Replaces what is known of an account, nil forgets it; the rules of all accounts are compiled anew.
    mutating func replace(_ account: AccountID, with state: AccountState?) {
        replacements += 1
        accounts[account] = state
        accounts[account]?.number = replacements
        policies = PolicySet(
            accounts.compactMapValues { if case .policy(let policy) = $0.rules { policy } else { nil } },
            unreadable: Set(accounts.filter { if case .unreadable = $0.value.rules { true } else { false } }.keys),
            configurations: accounts.mapValues(\.delivery.configuration))
    }

    /// Records when an account's last check-in succeeded. No rule changes by it, so nothing is compiled.
    mutating func recordContact(at moment: Date, of account: AccountID) {
        accounts[account]?.lastCheckIn = moment
    }

    /// The question with every account in it under the id that its rules are kept under; either name is that account
    /// (SDK-ID-02, SDK-NA-04, CQ-03).
    func resolved(_ question: Question) -> Question {
        var question = question
        if let owner = question.owner { question.owner = resolved(owner) }
        if let place = question.locationAccount { question.locationAccount = resolved(place) }
        if case .managed(let account?) = question.peer?.account { question.peer?.account = .managed(resolved(account)) }
        if !question.coVisibleIdentities.isEmpty {
            question.coVisibleIdentities = question.coVisibleIdentities.map {
                $0.account.map { .managed(resolved($0)) } ?? $0
            }
            .filter { EffectiveIdentity($0) != question.owner }
        }
        return question
    }

    private func resolved(_ owner: EffectiveIdentity) -> EffectiveIdentity {
        owner.account.map { .managed(resolved($0)) } ?? owner
    }

    private func resolved(_ account: AccountID) -> AccountID {
        accounts[account] == nil ? IdentityContext.canonical(account) : account
    }

    /// A resolved question as the policies understand it, with the facts that Cordon itself knows.
    func complete(_ question: Question, at moment: ClockMonitor.Moment) -> Question {
        var question = question
        if let owner = question.owner {
            if owner.account.map(isUntargeted) == true { question.owner = .personal }
            if let account = owner.account, let standing = accounts[account] {
                complete(&question.device, from: standing, at: moment)
            }
        }
        if case .managed(let account?) = question.peer?.account, isUntargeted(account) {
            question.peer?.account = .unmanaged
        }
        if !question.coVisibleIdentities.isEmpty {
            question.coVisibleIdentities = question.coVisibleIdentities.map { identity in
                identity.account.map(isUntargeted) == true ? .personal : identity
            }
            .filter { EffectiveIdentity($0) != question.owner }
        }
        return question
    }

    /// Whether an account is enrolled and no rules target it: it counts as unmanaged (SDK-CO-04).
    func isUntargeted(_ account: AccountID) -> Bool {
        if case .noneTargeted? = accounts[account]?.rules { true } else { false }
    }

    private func complete(_ device: inout DeviceFacts, from standing: AccountState, at moment: ClockMonitor.Moment) {
        if device.sinceCheckIn == nil {
            // A negative time is what the rules know a clock by that was turned back.
            let seconds =
                moment.turnedBack > 0 ? -moment.turnedBack : moment.now.timeIntervalSince(standing.lastCheckIn)
            device.sinceCheckIn = .seconds(min(max(seconds, -1e12), 1e12))
        }
        if device.clockStatus == nil, let time = standing.delivery.workingTime {
            let seconds = Int64(moment.now.timeIntervalSince1970)
            device.clockStatus = moment.turnedBack > 0 ? .unknown : time.status(at: seconds)
            if time.status == .clockedOut, device.sinceClockOut == nil {
                let (since, isOutOfRange) = seconds.subtractingReportingOverflow(time.asOf)
                device.sinceClockOut = isOutOfRange ? nil : .seconds(since)
            }
        }
    }

    /// The accounts that rules apply to.
    var managed: [AccountID] { accounts.keys.filter { !isUntargeted($0) } }
}

/// What is known of an enrolled account.
struct AccountState: Sendable {
    /// Its rules.
    var rules: Rules
    /// The sequence of the envelope in force; 0 while none is readable.
    var sequence: Int64
    /// When the last check-in succeeded, by the device's clock.
    var lastCheckIn: Date
    /// What the envelope brought besides the rules.
    var delivery = Delivery()
    /// The version of the envelope in force, nil while none is readable.
    var version: String?
    /// Tells these rules from all others of the account since the start, also from those of another registration; a contact changes
    /// nothing of it.
    fileprivate(set) var number = 0

    /// The rules of an enrolled account.
    enum Rules: Sendable {
        /// The organisation has rules for it.
        case policy(EffectivePolicy)
        /// The organisation has none: the account counts as unmanaged (SDK-CO-04, status 103).
        case noneTargeted
        /// There are rules, but they cannot be read: nothing is allowed, and what rules could deny to other accounts' work is denied.
        case unreadable

        /// Whether a PIN or a sign-in is required before anything is shown; unreadable rules count as requiring it.
        var asksPerson: Bool {
            switch self {
            case .policy(let policy):
                policy.policy.access.pinRequired || policy.policy.access.organizationalCredentialsRequired
            case .noneTargeted: false
            case .unreadable: true
            }
        }

        /// When the account's files are readable; nil where no rules say so.
        var encryption: EncryptionLevel? {
            switch self {
            case .policy(let policy): policy.policy.storage.encryption
            case .noneTargeted: nil
            case .unreadable: .whenDeviceLocked
            }
        }
    }
}

extension RulesInForce {
    /// The list that the lists of all enrolled accounts come to.
    var allowedAccounts: AllowedAccounts {
        let lists = accounts.values.compactMap(\.delivery.allowedAccounts)
        guard let first = lists.first else { return .everyone }
        let common = first.filter { entry in lists.allSatisfy { $0.contains { $0.names(theSameAs: entry) } } }
        return AllowedAccounts(accounts: common.map { ($0.id.rawValue, $0.userPrincipalName) })
    }
}

extension PolicyEnvelope.AllowedAccount {
    /// Whether both have an object id in common, or a sign-in name where one of them has no object id.
    fileprivate func names(theSameAs other: Self) -> Bool {
        if !id.rawValue.isEmpty, !other.id.rawValue.isEmpty { return id == other.id }
        return !userPrincipalName.isEmpty
            && AccountID(userPrincipalName) == AccountID(other.userPrincipalName)
    }
}
