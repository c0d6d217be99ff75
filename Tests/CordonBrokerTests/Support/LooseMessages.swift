import CordonIdentity
import CordonProtocol
import Foundation

@testable import CordonSignIn

/// A request of an app as the first version of the library wrote it: every member of every verb in one type.
struct LooseRequest: Codable, Sendable {
    /// Chosen by the app; the answer repeats it.
    var id: UInt32
    /// What is asked. Text, because a newer app may ask what this broker does not know.
    var verb: String
    /// Repeats the greeting's, from version 2 on.
    var nonce: String?
    /// `hello`: the protocol versions that the app speaks.
    var versions: [Int]?
    /// `hello`: what the app is towards the broker.
    var clientID: String?
    /// `hello`: the library and its version, for logs.
    var library: String?
    /// `hello`: whether the app works with one account at a time (SI-002).
    var singleAccount: Bool?
    /// The session number that the app last heard of.
    var session: UInt64?
    /// Whose token.
    var account: AccountID?
    /// What the token must allow.
    var scopes: [String]?
    /// The one audience of the token.
    var resource: String?
    /// A user name to pre-fill.
    var loginHint: String?
    /// The home of the user name, for providers that federate.
    var domainHint: String?
    /// `token.interactive`: scopes to consent to that this token will not carry.
    var extraScopes: [String]?
    /// `token.interactive`: how many seconds ago the person may have given credentials.
    var maximumAge: Int64?
    /// How hard to ask.
    var prompt: String?
    /// Whether the resource takes only tokens that are bound to a key.
    var requiresProof: Bool?
    /// Claims that a resource demanded, JSON text.
    var claims: String?
    /// Whether a cached token will not do.
    var forcesRenewal: Bool?
    /// Ties the logs of app, broker and provider together (SI-079).
    var correlationID: UUID?
    /// `token.return`, `token.cancel`: the request that is meant.
    var request: UInt32?
    /// `token.return`: where the browser ended, where the app's own page saw it.
    var url: String?
    /// `token.proof`: what is to be signed, header and payload in base64url.
    var input: String?
    /// `cleanup.report`: how far the app is.
    var stage: CleanUpStage?
    /// `account.signout`: whether the browser session is ended too.
    var endsBrowserSession: Bool?

    /// Asks with a verb.
    init(_ verb: BrokerVerb) {
        id = 0
        self.verb = verb.rawValue
    }
}

/// What the first version of the library read: every answer of every verb in one type.
struct LooseAnswer: Codable, Sendable {
    /// The request that is answered; nil for an event.
    var id: UInt32?
    /// Why the request was not carried out; nothing else is then present.
    var error: Failure?
    /// Something happened; no identity is in it.
    var event: Event?
    /// A step of a request that goes on.
    var progress: Progress?
    /// Answers `hello`.
    var hello: Greeting?
    /// Answers `device.info`, `device.join` and `device.leave`.
    var device: DeviceInformation?
    /// Answers `account.current`.
    var current: CurrentAccount?
    /// Answers `account.list`.
    var accounts: [SignedInAccount]?
    /// Answers `account.key`, base64url.
    var key: String?
    /// Answers the token verbs.
    var token: Token?
    /// Answers `token.key`.
    var publicKey: JSONWebKey?
    /// Answers `token.proof`, base64url.
    var signature: String?
    /// Answers `account.signout`.
    var signOut: DeviceSignOutReport?

    /// An empty answer, which means done.
    init(id: UInt32? = nil) {
        self.id = id
    }

    /// A refusal or failure.
    init(id: UInt32?, _ error: SignInError) {
        self.id = id
        self.error = Failure(error)
    }

    /// An answer to `hello`.
    struct Greeting: Codable, Sendable, Equatable {
        /// The protocol version spoken from here on.
        var version: Int
        /// The broker program's version.
        var broker: String
        /// The session number in force.
        var session: UInt64
        /// The verbs that this broker knows.
        var features: [String]
        /// What every request of this connection repeats, from version 2 on.
        var nonce: String?

        /// Makes a greeting.
        init(version: Int, broker: String, session: UInt64, features: [String]) {
            self.version = version
            self.broker = broker
            self.session = session
            self.features = features
        }
    }

    /// An event: what kind, and the session number in force after it.
    struct Event: Codable, Sendable, Equatable {
        /// What happened.
        var type: AccountEvent.Kind
        /// The session number in force.
        var session: UInt64

        /// Makes an event.
        init(_ type: AccountEvent.Kind, session: UInt64) {
            self.type = type
            self.session = session
        }
    }

    /// A page to show, or a code to type elsewhere.
    struct Progress: Codable, Sendable, Equatable {
        /// The page.
        var page: URL
        /// Where the page will end, for a browser that watches for it.
        var redirect: URL?
        /// The code to type.
        var userCode: String?
        /// The page with the code filled in.
        var completePage: URL?
        /// When the code stops working.
        var expires: Date?

        /// A page to show.
        init(page: URL, redirect: URL? = nil) {
            self.page = page
            self.redirect = redirect
        }
    }

    /// A token with whose it is.
    struct Token: Codable, Sendable, Equatable {
        /// The token's text.
        var text: String
        /// When it stops being good.
        var expires: Date
        /// What was granted.
        var scopes: [String]
        /// Whether it works only with a proof.
        var isBound: Bool
        /// The session number it belongs to.
        var session: UInt64
        /// Interactive sign-in: who signed in.
        var account: SignedInAccount?
        /// Interactive sign-in: whether it is who was hinted.
        var matchesHint: Bool?
        /// Interactive sign-in: whether tokens can be renewed silently.
        var isRenewable: Bool?

        /// Makes the travelling form of a token.
        init(_ token: AccessToken, session: UInt64) {
            text = token.text
            expires = token.expires
            scopes = token.scopes
            isBound = token.isBound
            self.session = session
        }

        /// The token.
        var accessToken: AccessToken {
            AccessToken(text: text, expires: expires, scopes: scopes, isBound: isBound)
        }
    }

    /// An error as it travels (SI-145); the provider's own text stays behind, because it may name people.
    struct Failure: Codable, Sendable, Equatable {
        /// ``SignInError/Code``.
        var code: String
        /// ``SignInFault``.
        var fault: String
        /// What happened, without secrets or names.
        var reason: String
        /// What to do.
        var hint: String
        /// Ties the logs together.
        var correlationID: UUID?
        /// The provider's error code.
        var oauthError: String?
        /// The provider's finer code.
        var subError: String?
        /// The status of the provider's answer.
        var httpStatus: Int?
        /// Scopes that were granted.
        var grantedScopes: [String]?
        /// Scopes that were not granted.
        var declinedScopes: [String]?
        /// Claims that the next interactive request must carry, JSON text.
        var claims: String?
        /// Who did sign in.
        var account: AccountID?
        /// Whether the same request had just failed.
        var isThrottled: Bool?
        /// Seconds to wait.
        var retryAfter: Int64?

        /// Makes the travelling form.
        init(_ error: SignInError) {
            code = error.code.rawValue
            fault = error.fault.rawValue
            reason = error.reason
            hint = error.hint
            correlationID = error.details.correlationID
            oauthError = error.details.oauthError
            subError = error.details.subError
            httpStatus = error.details.httpStatus
            grantedScopes = error.details.grantedScopes.isEmpty ? nil : error.details.grantedScopes
            declinedScopes = error.details.declinedScopes.isEmpty ? nil : error.details.declinedScopes
            claims = error.details.claims
            account = error.details.account
            isThrottled = error.details.isThrottled ? true : nil
            retryAfter = error.details.retryAfter?.components.seconds
        }

        /// The error; a code of a newer broker reads as a refusal.
        var signInError: SignInError {
            var details = SignInErrorDetails()
            details.correlationID = correlationID
            details.oauthError = oauthError
            details.subError = subError
            details.httpStatus = httpStatus
            details.grantedScopes = grantedScopes ?? []
            details.declinedScopes = declinedScopes ?? []
            details.claims = claims
            details.account = account
            details.isThrottled = isThrottled ?? false
            details.retryAfter = retryAfter.map { .seconds($0) }
            return SignInError(
                SignInError.Code(rawValue: code) ?? .brokerRefused, SignInFault(rawValue: fault) ?? .brokerDenied,
                reason, hint: hint, details: details)
        }
    }
}
