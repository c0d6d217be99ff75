public import CordonIdentity

/// The other side of a transfer: an app, and the account that is active in it.
public struct Peer: Sendable, Hashable {
    /// What kind of app it is.
    public enum App: String, Sendable, Hashable, Codable {
        /// Managed by policy.
        case managed
        /// Not managed.
        case unmanaged
        /// Not managed, and said to be exempted by the administrator.
        ///
        /// The policy's list decides: such an app receives what a ``Question/url`` of a listed scheme carries
        /// (`exemptedAppProtocols`), and counts as unmanaged in everything else.
        case exempt
    }

    /// Which account is active in it.
    public enum Account: Sendable, Hashable {
        /// An organisation's; nil when it is not known which.
        case managed(AccountID?)
        /// A personal one.
        case unmanaged
        /// None, or not known.
        case none
    }

    /// The kind of app.
    public var app: App
    /// The account.
    public var account: Account
    /// The app's bundle identifier, for the explanation; no answer depends on it.
    public var bundleID: String?

    /// Names the other side.
    public init(app: App, account: Account, bundleID: String? = nil) {
        self.app = app
        self.account = account
        self.bundleID = bundleID
    }

    /// A managed app, this one included, in which that managed account is active.
    public static func managed(_ account: AccountID) -> Peer { Peer(app: .managed, account: .managed(account)) }
    /// The person's own side of a managed app, this one included.
    public static let personal = Peer(app: .managed, account: .unmanaged)
    /// An app that no policy manages.
    public static let unmanagedApp = Peer(app: .unmanaged, account: .unmanaged)
    /// An app that is said to be exempted; see ``App/exempt``.
    public static let exemptApp = Peer(app: .exempt, account: .none)
}
