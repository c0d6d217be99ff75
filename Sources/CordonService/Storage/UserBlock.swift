public import Foundation

/// A person whose apps are told to wipe at every check-in (SRV-TG-24).
public struct UserBlock: Sendable, Codable, Equatable {
    /// The person's object id.
    public let userID: String
    /// Since when.
    public let since: Date
    /// The administrator who blocked.
    public let by: String

    /// Makes a block.
    public init(userID: String, since: Date, by: String) {
        self.userID = userID
        self.since = since
        self.by = by
    }
}

extension UserBlock: StoredRecord {
    /// Blocks.
    public static var storageKind: StorageKind { .block }
    /// The folded object id.
    public var storageID: String { folded(userID) }
}
