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

    /// How an identity in this managed app looks to an account.
    init(of identity: EffectiveIdentity?, to account: AccountID?) {
        guard case .managed(let other) = identity else {
            self = .unmanaged
            return
        }
        guard let account, !account.rawValue.isEmpty, !other.rawValue.isEmpty else {
            self = .unclear(account: true)
            return
        }
        self = account == other ? .sameAccount : .otherAccount
    }

    /// What is missing, in the words of a question.
    var missingField: String? {
        guard case .unclear(let account) = self else { return nil }
        return account ? "peer.id" : "peer"
    }
}
