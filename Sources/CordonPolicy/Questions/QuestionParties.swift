internal import CordonIdentity

/// The accounts of a question, kept side by side rather than inside enumerations, so that an answer reads and
/// compares them in place: taking one out of an enumeration would count references, at several times the cost
/// of the answer.
///
/// A member that is not in use has one fixed value, so that equal questions are equal here.
struct QuestionParties: Sendable, Hashable {
    /// What is known of an account that is named beside it.
    enum Naming: UInt8, Sendable {
        /// Nothing is said.
        case absent
        /// It is an organisation's, and named.
        case managed
        /// It is an organisation's; which is not known.
        case managedUnnamed
        /// It is personal.
        case unmanaged
        /// No account has one open; for an owner, nothing managed is open yet.
        case none
        /// The identity did not follow.
        case lost
    }

    private(set) var ownerNaming = Naming.absent
    private(set) var ownerID = noAccount
    private(set) var app: Peer.App?
    private(set) var peerNaming = Naming.absent
    private(set) var peerID = noAccount
    private var bundleID: String?
    private(set) var hasLocationAccount = false
    private(set) var locationID = noAccount

    private static let noAccount = AccountID("")

    var owner: EffectiveIdentity? {
        get {
            switch ownerNaming {
            case .managed, .managedUnnamed: .managed(ownerID)
            case .unmanaged: .personal
            case .none: .unset
            case .lost: .lost
            case .absent: nil
            }
        }
        set {
            ownerID = newValue?.account ?? Self.noAccount
            ownerNaming =
                switch newValue {
                case .managed: .managed
                case .personal: .unmanaged
                case .unset: .none
                case .lost: .lost
                case nil: .absent
                }
        }
    }

    var peer: Peer? {
        get {
            guard let app else { return nil }
            let account: Peer.Account =
                switch peerNaming {
                case .managed: .managed(peerID)
                case .managedUnnamed: .managed(nil)
                case .unmanaged: .unmanaged
                case .none, .lost, .absent: .none
                }
            return Peer(app: app, account: account, bundleID: bundleID)
        }
        set {
            app = newValue?.app
            bundleID = newValue?.bundleID
            peerID = Self.noAccount
            switch newValue?.account {
            case .managed(let account)?:
                peerNaming = account == nil ? .managedUnnamed : .managed
                if let account { peerID = account }
            case .unmanaged?: peerNaming = .unmanaged
            case Peer.Account.none?: peerNaming = .none
            case nil: peerNaming = .absent
            }
        }
    }

    var locationAccount: AccountID? {
        get { hasLocationAccount ? locationID : nil }
        set {
            hasLocationAccount = newValue != nil
            locationID = newValue ?? Self.noAccount
        }
    }

    /// How the other side looks to the owner, read in place.
    var relation: Relation {
        switch app {
        case .unmanaged?: return .unmanaged
        case .exempt?: return .exempt
        case nil: return .unclear(account: false)
        case .managed?: break
        }
        if peerNaming == .unmanaged { return .unmanaged }
        guard peerNaming == .managed, ownerNaming == .managed, !peerID.rawValue.isEmpty, !ownerID.rawValue.isEmpty
        else { return .unclear(account: true) }
        return ownerID == peerID ? .sameAccount : .otherAccount
    }
}
