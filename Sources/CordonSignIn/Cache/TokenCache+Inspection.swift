public import Foundation

/// What anyone may know about a file in a cache, which is nothing secret (SI-210).
public struct StoredFileFacts: Sendable, Equatable, Codable {
    /// What a file holds.
    public enum Kind: String, Sendable, Codable {
        /// A signed-in session.
        case session
        /// A refresh token whose revocation has still to be delivered.
        case revocation
    }

    /// The file's name: a hash, which identifies no person.
    public let name: String
    /// What it holds.
    public let kind: Kind
    /// The format's version.
    public let format: Int
    /// The session's or revocation's random id.
    public let id: UUID
    /// How often it was written.
    public let generation: UInt64
    /// Its size in bytes.
    public let size: Int
}

extension TokenCache {
    /// The files in a cache's folder, by name; works without any key. Files of another format are left out.
    ///
    /// - Throws: ``SignInError`` with code `storage` when the folder cannot be read.
    public static func inspect(_ directory: URL) throws(SignInError) -> [StoredFileFacts] {
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: directory.path)
        } catch {
            throw SignInError(.storage, .storeUnavailable, "the token store's folder cannot be listed")
        }
        var facts: [StoredFileFacts] = []
        for name in names.sorted() {
            let file = directory.appending(path: name, directoryHint: .notDirectory)
            guard let bytes = try? TokenStoreFile.read(file, limit: 1 << 20), let header = SealedHeader(bytes) else {
                continue
            }
            facts.append(
                StoredFileFacts(
                    name: name, kind: header.kind == .session ? .session : .revocation,
                    format: Int(SealedHeader.format), id: header.id, generation: header.generation, size: bytes.count))
        }
        return facts
    }
}
