internal import CordonBase
internal import CordonPolicy
internal import CordonProtocol
internal import Crypto
internal import Foundation

/// Something of which every version is kept.
protocol VersionedEntity {
    /// What kind it is of.
    static var versionKind: EntityVersion.Kind { get }
    /// The id.
    var id: String { get }
    /// The present version.
    var versionToken: String { get }
    /// When it was last written.
    var modified: Date { get }
    /// What a version keeps.
    var versionDocument: JSONValue { get }
}

extension ManagedAppPolicy: VersionedEntity {
    static var versionKind: EntityVersion.Kind { .policy }
    var versionToken: String { version }

    var versionDocument: JSONValue {
        var members = document.object ?? [:]
        members["@odata.type"] = .string(kind.odataType)
        members["apps"] = .array(
            apps.map { app in
                ["mobileAppIdentifier": GraphApps.json(app, version: "")["mobileAppIdentifier"] ?? .null]
            })
        guard kind.isAssignable else { return .object(members) }
        members["appGroupType"] = .string(appGroup.rawValue)
        members["assignments"] = graphAssignments
        return .object(members)
    }
}

extension AssignmentFilter: VersionedEntity {
    static var versionKind: EntityVersion.Kind { .filter }
    /// Filters have none of their own: what they say is their version.
    var versionToken: String {
        let digest = Data(SHA256.hash(data: Data(versionDocument.text().utf8)))
        return Base64URL.encode(digest.prefix(12)) + "-" + String(Int64(modified.timeIntervalSince1970), radix: 36)
    }

    var versionDocument: JSONValue {
        [
            "displayName": .string(displayName), "description": description.map(JSONValue.string) ?? .null,
            "platform": .string(platform), "rule": .string(rule),
            "roleScopeTags": .array(scopeTags.map(JSONValue.string)),
        ]
    }
}

extension Change {
    /// Keeps a version of what was written or removed, and of what was there before where none is known.
    ///
    /// - Returns: What changed, for the audit record.
    func keepVersion<Entity: VersionedEntity>(
        of new: Entity?, replacing old: Entity?, _ action: String, by administrator: Administrator, ids: RandomID
    ) throws(ServiceError) -> [MemberChange] {
        guard let id = new?.id ?? old?.id else { return [] }
        let secrets = try secretValues()
        let entity = EntityVersion.entity(Entity.versionKind, id)
        let (before, after) = (
            old.map { secrets.redacted($0.versionDocument) }, new.map { secrets.redacted($0.versionDocument) }
        )
        var previous: EntityVersion?
        if let old, let before {
            previous = try record(EntityVersion.self, EntityVersion.storageID(entity, old.versionToken))
            if previous == nil { previous = try firstVersion(entity, old, before) }
        } else {
            // One that was removed and is back under its id goes on from its removal.
            previous = try records(EntityVersion.self, where: (.entity, entity)).max { $0.number < $1.number }
        }
        let version = EntityVersion(
            entity: entity, version: new?.versionToken ?? ids.token(), number: (previous?.number ?? 0) + 1, time: now,
            action: action,
            author: .init(
                id: administrator.id, isProgram: administrator.isProgram, client: administrator.call.client),
            request: administrator.call.requestID, reason: administrator.call.reason, previous: previous?.version,
            digest: try after.map { document throws(ServiceError) in try keep(document) },
            superseded: new == nil ? now : nil)
        try save(version)
        if var previous {
            previous.superseded = previous.superseded ?? now
            try save(previous)
        }
        return MemberChange.between(before, after)
    }

    /// What was there before versions were kept.
    private func firstVersion(
        _ entity: String, _ old: some VersionedEntity, _ document: JSONValue
    ) throws(ServiceError) -> EntityVersion {
        EntityVersion(
            entity: entity, version: old.versionToken, number: 1, time: old.modified, action: "known", author: nil,
            request: nil, reason: nil, previous: nil, digest: try keep(document), superseded: nil)
    }

    /// Keeps a document, once for all versions that say the same; its digest.
    private func keep(_ document: JSONValue) throws(ServiceError) -> String {
        let text = document.text()
        let digest = SHA256.hash(data: Data(text.utf8)).hex
        var kept = try record(VersionDocument.self, digest) ?? VersionDocument(digest: digest, text: text, uses: 0)
        kept.uses += 1
        try save(kept)
        return digest
    }

    /// Forgets one version, and what it said where no other says the same.
    func forget(_ version: EntityVersion) throws(ServiceError) {
        guard try record(EntityVersion.self, version.storageID) != nil else { return }
        try remove(EntityVersion.self, version.storageID)
        guard let digest = version.digest, var kept = try record(VersionDocument.self, digest) else { return }
        kept.uses -= 1
        if kept.uses > 0 { try save(kept) } else { try remove(VersionDocument.self, digest) }
    }
}

extension StorageReader {
    /// How secret values become digests.
    ///
    /// - Throws: ``ServiceError`` with code `internalError` where the organisation was not opened.
    func secretValues() throws(ServiceError) -> SecretValues {
        guard let salt = try settings().secretSalt else {
            throw ServiceError(.internalError, "the organisation was not opened")
        }
        return SecretValues(salt: salt)
    }

    /// A policy as a version of it said, secret values as digests; nil where that is not kept any more.
    func keptPolicy(_ reference: PolicyReference) throws(ServiceError) -> ManagedAppPolicy? {
        let id = EntityVersion.storageID(EntityVersion.entity(.policy, reference.id), reference.version)
        guard let version = try record(EntityVersion.self, id), let document = try version.keptDocument(in: self),
            let kind = document["@odata.type"]?.string.flatMap(PolicyKind.init(odataType:))
        else { return nil }
        return ManagedAppPolicy(
            id: reference.id, kind: kind, version: reference.version, created: version.time, modified: version.time,
            document: document)
    }
}

extension EntityVersion {
    /// What a version said, nil where it was removed.
    ///
    /// - Throws: ``ServiceError`` with code `storageDamaged` where it is not kept any more.
    func document(in records: some StorageReader) throws(ServiceError) -> JSONValue? {
        guard digest != nil else { return nil }
        guard let document = try keptDocument(in: records) else {
            throw ServiceError(.storageDamaged, "a version's document is missing", place: entity)
        }
        return document
    }

    /// What a version said, nil where it was removed or that is not kept any more.
    fileprivate func keptDocument(in records: some StorageReader) throws(ServiceError) -> JSONValue? {
        guard let digest, let kept = try records.record(VersionDocument.self, digest) else { return nil }
        return try? JSONValue(parsing: Data(kept.text.utf8))
    }
}
