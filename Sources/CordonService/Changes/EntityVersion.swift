internal import CordonPolicy
public import Foundation

/// One version of a policy, an app configuration or an assignment filter: who made it, when, why and by what program.
///
/// What it said is kept once for all versions that say the same.
public struct EntityVersion: Sendable, Codable, Equatable {
    /// What kinds of thing have versions; the raw values begin the names of entities.
    public enum Kind: String, Sendable, Codable, CaseIterable {
        /// A policy or app configuration, with its apps and assignments.
        case policy
        /// An assignment filter.
        case filter
    }

    /// Who made a version.
    public struct Author: Sendable, Codable, Equatable {
        /// The id of the person or program; nothing else of them is kept.
        public let id: String
        /// Whether it is a program.
        public let isProgram: Bool
        /// The program that the token was issued to.
        public let client: String?
    }

    /// What it is a version of, such as `policy/T_…`.
    public let entity: String
    /// The version; a policy's own, which envelopes name.
    public let version: String
    /// Counts the versions of one entity, from 1.
    public let number: Int64
    /// When it was made.
    public let time: Date
    /// What was done, as the audit log calls it; `known` for what was there before versions were kept.
    public let action: String
    /// Who did it, nil for what was there before versions were kept.
    public let author: Author?
    /// The id of the request.
    public let request: String?
    /// Why, where that was said.
    public let reason: String?
    /// The version before, nil for the first.
    public let previous: String?
    /// The SHA-256 of what it said, nil where it was removed.
    public let digest: String?
    /// When another took its place; nil for the newest.
    public internal(set) var superseded: Date?

    /// The name of an entity.
    public static func entity(_ kind: Kind, _ id: String) -> String { "\(kind.rawValue)/\(folded(id))" }

    static func storageID(_ entity: String, _ version: String) -> String { "\(entity)/\(version)" }
}

extension EntityVersion: StoredRecord {
    /// Versions.
    public static var storageKind: StorageKind { .version }
    /// The entity and the version.
    public var storageID: String { Self.storageID(entity, version) }
    /// The entity.
    public var lookups: [StorageLookup: String] { [.entity: entity] }
}

/// What one or several versions said.
struct VersionDocument: StoredRecord {
    /// The SHA-256 of ``text``, lower-case hex.
    let digest: String
    /// The JSON, secret values as digests.
    let text: String
    /// How many versions say so.
    var uses: Int

    static var storageKind: StorageKind { .versionDocument }
    var storageID: String { digest }
}
