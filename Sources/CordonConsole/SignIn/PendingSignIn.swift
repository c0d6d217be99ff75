import Foundation

/// A sign-in under way, sealed in a cookie of the browser that began it.
struct PendingSignIn: Codable, Sendable {
    /// How long a person may spend on the provider's pages, in seconds.
    static let lifetime: TimeInterval = 900

    var state: String
    var verifier: String
    /// The secret key to which the token will be bound.
    var key: Data
    /// The page to go to afterwards.
    var next: String
    var ends: Date
}
