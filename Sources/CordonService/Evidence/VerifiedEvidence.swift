public import Foundation

/// What platform evidence has shown of the app behind a registration (SRV-CI-082). It is an input to people and reports, and no gate: no rule depends on it alone.
public struct VerifiedEvidence: Sendable, Codable, Equatable {
    /// The app by team and bundle id.
    public let app: String
    /// Which of the platform's services made the key: `production` or `development`.
    public let environment: String
    /// The name of the key: the SHA-256 of it.
    public let keyID: Data
    /// The key as in certificates: 0x04, x and y.
    public let publicKey: Data
    /// How often the key was used when it was last looked at; it only rises.
    public var counter: UInt32
    /// When it was last shown.
    public var verified: Date
    /// Since when evidence was refused that came after; nil while the last was good.
    public var refused: Date?

    /// Makes evidence of a key that was just attested.
    public init(app: String, environment: String, keyID: Data, publicKey: Data, counter: UInt32, verified: Date) {
        self.app = app
        self.environment = environment
        self.keyID = keyID
        self.publicKey = publicKey
        self.counter = counter
        self.verified = verified
    }
}
