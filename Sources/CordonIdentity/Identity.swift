/// For whom a piece of work is done, as an app declares it.
public enum Identity: Sendable, Hashable {
    /// Work for an organisation's account: its policy applies.
    case managed(AccountID)
    /// Explicitly the person's own work: no policy applies, app-wide settings aside (SDK-CO-04).
    case personal

    /// Reads an account as calls with optional text give it: nil is not set, the empty text is explicitly no account,
    /// anything else is an organisation's account (SDK-NA-01, SDK-NA-02).
    ///
    /// ``managed(_:)`` with an empty id is not the same: it claims an organisation's account and names none, so it is
    /// denied everything.
    public init?(accountID: String?) {
        guard let accountID else { return nil }
        self = accountID.isEmpty ? .personal : .managed(AccountID(accountID))
    }

    /// The account, when the work is an organisation's.
    public var account: AccountID? {
        if case .managed(let account) = self { account } else { nil }
    }
}

/// The identity of the work that asks, as far as it is known when it asks.
///
/// Three ways of not being managed are never mixed: *personal* was declared, *unset* means
/// that nothing managed has been opened yet, *lost* means that an identity exists in this process but
/// did not follow to the code that asks.
public enum EffectiveIdentity: Sendable, Hashable {
    /// Work for an organisation's account.
    case managed(AccountID)
    /// Explicitly the person's own work; unrestricted.
    case personal
    /// The start of an app that holds several accounts: nothing managed is open (SDK-ID-13).
    case unset
    /// The identity did not follow; managed data is denied.
    case lost

    /// The effective form of a declared identity.
    public init(_ identity: Identity) {
        switch identity {
        case .managed(let account): self = .managed(account)
        case .personal: self = .personal
        }
    }

    /// The account, when the work is known to be an organisation's.
    public var account: AccountID? {
        if case .managed(let account) = self { account } else { nil }
    }
}
