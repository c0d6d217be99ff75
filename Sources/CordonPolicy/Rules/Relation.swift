internal import CordonIdentity

/// How one side of a transfer looks from the other.
enum Relation {
    /// A managed app with the same managed account.
    case sameAccount
    /// A managed app with another managed account.
    case otherAccount
    /// Not managed: the app, or the account in it.
    case unmanaged
    /// Said to be exempted by the administrator, which is believed of a listed URL scheme alone.
    case exempt
    /// It cannot be told; `peer` itself is not known, or the account in it.
    case unclear(account: Bool)

    /// How the peer looks to an account.
    init(of peer: Peer?, to account: AccountID?) {
        guard let peer else {
            self = .unclear(account: false)
            return
        }
        switch (peer.app, peer.account) {
        case (.exempt, _): self = .exempt
        case (.unmanaged, _), (.managed, .unmanaged): self = .unmanaged
        case (.managed, .none), (.managed, .managed(nil)): self = .unclear(account: true)
        case (.managed, .managed(.some(let other))):
            guard let account, !account.rawValue.isEmpty, !other.rawValue.isEmpty else {
                self = .unclear(account: true)
                return
            }
            self = account == other ? .sameAccount : .otherAccount
        }
    }

    /// How the peer of a question looks to its owner; what needs no comparison of ids is told without one.
    init(ofPeerIn question: borrowing Question) {
        switch question.peer?.app {
        case .unmanaged: self = .unmanaged
        case .exempt: self = .exempt
        case nil: self = .unclear(account: false)
        case .managed: self.init(of: question.peer, to: question.owner?.account)
        }
    }

    /// How an identity in this managed app looks to an account.
    init(of identity: EffectiveIdentity?, to account: AccountID?) {
        guard case .managed(let other) = identity else {
            self = .unmanaged
            return
        }
        self.init(of: Peer(app: .managed, account: .managed(other)), to: account)
    }

    /// What is missing, in the words of a question.
    var missingField: String? {
        guard case .unclear(let account) = self else { return nil }
        return account ? "peer.id" : "peer"
    }
}
