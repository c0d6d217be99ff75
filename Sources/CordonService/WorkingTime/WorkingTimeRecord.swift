public import CordonProtocol

/// What a time-keeping system said last of one person.
public struct WorkingTimeRecord: Sendable, Codable, Equatable {
    /// The person's object id.
    public let userID: String
    /// What it said.
    public var time: WorkingTimeReport

    /// Makes a record.
    public init(userID: String, time: WorkingTimeReport) {
        self.userID = userID
        self.time = time
    }
}

extension WorkingTimeRecord: StoredRecord {
    /// Working times.
    public static var storageKind: StorageKind { .workingTime }
    /// The folded object id.
    public var storageID: String { folded(userID) }
}
