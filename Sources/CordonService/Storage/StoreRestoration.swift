public import Foundation

/// That a store was put back from a backup: what was decided since then is not in it, and until a person with the permission to
/// manage the organisation says to go on, apps are told nothing from it.
public struct StoreRestoration: Sendable, Codable, Equatable {
    /// When the backup was made.
    public var made: Date
    /// When it was put back, nil until the service has started.
    public var restored: Date?
    /// The SHA-256 of the backup's manifest, lower-case hex.
    public var manifest: String
    /// How often each action is in a newer export of the audit log and not in the store; nil where none was compared.
    public var lost: [String: Int]?

    /// Makes a note of a restoration.
    public init(made: Date, manifest: String, lost: [String: Int]? = nil) {
        self.made = made
        self.manifest = manifest
        self.lost = lost
    }
}
