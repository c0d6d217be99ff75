public import Foundation

/// From when on an account's tokens count, and the newest word on whether it is enabled.
public struct SessionRevocation: Sendable, Codable, Equatable {
    /// The person's object id, folded.
    public let userID: String
    /// Tokens issued before this moment count no more; nil where no session was revoked.
    public var before: Date?
    /// When the account was last disabled or enabled by a signal, so that a repeated older one changes nothing.
    public var stateAsOf: Date?
}

extension SessionRevocation: StoredRecord {
    /// Revocations.
    public static var storageKind: StorageKind { .revocation }
    /// The person.
    public var storageID: String { userID }
}
