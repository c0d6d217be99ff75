public import CordonProtocol

/// The newest event of each kind for one registration: all that a stream needs to go on after a restart.
///
/// What all apps are told at once is not written into bookmarks: it raises the organisation's epoch, and each epoch counts as
/// one event of every registration.
public struct EventBookmark: Sendable, Codable, Equatable {
    /// The registration.
    public let registrationID: String
    /// The id of the newest event of the registration alone, 0 before the first.
    public private(set) var lastID: Int64
    private var newest: [String: Int64]
    /// The epoch at that event, nil for 0.
    private var epoch: Int64?

    /// Makes the bookmark of a registration without events.
    public init(registrationID: String) {
        self.registrationID = registrationID
        self.lastID = 0
        self.newest = [:]
    }

    /// The id of the newest event in an epoch, of the registration alone or of all.
    public func lastID(in epoch: Int64) -> Int64 { lastID + max(0, epoch - (self.epoch ?? 0)) }

    /// Notes a new event.
    ///
    /// - Parameter epoch: The organisation's epoch.
    public mutating func note(_ kind: ServiceEvent.Kind, in epoch: Int64 = 0) -> ServiceEvent {
        let present = lastID(in: epoch)
        if present > lastID { newest[ServiceEvent.Kind.policyChanged.rawValue] = present }
        lastID = present + 1
        self.epoch = max(epoch, self.epoch ?? 0)
        newest[kind.rawValue] = lastID
        return ServiceEvent(id: lastID, kind: kind)
    }

    /// The newest event of each kind that came after an id, in order.
    ///
    /// - Parameter epoch: The organisation's epoch.
    public func events(after id: Int64, in epoch: Int64 = 0) -> [ServiceEvent] {
        var newest = newest
        let present = lastID(in: epoch)
        if present > lastID { newest[ServiceEvent.Kind.policyChanged.rawValue] = present }
        return newest.compactMap { name, newestID in
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
