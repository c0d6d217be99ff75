internal import CordonBase
public import CordonIdentity
public import CordonPolicy
internal import Logging

/// Questions and policies for the work at hand, without naming anybody.
extension AppProtection {
    /// The question whether the work at hand may do something: for whoever its window shows, or for its own identity where
    /// files are concerned (SDK-ID-05, SDK-ID-07). Several accounts in one window are asked for together.
    ///
    /// Ask it with ``decision(for:)`` or ``permit(for:)``. Work whose identity was lost is denied organisation data.
    ///
    /// - Parameter window: Nil is the window in front.
    public nonisolated func question(_ action: Action, in window: WindowID? = nil) -> Question {
        if action.isFileTask { return Question(action, owner: noted(IdentityContext.current)) }
        let shown = IdentityContext.currentInterface(in: window).map { inForce($0) }
        let first = shown.first { $0.account != nil } ?? shown.first ?? .lost
        var question = Question(action, owner: noted(first))
        question.alsoOpen = shown.filter { $0 != first }.compactMap { $0.account.map { .managed($0) } ?? .personal }
        return question
    }

    /// The policy of the work at hand, as for its files (SDK-ID-44); nil where none applies.
    public nonisolated func currentPolicy() -> EffectivePolicy? {
        accounts.rules.policies.policy(of: inForce(IdentityContext.current))
    }

    /// The policy of a window: of the account it shows, or a lock-down when it shows several of which one is managed
    /// (SDK-ID-44, SDK-ID-47); nil where none applies.
    public nonisolated func policy(in window: WindowID?) -> EffectivePolicy? {
        let shown = IdentityContext.currentInterface(in: window).map { inForce($0) }
        if shown.count == 1, let only = shown.first { return accounts.rules.policies.policy(of: only) }
        return policy(ofSeveral: shown.map { $0.account.map { .managed($0) } ?? .personal })
    }

    /// The policy of several accounts together: a lock-down when one of them is managed (SDK-ID-47); nil where none is.
    public nonisolated func policy(ofSeveral identities: [Identity]) -> EffectivePolicy? {
        let governed = identities.map { identity in
            inForce(EffectiveIdentity(identity)).account.map { Identity.managed($0) } ?? .personal
        }
        return accounts.rules.policies.policy(ofSeveral: governed)
    }

    /// The organisation's account that the work at hand is for.
    ///
    /// - Throws: ``ProtectionError``: `identityLost` when the identity did not follow to the caller, `notEnrolled` when the
    ///   work is personal, or for an account that is not enrolled here.
    public nonisolated func currentAccount() throws(ProtectionError) -> AccountID {
        switch resolved(noted(IdentityContext.current)) {
        case .managed(let account):
            guard accounts.state(of: account) != nil else {
                throw ProtectionError(.notEnrolled, "the account of this work is not enrolled in this app")
            }
            return account
        case .personal, .unset: throw ProtectionError(.notEnrolled, "this work is for no organisation's account")
        case .lost: throw ProtectionError(.identityLost, "it is not known for whom this work is done")
        }
    }

    /// The only managed account of an app that holds one; nil when there is none, and in an app that may hold several
    /// (SDK-ID-43).
    public var primaryAccount: AccountID? { accounts.allowsSeveralManagedAccounts ? nil : managedAccounts.first }

    /// Whether rules apply to an account here, or the app's settings ask for some (SDK-CO-07); any thread.
    public nonisolated var isManagementEnabled: Bool { !managedAccounts.isEmpty || settings.requiresPolicy }

    /// The accounts that rules apply to, in order (SDK-ID-43); any thread.
    public nonisolated var managedAccounts: [AccountID] {
        accounts.rules.managed.sorted { $0.rawValue < $1.rawValue }
    }

    /// Whether rules apply to an account here (SDK-ID-43); any thread. Either of its names will do once it is enrolled.
    public nonisolated func isManaged(_ account: AccountID) -> Bool {
        managedAccounts.contains { IdentityContext.areSame($0, account) }
    }

    /// An account without targeted rules counts as personal.
    private nonisolated func inForce(_ identity: EffectiveIdentity) -> EffectiveIdentity {
        let identity = resolved(identity)
        guard case .managed(let account) = identity, isUntargeted(account) else {
            return identity
        }
        return .personal
    }

    /// Says once, in a debug build, when organisation data is touched by work whose identity did not follow: somewhere it
    /// went through a queue, a thread or a detached task unlabelled.
    ///
    /// Every call goes through here by which organisation data is asked for, written, let out or taken in.
    @discardableResult
    nonisolated func noted(_ identity: EffectiveIdentity) -> EffectiveIdentity {
        #if DEBUG
            if identity == .lost, !managedAccounts.isEmpty, isFirstLostWork() {
                configuration.logger.warning(
                    "organisation data was asked for by work without an identity; link CordonDispatch, or bind the work",
                    metadata: ["cause": "identity lost"])
            }
        #endif
        return identity
    }

    private nonisolated func isFirstLostWork() -> Bool {
        hasNotedLostWork.withLock { hasNoted in
            defer { hasNoted = true }
            return !hasNoted
        }
    }
}

extension Action {
    /// Whether the identity of the work decides, and not what its window shows (SDK-ID-05, SDK-FP-09).
    fileprivate var isFileTask: Bool {
        switch self {
        case .backUp, .encryptFile: true
        default: false
        }
    }
}
