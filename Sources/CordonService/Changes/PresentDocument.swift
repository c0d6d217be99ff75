public import CordonPolicy
internal import CordonProtocol
public import Foundation

/// A policy, app configuration or filter as it is now, in the words that versions keep: for keeping it as a file.
public struct PresentDocument: Sendable, Codable, Equatable {
    /// What it is.
    public let kind: EntityVersion.Kind
    /// Its id.
    public let id: String
    /// Its version.
    public let version: String
    /// When it was last written.
    public let modified: Date
    /// Who wrote it last; nil for what was there before versions were kept.
    public let author: EntityVersion.Author?
    /// Why, where that was said.
    public let reason: String?
    /// What it says: settings, apps and assignments; secret values as digests.
    public let document: JSONValue

    init<Entity: VersionedEntity>(
        _ entity: Entity, _ secrets: SecretValues, in records: some StorageReader
    ) throws(ServiceError) {
        kind = Entity.versionKind
        (id, version, modified) = (entity.id, entity.versionToken, entity.modified)
        let kept = try records.record(
            EntityVersion.self,
            EntityVersion.storageID(EntityVersion.entity(Entity.versionKind, entity.id), entity.versionToken))
        (author, reason) = (kept?.author, kept?.reason)
        document = secrets.redacted(entity.versionDocument)
    }
}

extension VersionHistory {
    /// Every policy, app configuration and filter that an administrator sees, as of one moment, ordered by kind and id.
    public func present(as administrator: Administrator) async throws(ServiceError) -> [PresentDocument] {
        try await administration.store.read(.read, as: administrator) { records in
            let secrets = try records.secretValues()
            let filters = try records.records(AssignmentFilter.self)
            let policies = try records.records(ManagedAppPolicy.self).filter(administrator.sees)
            return try filters.map { try PresentDocument($0, secrets, in: records) }
                + policies.map { try PresentDocument($0, secrets, in: records) }
        }
    }
}
