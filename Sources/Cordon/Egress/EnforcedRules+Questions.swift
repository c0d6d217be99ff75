public import CordonIdentity
public import CordonPolicy
internal import CordonProtocol
internal import Foundation

/// What an app asks in order to adapt its screens (SDK-PO-01…05).
extension EnforcedRules {
    /// Whether Cordon asks for a PIN; an app with a PIN of its own hides it then (SDK-PO-01).
    public func isPINRequired(for identity: Identity) -> Bool {
        policy(of: identity)?.policy.access.pinRequired ?? false
    }

    /// Whether web links go to the managed browser (SDK-PO-02).
    public func isManagedBrowserRequired(for identity: Identity) -> Bool {
        policy(of: identity)?.policy.transfer.managedBrowserRequired ?? false
    }

    /// Whether contacts may be given to the system; an app with several identities enforces this itself (SDK-PO-03).
    public func isContactSyncAllowed(for identity: Identity) -> Bool { permits(.syncContacts, identity) }

    /// Whether content may be given to the system's search (SDK-PO-03).
    public func isSpotlightIndexingAllowed(for identity: Identity) -> Bool { permits(.indexSpotlight, identity) }

    /// Whether widgets may show content (SDK-PO-04).
    public func isWidgetContentSyncAllowed(for identity: Identity) -> Bool { permits(.showWidget, identity) }

    /// Whether screens may be captured. For information only: what the system blocks is another matter (SDK-PO-05).
    public func isScreenCaptureAllowed(for identity: Identity) -> Bool { permits(.captureScreen, identity) }

    /// Whether a file provider may hand out only sealed copies, and keeps the stored files as they are (SDK-EX-04): when the
    /// rules want files sealed, or keep data from unmanaged apps. Cordon does not enforce it; `Vault` makes the copy.
    public func mustFileProviderEncrypt(for identity: Identity) -> Bool {
        var send = Question(.send, owner: EffectiveIdentity(identity))
        send.peer = .unmanagedApp
        let write = Question(.encryptFile, owner: EffectiveIdentity(identity))
        return verdict(for: write) != .allow || !verdict(for: send).permits
    }

    /// Whether to offer the system's document picker in a mode: whether the rules leave any place open for it.
    /// ``locations(for:of:account:)`` says which places; nobody knows whether an app is there (SDK-DT-28).
    public func isDocumentPickerAllowed(_ mode: DocumentPickerMode, for identity: Identity) -> Bool {
        locations(for: mode.action, of: identity, account: identity.account).values.contains(where: \.permits)
    }

    private func permits(_ action: Action, _ identity: Identity) -> Bool {
        verdict(for: Question(action, owner: EffectiveIdentity(identity))).permits
    }
}

/// What the system's document picker is for (SDK-DT-28).
public enum DocumentPickerMode: String, Sendable, Hashable, CaseIterable {
    /// Takes a copy of a document in.
    case `import`
    /// Opens a document where it is.
    case open
    /// Puts a copy of a document elsewhere.
    case export
    /// Puts a document elsewhere.
    case move

    fileprivate var action: Action {
        switch self {
        case .import, .open: .openFrom
        case .export, .move: .saveTo
        }
    }
}

/// The accounts that rules apply to, and what administrators assign to them besides: configuration and working time.
extension EnforcedRules {
    /// The accounts that rules apply to, in order (SDK-ID-43).
    public var managedAccounts: [AccountID] { accounts.rules.managed.sorted { $0.rawValue < $1.rawValue } }

    /// Whether rules apply to an account here (SDK-ID-43). Either of its names will do once it is enrolled.
    public func isManaged(_ account: AccountID) -> Bool {
        accounts.rules.managed.contains { IdentityContext.areSame($0, account) }
    }

    /// The managed account of an app that holds one; nil when there is none, and in an app that may hold several (SDK-ID-43).
    ///
    /// An account that no rules target leaves its place to another. If it gets rules again, they hold for its data, but the
    /// other account stays the primary one.
    public var primaryAccount: AccountID? { accounts.primary }

    /// Whether rules apply to an account here, or the app's settings ask for some (SDK-CO-07).
    public var isManagementEnabled: Bool { !accounts.rules.managed.isEmpty || configuration.settings.requiresPolicy }

    /// The configuration of an enrolled account, with typed reads; empty for an account that is not enrolled, or that has
    /// none (CQ-18). Gone after a wipe.
    ///
    /// The account that the device is enrolled for also gets what the device's management gave the app (SDK-CF-08). That is for
    /// the app alone: Cordon decides by what the service signed.
    public func appConfiguration(of account: AccountID) -> AppConfiguration {
        accounts.appConfiguration(of: accounts.resolved(account))
    }

    /// The configuration of several accounts together (SDK-CF-08).
    public func appConfiguration(of accounts: [AccountID]) -> AppConfiguration {
        accounts.map { appConfiguration(of: $0) }.reduce(.empty) { $0.joined(with: $1) }
    }

    /// The person's working-time status (SDK-US-01): `notConfigured` if the service does not know it, a stale one
    /// if it was not refreshed in time.
    public func workingTime(of account: AccountID) -> ClockStatus {
        context.workingTime(of: accounts.resolved(account))
    }

    /// How the rules of an account got here; nil when none are in force. For logs only: it decides nothing.
    public func policyChannel(of account: AccountID) -> PolicyChannel? {
        guard policy(of: .managed(account)) != nil else { return nil }
        return accounts.debugged == accounts.resolved(account) ? .other : .appManagement
    }
}
