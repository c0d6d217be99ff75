public import CordonIdentity
public import CordonProtocol
public import Foundation

/// A device that many people share, and who is on it.
public struct SharedDevice: Sendable, Codable, Equatable {
    /// The device's id, random.
    public let id: String
    /// The key that its statements are signed with.
    public let key: JSONWebKey
    /// A name that an administrator gave.
    public var name: String?
    /// When it was registered here.
    public let registered: Date
    /// The administrator who registered it.
    public let registeredBy: String
    /// The number of the newest statement about who is on it, 0 before the first.
    public var session: Int64
    /// The person on it, nil for none.
    public var account: AccountID?
    /// Since when, by the device's own clock; nil before the first statement.
    public var accountSince: Date?
    /// When the newest statement came.
    public var lastSeen: Date?
    /// The apps that the device told of, in its own order; nil where it told of none (SI-157).
    public var apps: [SharedDeviceApp]?

    /// Makes a device without a person on it.
    public init(id: String, key: JSONWebKey, name: String?, registered: Date, registeredBy: String) {
        self.id = id
        self.key = key
        self.name = name
        self.registered = registered
        self.registeredBy = registeredBy
        self.session = 0
    }
}

extension SharedDevice: StoredRecord {
    /// Shared devices.
    public static var storageKind: StorageKind { .sharedDevice }
    /// The device's id.
    public var storageID: String { id }
    /// The key, and the person on it.
    public var lookups: [StorageLookup: String] {
        var lookups: [StorageLookup: String] = [.key: key.thumbprint]
        lookups[.user] = account.map { folded($0.rawValue) }
        return lookups
    }
}
