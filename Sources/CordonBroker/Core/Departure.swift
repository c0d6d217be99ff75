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
