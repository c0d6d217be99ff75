internal import CordonProtocol
public import Foundation

/// Logs that an administrator asked an app for (SRV-CI-015).
public struct LogCollection: Sendable, Codable, Equatable {
    /// The id, random.
    public let id: String
    /// The registration whose app is asked.
    public let registrationID: String
    /// The person, by object id.
    public let userID: String
    /// The administrator who asked.
    public let requestedBy: String
    /// When they asked.
    public let requested: Date
    /// Until when the app may send, and when what it sent is removed.
    public let notAfter: Date
    /// The bytes that are here.
    public var received: Int
    /// The bytes of the whole, nil before the first piece.
    public var total: Int?
    /// When the last piece came, nil before.
    public var completed: Date?

    /// Makes a collection of which nothing is here.
    public init(
        id: String, registrationID: String, userID: String, requestedBy: String, requested: Date, notAfter: Date
    ) {
        self.id = id
        self.registrationID = registrationID
        self.userID = userID
        self.requestedBy = requestedBy
        self.requested = requested
        self.notAfter = notAfter
        self.received = 0
        self.total = nil
    }

    /// Whether everything is here.
    public var isComplete: Bool { received == total }

    /// Whether the app is still asked.
    func isOpen(at now: Date) -> Bool { !isComplete && now < notAfter }

    /// What the app is told.
    var request: LogRequest { LogRequest(id: id, notAfter: Int64(notAfter.timeIntervalSince1970)) }
}

extension LogCollection: StoredRecord, NewestFirst {
    /// Logs that were asked for.
    public static var storageKind: StorageKind { .logCollection }
    /// The id.
    public var storageID: String { id }
    /// The registration, the person, when it was asked for, and when it is put away.
    public var lookups: [StorageLookup: String] {
        [
            .registration: registrationID, .user: folded(userID), .newest: place,
            .due: "ended/" + StorageTime.text(notAfter),
        ]
    }
}

/// A piece of an app's logs.
public struct LogPiece: Sendable, Codable, Equatable {
    /// The collection's id.
    public let collectionID: String
    /// Where the piece begins.
    public let offset: Int
    /// The bytes.
    public let bytes: Data

    /// Makes a piece.
    public init(collectionID: String, offset: Int, bytes: Data) {
        self.collectionID = collectionID
        self.offset = offset
        self.bytes = bytes
    }
}

extension LogPiece: StoredRecord {
    /// Pieces of logs.
    public static var storageKind: StorageKind { .logPiece }
    /// The collection and the offset, in an order that is that of the bytes.
    public var storageID: String {
        let digits = String(offset)
        return collectionID + "/" + String(repeating: "0", count: max(0, 10 - digits.count)) + digits
    }
    /// The collection.
    public var lookups: [StorageLookup: String] { [.collection: collectionID] }
}

extension StorageTransaction {
    /// Removes a collection with its pieces.
    func removeLogs(_ collection: LogCollection) throws(ServiceError) {
        // Found without being read: there may be 20 MiB of them.
        let pieces = try identifiers(
            LogPiece.self, of: .found(by: .collection, collection.id), after: nil, limit: .max)
        try remove(LogPiece.self, ids: pieces)
        try remove(LogCollection.self, collection.id)
    }
}
