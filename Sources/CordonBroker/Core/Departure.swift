internal import CordonIdentity
internal import CordonProtocol
internal import CordonSignIn
internal import Foundation

/// A session that has ended and whose apps are still cleaning up; in memory only, and not for long.
struct Departure {
    /// An access token that an app had before the end: enough to unregister with, useless for anything new.
    struct Token: Sendable {
        let app: AppIdentity
        let resource: String?
        let token: AccessToken
        /// When the app got it.
        let obtained: Date
        /// Whether a newer one was given out: some providers end the older ones then.
        var isSuperseded = false

        /// Whether it may be given to the app once more instead of asking for a newer one: with half of its life or the
        /// usual buffer left, and no clock that was set back (SI-096).
        func isFresh(at now: Date, buffer: Duration) -> Bool {
            let early = min(TimeInterval(buffer.components.seconds), expires.timeIntervalSince(obtained) / 2)
            return !isSuperseded && now >= obtained && now < expires.addingTimeInterval(-early)
        }

        private var expires: Date { token.expires }

        /// Whether it is for what the app asks for.
        func serves(_ app: AppIdentity, _ resource: String?, _ scopes: [String]) -> Bool {
            self.app == app && self.resource == resource && scopes.allSatisfy(token.scopes.contains)
        }
    }

    /// The tokens handed out in the session.
    var tokens: [Token]
    /// The key that they are bound to.
    var signer: (any MessageSigner)?
    /// The apps that are waited for, by key.
    var awaited: Set<String>
    /// How far each app is.
    var stages: [String: CleanUpStage] = [:]
    /// Resumed when nobody is waited for any more.
    var waiter: CheckedContinuation<Void, Never>?
}
