import CordonBase
import CordonServiceSQLite
import Crypto
import Foundation

/// What a backup says about itself.
struct BackupManifest: Codable, Equatable {
    /// The form of this document.
    var format = sealed
    /// When the backup was made.
    var made: Date
    /// The version of the software that made it.
    var version: String
    /// The SHA-256 of every file in the backup by its path, lower-case hex.
    var files: [String: String]
    /// What the store holds.
    var tenants: [StorageBackup.Tenant]

    /// The first form that comes with seals.
    static let sealed = 2
    /// The name of the document in a backup.
    static let name = "manifest.json"
    /// The name of the store in a backup.
    static let store = "service.sqlite"
    /// The folder of signing keys in a backup.
    static let keys = "keys"

    /// The SHA-256 of a file, lower-case hex.
    static func digest(of file: URL) throws -> String {
        let handle = try FileHandle(forReadingFrom: file)
        defer { try? handle.close() }
        var hash = SHA256()
        while let piece = try handle.read(upToCount: 1 << 20), !piece.isEmpty { hash.update(data: piece) }
        return hash.finalize().hex
    }

    /// The SHA-256 of some bytes, lower-case hex.
    static func digest(of bytes: Data) -> String { SHA256.hash(data: bytes).hex }

    /// The document's bytes.
    func encoded() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .iso8601
        return try encoder.encode(self)
    }

    /// Reads the document of a backup.
    static func read(in folder: URL) throws -> BackupManifest {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        return try decoder.decode(Self.self, from: Data(contentsOf: folder.appending(path: name)))
    }
}
