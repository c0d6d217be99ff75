public import CordonIdentity

/// The policies in force on this device, by account. It answers every question.
///
/// A managed account without a policy here is denied everything; a personal account is
/// unrestricted, app-wide settings aside (design decision 4). The value never changes: a new policy makes a
/// new set, swapped in as a whole.
public struct PolicySet: Sendable {
    private let parts: Parts

    /// What the policies of a set ask of the other side, so that a question may leave it out where none does.
    struct Demands: OptionSet {
        let rawValue: UInt8
        static let inbound = Demands(rawValue: 1)
        static let outbound = Demands(rawValue: 2)
        static let pasteIn = Demands(rawValue: 4)
        static let copyOut = Demands(rawValue: 8)
    }

    /// The policies of the accounts that have one, and what app configuration says beside them.
    ///
    /// - Parameters:
    ///   - policies: The policy of each managed account whose policy is known.
    ///   - everyManagedAccount: The policy of every managed account not in `policies`; nil denies those.
    ///   - unreadable: The accounts that have a policy which cannot be read. It denies whatever a policy could deny: also what other
    ///     accounts send them or want of them, and what policies say for the whole app.
    ///   - configurations: App configuration that bears on a decision, of the account it is assigned to and no other.
    ///   - everyConfiguration: App configuration that bears on the decisions of every managed account.
    public init(
        _ policies: [AccountID: EffectivePolicy] = [:], everyManagedAccount: EffectivePolicy? = nil,
        unreadable: Set<AccountID> = [], configurations: [AccountID: AppConfiguration] = [:],
        everyConfiguration: AppConfiguration = .empty
    ) {
        parts = Parts(policies, everyManagedAccount, unreadable, configurations, everyConfiguration)
    }

    /// One policy for every managed account that is asked about.
    public init(_ policy: AppProtectionPolicy) {
        self.init(everyManagedAccount: EffectivePolicy(policy))
    }

    /// The accounts whose policy is known by name.
    public var accounts: Set<AccountID> {
        Set(parts.byAccount.accounts.filter { parts.byAccount[$0]?.isUnreadable == false })
    }

    /// Policies that speak for the whole app, personal accounts included.
    var appWide: [PolicyInForce] { parts.appWide }

    /// Whether some policy here could refuse what another account sends or asks for.
    var demands: Demands { parts.demands }

    /// Whether one account has a policy, and no other can have one.
    var hasOneAccount: Bool { parts.hasOneAccount }

    /// The answer for keyboards of other makers, for every owner.
    var keyboard: Verdict { parts.keyboard }

    /// Whether any account can have a policy here.
    var hasPolicies: Bool { !parts.compiled.isEmpty }

    /// The compiled verdicts at a position.
    func table(_ position: Int) -> VerdictTable { parts.compiled[position] }

    /// Where the table of a managed account stands; nil when its policy is not known.
    @inline(__always)
    func position(of account: borrowing AccountID) -> Int? {
        if parts.hasNamedAccounts, let position = parts.byAccount.position(of: account) { return position }
        guard let positionOfEvery = parts.positionOfEvery else { return nil }
        return parts.configured.position(of: account).map { positionOfEvery + 1 + $0 } ?? positionOfEvery
    }

    /// Whether the account has a policy under this very name.
    func hasPolicy(namedBy account: borrowing AccountID) -> Bool { parts.byAccount.position(of: account) != nil }

    /// The policy behind the table at a position, of an account that has one under its name.
    func policy(at position: Int) -> PolicyInForce? {
        parts.byAccount.policies.indices.contains(position) ? parts.byAccount.policies[position] : nil
    }

    /// Where the table of the account stands that owns a place; see ``resolution(ofPlace:account:)``.
    func position(ofPlace location: Location, account: borrowing AccountID) -> Int? {
        parts.byAccount.position(of: account) ?? (location.isOrganizationPlace ? parts.positionOfEvery : nil)
    }

    /// The policy of an account; nil when it is unmanaged, or managed and not known.
    public func policy(of identity: EffectiveIdentity) -> EffectivePolicy? {
        guard case .governed(let policy) = resolution(of: identity) else { return nil }
        return policy.effective
    }

    /// The policy of a page that shows several accounts: a standard lock-down when one of them is managed
    /// (SDK-ID-47), else none.
    public func policy(ofSeveral identities: [Identity]) -> EffectivePolicy? {
        if identities.count == 1, let only = identities.first { return policy(of: EffectiveIdentity(only)) }
        return identities.contains { $0 != .personal } ? Parts.lockDown.effective : nil
    }

    func resolution(of identity: EffectiveIdentity) -> PolicyResolution {
        switch identity {
        case .managed(let account): resolution(ofManaged: account)
        case .personal, .unset: .unrestricted
        case .lost: hasPolicies ? .lost : .unrestricted
        }
    }

    func resolution(ofManaged account: AccountID) -> PolicyResolution {
        (parts.byAccount[account] ?? parts.configured[account] ?? parts.everyManagedAccount).map { .init($0) }
            ?? .unknown
    }

    func resolution(of question: borrowing Question) -> PolicyResolution? {
        guard let owner = question.owner else { return nil }
        if question.coVisibleIdentities.isEmpty { return resolution(of: owner) }
        let own = resolution(of: owner)
        if case .lost = own { return own }
        let managed = owner.account != nil || question.coVisibleIdentities.contains { $0 != .personal }
        return managed ? .governed(Parts.lockDown) : own
    }

    /// The owner's own policy where a page of several accounts is under the lock-down: what is shown beside an account never
    /// lets more be done with its data. Nil where no lock-down is in force.
    func resolutionBesideLockDown(of question: borrowing Question) -> PolicyResolution? {
        guard !question.coVisibleIdentities.isEmpty, case .managed(let account)? = question.owner else { return nil }
        return resolution(ofManaged: account)
    }

    /// The policies by which a question is decided, all of which must let it pass; nil where none is known.
    func governing(_ question: borrowing Question) -> [PolicyInForce]? {
        guard case .governed(let policy)? = resolution(of: question) else { return nil }
        guard !question.coVisibleIdentities.isEmpty else { return [policy] }
        let accounts = [question.owner?.account] + question.coVisibleIdentities.map(\.account)
        var policies = [policy]
        for account in accounts.compactMap(\.self) {
            guard case .governed(let own) = resolution(ofManaged: account) else { return nil }
            policies.append(own)
        }
        return policies
    }

    /// The policy of the account that owns a place; unrestricted when the account is unmanaged or no one's.
    ///
    /// A place names its account by id alone. An id without a policy of its own is taken for a managed
    /// one only where the place is an organisation's.
    func resolution(ofPlace location: Location, account: AccountID) -> PolicyResolution {
        let policy = parts.byAccount[account] ?? (location.isOrganizationPlace ? parts.everyManagedAccount : nil)
        return policy.map { .init($0) } ?? .unrestricted
    }
}

/// What a set is made of, behind one reference: an app copies the set for every question, and copying counts references.
private final class Parts: Sendable {
    let byAccount: AccountIndex
    let everyManagedAccount: PolicyInForce?
    /// What counts where accounts meet that may not; made when they first do.
    static let lockDown = PolicyInForce(EffectivePolicy(.lockDown), configuration: nil)
    /// Policies that speak for the whole app, personal accounts included.
    let appWide: [PolicyInForce]
    /// Whether some policy here could refuse what another account sends or asks for.
    let demands: PolicySet.Demands
    /// Compiled verdicts: one table for each policy of an account, then that of ``everyManagedAccount``, then those of
    /// ``configured``. Apart from the policies, so that reading one counts no reference.
    let compiled: [VerdictTable]
    let positionOfEvery: Int?
    /// ``everyManagedAccount`` once more for each account that has app configuration but no policy of its own, so that the
    /// configuration bears on that account alone. Their tables follow that of ``everyManagedAccount``.
    let configured: AccountIndex
    let hasNamedAccounts: Bool
    /// Whether one account has a policy, and no other can have one.
    let hasOneAccount: Bool
    /// The answer for keyboards of other makers, for every owner.
    let keyboard: Verdict

    init(
        _ policies: [AccountID: EffectivePolicy], _ everyManagedAccount: EffectivePolicy?,
        _ unreadable: Set<AccountID>, _ configurations: [AccountID: AppConfiguration],
        _ everyConfiguration: AppConfiguration
    ) {
        var byAccount: [AccountID: PolicyInForce] = [:]
        for (account, policy) in policies {
            let own = configurations[account] ?? .empty
            byAccount[account] = PolicyInForce(policy, configuration: own.joined(with: everyConfiguration))
        }
        for account in unreadable {
            byAccount[account] = PolicyInForce(
                EffectivePolicy(AppProtectionPolicy()), configuration: nil, isUnreadable: true)
        }
        self.byAccount = AccountIndex(byAccount)
        self.everyManagedAccount = everyManagedAccount.map { PolicyInForce($0, configuration: everyConfiguration) }
        var configured: [AccountID: PolicyInForce] = [:]
        if let everyManagedAccount {
            for (account, own) in configurations where byAccount[account] == nil {
                configured[account] = PolicyInForce(
                    everyManagedAccount, configuration: own.joined(with: everyConfiguration))
            }
        }
        self.configured = AccountIndex(configured)
        let all = self.byAccount.policies + [self.everyManagedAccount].compactMap(\.self)
        compiled = (all + self.configured.policies).map { VerdictTable($0) }
        positionOfEvery = everyManagedAccount == nil ? nil : self.byAccount.policies.count
        hasNamedAccounts = !byAccount.isEmpty
        hasOneAccount = all.count == 1 && everyManagedAccount == nil
        appWide = all.filter { $0.transfer.thirdPartyKeyboardsBlocked || $0.isDamaged }
        keyboard = appWide.isEmpty ? .allow : .block
        var demands: PolicySet.Demands = []
        for policy in all {
            if policy.isDamaged { demands = [.inbound, .outbound, .pasteIn, .copyOut] }
            if policy.transfer.inbound != .allApps { demands.insert(.inbound) }
            if policy.transfer.outbound != .allApps { demands.insert(.outbound) }
            if policy.transfer.inbound == .none { demands.insert(.pasteIn) }
            switch policy.transfer.clipboard {
            case .blocked, .managedApps: demands.formUnion([.pasteIn, .copyOut])
            case .managedAppsWithPasteIn: demands.insert(.copyOut)
            case .allApps: break
            }
        }
        self.demands = demands
    }
}

/// Which policy, if any, decides a question about an identity.
enum PolicyResolution {
    /// A personal account, or nothing managed is open.
    case unrestricted
    /// A managed account and its policy.
    case governed(PolicyInForce)
    /// A managed account without a known policy.
    case unknown
    /// The identity did not follow.
    case lost

    init(_ policy: PolicyInForce) { self = policy.isUnreadable ? .unknown : .governed(policy) }
}
