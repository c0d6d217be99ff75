internal import CordonSignIn

/// The open connections: who each is, and which of them listen to events.
struct Connections {
    /// One connection.
    struct Peer {
        let caller: BrokerCaller
        let send: @Sendable (BrokerMessage) -> Void
        /// What the connection is towards the broker; nil before its greeting.
        fileprivate(set) var app: AppIdentity?
        /// The entry of the list that allows the app; nil for an administrator.
        fileprivate(set) var rule: AllowedApp?
        /// What each request must repeat; nil for a client of the first version.
        fileprivate var nonce: String?
        fileprivate(set) var isSubscribed = false
    }

    private var peers: [Int: Peer] = [:]
    private var last = 0

    /// Takes a connection in; the number names it from here on.
    mutating func open(_ caller: BrokerCaller, send: @escaping @Sendable (BrokerMessage) -> Void) -> Int {
        last += 1
        peers[last] = Peer(caller: caller, send: send)
        return last
    }

    /// Forgets a connection.
    mutating func close(_ peer: Int) { peers[peer] = nil }

    /// Takes note of what a connection is.
    mutating func greet(_ peer: Int, as app: AppIdentity, allowedBy rule: AllowedApp?, nonce: String?) {
        peers[peer]?.app = app
        peers[peer]?.rule = rule
        peers[peer]?.nonce = nonce
    }

    /// Refuses a request that was written before the broker greeted, or by a process that did not read the greeting.
    func checkNonce(_ nonce: String?, of peer: Int, for verb: BrokerVerb) throws(SignInError) {
        guard verb != .hello, let wanted = peers[peer]?.nonce, wanted != nonce else { return }
        throw SignInError(
            .brokerRefused, .brokerDenied, "the request does not repeat the nonce of its connection's greeting")
    }

    mutating func subscribe(_ peer: Int) { peers[peer]?.isSubscribed = true }

    /// A connection that has not greeted yet.
    func stranger(_ peer: Int) throws(SignInError) -> Peer {
        guard let known = peers[peer], known.app == nil else {
            throw SignInError(.configuration, .invalidRequest, "hello comes once, and first")
        }
        return known
    }

    /// A connection that has greeted.
    func greeted(_ peer: Int) throws(SignInError) -> Peer {
        guard let known = peers[peer], known.app != nil else {
            throw SignInError(.brokerRefused, .invalidRequest, "the first request must be hello")
        }
        return known
    }

    /// The app behind a connection.
    func app(_ peer: Int) throws(SignInError) -> (identity: AppIdentity, rule: AllowedApp) {
        let known = try greeted(peer)
        guard let identity = known.app, let rule = known.rule else {
            throw SignInError(
                .brokerRefused, .brokerDenied, "an administrator has no app's rights",
                hint: "Use an app of the list. Administrators have `cordon device` status, join, leave and sign-out.")
        }
        return (identity, rule)
    }

    /// How to say something to a connection; nil where it has ended.
    func sender(_ peer: Int) -> (@Sendable (BrokerMessage) -> Void)? { peers[peer]?.send }

    /// Everything that listens to events, administrators too.
    private var listeners: some Sequence<Peer> { peers.values.lazy.filter(\.isSubscribed) }

    /// The keys of everything that listens.
    var listening: Set<String> { Set(listeners.compactMap { $0.app?.key }) }

    /// The apps that listen.
    var listeningApps: [AppIdentity] { listeners.filter { $0.rule != nil }.compactMap(\.app) }

    /// Tells everything that listens.
    func post(_ event: AccountEvent) {
        for listener in listeners { listener.send(.event(event)) }
    }
}
