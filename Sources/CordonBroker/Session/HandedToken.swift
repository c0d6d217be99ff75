internal import CordonProtocol
internal import CordonSignIn
internal import Foundation

/// An access token that an app was given in a session: enough to unregister with after its end, useless for anything new.
struct HandedToken: Sendable {
    let app: AppIdentity
    let resource: String?
    let token: AccessToken
    /// When the app got it.
    let obtained: Date
    private let written: WrittenAnswer<BrokerToken>
    /// Whether a newer one was given out: some providers end the older ones then.
    fileprivate(set) var isSuperseded = false

    init(_ token: AccessToken, of resource: String?, to app: AppIdentity, in session: UInt64, at obtained: Date) {
        self.token = token
        written = WrittenAnswer(BrokerToken(token, session: session))
        self.resource = resource
        self.app = app
        self.obtained = obtained
    }

    /// The answer that gives it to the app once more.
    func answer(in session: UInt64) -> WrittenAnswer<BrokerToken> {
        written.answer.session == session ? written : WrittenAnswer(BrokerToken(token, session: session))
    }

    /// When it may be given to the app once more instead of asking for a newer one: with half of its life or the
    /// usual buffer left, and no clock that was set back (SI-096); nil for never.
    func freshness(buffer: Duration) -> Range<Date>? {
        let early = min(TimeInterval(buffer.components.seconds), token.expires.timeIntervalSince(obtained) / 2)
        let end = token.expires.addingTimeInterval(-early)
        return isSuperseded || end <= obtained ? nil : obtained..<end
    }
}

/// The newest token of each app and resource in one session.
struct HandedTokens: Sendable {
    private var tokens: [HandedToken] = []

    /// The longest list; the newest stay.
    private static let most = 256

    mutating func add(_ token: HandedToken) {
        tokens.removeAll { $0.app == token.app && $0.resource == token.resource }
        for index in tokens.indices
        where tokens[index].resource == token.resource && tokens[index].token.text != token.token.text {
            tokens[index].isSuperseded = true
        }
        if tokens.count >= Self.most { tokens.removeFirst() }
        tokens.append(token)
    }

    mutating func removeAll() { tokens = [] }

    /// The token of the app that serves what it asks for.
    func token(for app: AppIdentity, _ resource: String?, _ scopes: [String]) -> HandedToken? {
        tokens.first {
            $0.app == app && $0.resource == resource && scopes.allSatisfy($0.token.scopes.contains)
        }
    }
}
