package import CordonIdentity
package import CordonProtocol
package import Foundation

/// What the broker says: an answer to a request, a step of one that is under way, or an event.
package struct BrokerAnswer: Codable, Sendable {
    /// The request that is answered; nil for an event.
    package var id: UInt32?
    /// Why the request was not carried out; nothing else is then present.
    package var error: Failure?
    /// Something happened; no identity is in it.
    package var event: Event?
    /// A step of a request that goes on.
    package var progress: Progress?
    /// Answers `hello`.
    package var hello: Greeting?
    /// Answers `device.info`, `device.join` and `device.leave`.
    package var device: DeviceInformation?
    /// Answers `account.current`.
    package var current: CurrentAccount?
    /// Answers `account.list`.
    package var accounts: [SignedInAccount]?
    /// Answers `account.key`, base64url.
    package var key: String?
    /// Answers the token verbs.
    package var token: Token?
    /// Answers `token.key`.
    package var publicKey: JSONWebKey?
    /// Answers `token.proof`, base64url.
    package var signature: String?
    /// Answers `account.signout`.
    package var signOut: DeviceSignOutReport?

    /// An empty answer, which means done.
    package init(id: UInt32? = nil) {
        self.id = id
    }

    /// A refusal or failure.
    package init(id: UInt32?, _ error: SignInError) {
        self.id = id
        self.error = Failure(error)
    }

    /// An answer to `hello`.
    package struct Greeting: Codable, Sendable, Equatable {
        /// The protocol version spoken from here on.
        package var version: Int
        /// The broker program's version.
        package var broker: String
        /// The session number in force.
        package var session: UInt64
        /// The verbs that this broker knows.
        package var features: [String]

        /// Makes a greeting.
        package init(version: Int, broker: String, session: UInt64, features: [String]) {
            self.version = version
            self.broker = broker
            self.session = session
            self.features = features
        }
    }

    /// An event: what kind, and the session number in force after it.
    package struct Event: Codable, Sendable, Equatable {
        /// What happened.
        package var type: AccountEvent.Kind
        /// The session number in force.
        package var session: UInt64

        /// Makes an event.
        package init(_ type: AccountEvent.Kind, session: UInt64) {
            self.type = type
            self.session = session
        }
    }

    /// A page to show, or a code to type elsewhere.
    package struct Progress: Codable, Sendable, Equatable {
        /// The page.
        package var page: URL
        /// Where the page will end, for a browser that watches for it.
        package var redirect: URL?
        /// The code to type.
        package var userCode: String?
        /// The page with the code filled in.
        package var completePage: URL?
        /// When the code stops working.
        package var expires: Date?

        /// A page to show.
        package init(page: URL, redirect: URL? = nil) {
            self.page = page
            self.redirect = redirect
        }
    }

    /// A token with whose it is.
    package struct Token: Codable, Sendable, Equatable {
        /// The token's text.
        package var text: String
        /// When it stops being good.
        package var expires: Date
        /// What was granted.
        package var scopes: [String]
        /// Whether it works only with a proof.
        package var isBound: Bool
        /// The session number it belongs to.
        package var session: UInt64
        /// Interactive sign-in: who signed in.
        package var account: SignedInAccount?
        /// Interactive sign-in: whether it is who was hinted.
        package var matchesHint: Bool?
        /// Interactive sign-in: whether tokens can be renewed silently.
        package var isRenewable: Bool?

        /// Makes the travelling form of a token.
        package init(_ token: AccessToken, session: UInt64) {
            text = token.text
            expires = token.expires
            scopes = token.scopes
            isBound = token.isBound
            self.session = session
        }

        /// The token.
        package var accessToken: AccessToken {
            AccessToken(text: text, expires: expires, scopes: scopes, isBound: isBound)
        }
    }

    /// An error as it travels (SI-145); the provider's own text stays behind, because it may name people.
    package struct Failure: Codable, Sendable, Equatable {
        /// ``SignInError/Code``.
        package var code: String
        /// ``SignInFault``.
        package var fault: String
        /// What happened, without secrets or names.
        package var reason: String
        /// What to do.
        package var hint: String
        /// Ties the logs together.
        package var correlationID: UUID?
        /// The provider's error code.
        package var oauthError: String?
        /// The provider's finer code.
        package var subError: String?
        /// The status of the provider's answer.
        package var httpStatus: Int?
        /// Scopes that were granted.
        package var grantedScopes: [String]?
        /// Scopes that were not granted.
        package var declinedScopes: [String]?
        /// Claims that the next interactive request must carry, JSON text.
        package var claims: String?
        /// Who did sign in.
        package var account: AccountID?
        /// Whether the same request had just failed.
        package var isThrottled: Bool?
        /// Seconds to wait.
        package var retryAfter: Int64?

        /// Makes the travelling form.
        package init(_ error: SignInError) {
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
        package var signInError: SignInError {
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
