public import CordonProtocol

/// The newest event of each kind for one registration: all that a stream needs to go on after a restart.
public struct EventBookmark: Sendable, Codable, Equatable {
    /// The registration.
    public let registrationID: String
    /// The newest event id, 0 before the first.
    public private(set) var lastID: Int64
    private var newest: [String: Int64]

    /// Makes the bookmark of a registration without events.
    public init(registrationID: String) {
        self.registrationID = registrationID
        self.lastID = 0
        self.newest = [:]
    }

    /// Notes a new event.
    public mutating func note(_ kind: ServiceEvent.Kind) -> ServiceEvent {
        lastID += 1
        newest[kind.rawValue] = lastID
        return ServiceEvent(id: lastID, kind: kind)
    }

    /// The newest event of each kind that came after an id, in order.
    public func events(after id: Int64) -> [ServiceEvent] {
        newest.compactMap { name, newestID in
            guard newestID > id, let kind = ServiceEvent.Kind(rawValue: name) else { return nil }
            return ServiceEvent(id: newestID, kind: kind)
        }
        .sorted { $0.id < $1.id }
    }
}

extension EventBookmark: StoredRecord {
    /// Bookmarks.
    public static var storageKind: StorageKind { .events }
    /// The registration's id.
    public var storageID: String { registrationID }
}
