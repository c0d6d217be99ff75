internal import Foundation

/// The version of the newest key set that was signed for apps, which only rises (SRV-CI-084).
///
/// It begins with the time, so that it also rises above what a store knew that was restored from a copy.
public struct KeySetState: Sendable, Codable, Equatable {
    /// The version.
    public private(set) var version: Int64 = 0

    /// Takes the next version.
    mutating func advance(at now: Date) {
        let time = Int64(now.timeIntervalSince1970)
        version = max(time, version < .max ? version + 1 : version)
    }
}

extension KeySetState: StoredRecord {
    /// What is known of key sets.
    public static var storageKind: StorageKind { .keySet }
    /// The only one.
    static let id = "tenant"
    /// Always the same.
    public var storageID: String { Self.id }
}
