package import Foundation

/// A session of the console, sealed under a key that its cookie alone makes: the store, and every backup of it, shows neither whose
/// it is nor its token.
package struct ConsoleSessionRecord: Sendable, Codable, Equatable {
    /// A digest of the cookie.
    package let id: String
    /// The session, sealed.
    package var sealed: Data
    /// When the record goes.
    package var expires: Date

    package init(id: String, sealed: Data, expires: Date) {
        self.id = id
        self.sealed = sealed
        self.expires = expires
    }
}

extension ConsoleSessionRecord: StoredRecord {
    /// Sessions of the console.
    package static var storageKind: StorageKind { .consoleSession }
    /// The digest.
    package var storageID: String { id }
}
