public import Foundation

/// A token for one resource, kept in memory only (SI-203). Description and reflection are redacted.
public struct AccessToken: Sendable, Equatable, CustomStringConvertible, CustomReflectable {
    /// The token itself: for the `Authorization` header of its resource and nowhere else.
    public let text: String
    /// When it expires.
    public let expires: Date
    /// What was granted.
    public let scopes: [String]
    /// Whether it works only together with a proof made by the session's key (RFC 9449).
    public let isBound: Bool

    /// Makes a token value.
    public init(text: String, expires: Date, scopes: [String] = [], isBound: Bool = false) {
        self.text = text
        self.expires = expires
        self.scopes = scopes
        self.isBound = isBound
    }

    /// The value of the `Authorization` header: `DPoP …` for a bound token, `Bearer …` otherwise.
    public var authorization: String { (isBound ? "DPoP " : "Bearer ") + text }

    /// Kind and end only.
    public var description: String { "AccessToken(\(isBound ? "bound" : "bearer"), expires \(expires), redacted)" }

    /// Shows nothing either, to `dump` and to debuggers.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
