public import Foundation

/// Remembers that a person was removed from the directory, so that a token that is still good does not bring them back.
public struct RemovedPerson: Sendable, Codable, Equatable {
    /// The person's object id; nothing else of them is kept.
    public let userID: String
    /// Since when.
    public let since: Date

    /// Makes a mark.
    public init(userID: String, since: Date) {
        self.userID = userID
        self.since = since
    }
}

extension RemovedPerson: StoredRecord {
    /// Marks of removal.
    public static var storageKind: StorageKind { .removedPerson }
    /// The folded object id.
    public var storageID: String { folded(userID) }
}
