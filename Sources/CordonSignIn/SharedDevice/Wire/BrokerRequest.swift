package import CordonIdentity
package import Foundation

/// A request as it travels; members that a verb does not use are absent.
package struct BrokerRequest: Codable, Sendable {
    /// Chosen by the app; the answer repeats it.
    package var id: UInt32
    /// What is asked. Text, because a newer app may ask what this broker does not know.
    package var verb: String
    /// `hello`: the protocol versions that the app speaks.
    package var versions: [Int]?
    /// `hello`: what the app is towards the broker.
    package var clientID: String?
    /// `hello`: the library and its version, for logs.
    package var library: String?
    /// `hello`: whether the app works with one account at a time (SI-002).
    package var singleAccount: Bool?
    /// The session number that the app last heard of.
    package var session: UInt64?
    /// Whose token.
    package var account: AccountID?
    /// What the token must allow.
    package var scopes: [String]?
    /// The one audience of the token.
    package var resource: String?
    /// A user name to pre-fill.
    package var loginHint: String?
    /// The home of the user name, for providers that federate.
    package var domainHint: String?
    /// `token.interactive`: scopes to consent to that this token will not carry.
    package var extraScopes: [String]?
    /// `token.interactive`: how many seconds ago the person may have given credentials.
    package var maximumAge: Int64?
    /// How hard to ask.
    package var prompt: String?
    /// Whether the resource takes only tokens that are bound to a key.
    package var requiresProof: Bool?
    /// Claims that a resource demanded, JSON text.
    package var claims: String?
    /// Whether a cached token will not do.
    package var forcesRenewal: Bool?
    /// Ties the logs of app, broker and provider together (SI-079).
    package var correlationID: UUID?
    /// `token.return`, `token.cancel`: the request that is meant.
    package var request: UInt32?
    /// `token.return`: where the browser ended, where the app's own page saw it.
    package var url: String?
    /// `token.proof`: what is to be signed, header and payload in base64url.
    package var input: String?
    /// `cleanup.report`: how far the app is.
    package var stage: CleanUpStage?
    /// `account.signout`: whether the browser session is ended too.
    package var endsBrowserSession: Bool?

    /// Asks with a verb.
    package init(_ verb: BrokerVerb) {
        id = 0
        self.verb = verb.rawValue
    }
}
