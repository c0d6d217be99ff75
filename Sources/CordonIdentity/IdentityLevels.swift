/// What a process declared of identities, beside the scopes of its tasks.
struct IdentityLevels: Sendable {
    /// The identity of all work without one of its own.
    var process: Identity?
    /// Whether any identity was ever declared: from then on, work without one has lost it.
    var isDeclared = false
    /// What the windows show; a window that is not here was never given an identity.
    var windows: [WindowID: [Identity]] = [:]
    /// The window that is asked where none is named.
    var keyWindow = WindowID.main
    /// Which names are one account.
    private(set) var names = AccountNames()
    private var interned: [Identity: InternedIdentity] = [:]
    /// The identity of the latest scope, since the next one is often the same.
    private var latest: (identity: Identity, stored: InternedIdentity)?
    /// Everything ever interned, because open scopes hold addresses.
    private var kept: [InternedIdentity] = []

    /// The one stored form of an identity; a sign-in name stands for its account once that is known.
    mutating func intern(_ identity: Identity) -> InternedIdentity {
        if let latest, latest.identity == identity { return latest.stored }
        let stored = interned[identity] ?? store(identity)
        latest = (identity, stored)
        return stored
    }

    private mutating func store(_ identity: Identity) -> InternedIdentity {
        let canonical = canonical(identity)
        let stored = interned[canonical] ?? InternedIdentity(canonical)
        if interned[canonical] == nil { kept.append(stored) }
        interned[canonical] = stored
        interned[identity] = stored
        return stored
    }

    mutating func learn(_ account: ManagedAccount) {
        names.learn(account)
        latest = nil
        // Scopes that are open keep the name they were opened with. What is another account's now is forgotten under both names before
        // either is stored anew.
        for name in [account.id, AccountID(account.userPrincipalName)] {
            let known = Identity.managed(name)
            if let stored = interned[known], stored.identity != canonical(known) { interned[known] = nil }
        }
    }

    func canonical(_ identity: Identity) -> Identity {
        switch identity {
        case .managed(let id): .managed(names.canonical(id))
        case .personal: .personal
        }
    }

    /// What work without a scope is.
    var fallback: EffectiveIdentity {
        process.map { EffectiveIdentity($0) } ?? (isDeclared ? .lost : .unset)
    }
}
