internal import Foundation

/// What is kept of one sign-in, sealed; access tokens are not among it (SI-203).
struct SessionRecord: Codable, Sendable, Equatable {
    var account: SignedInAccount
    /// Which client signed in, at which provider.
    var clientID: String
    /// Nil once the provider refused it: the account is known but a person has to sign in again.
    var refreshToken: String?
    /// For the hint at sign-out only.
    var idToken: String?
    var scopes: [String]
    /// The secret of the session's key, which the tokens are bound to where ``isBound``; nil where the app brought its own key.
    var signingKey: Data?
    /// Whether the refresh token works only with a proof.
    var isBound: Bool
    /// When the provider last vouched for the claims.
    var vouched: Date
    /// True while the refresh token came with an ID token that was not verified: whose it is, an answer without one does not say.
    var isUnverified: Bool?
    /// How many seconds before the sign-in the person gave credentials, by the provider's clock alone; nil where it did not say.
    var credentialsAge: Double?
}
