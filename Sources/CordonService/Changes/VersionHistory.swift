internal import CordonPolicy
internal import CordonProtocol
public import Foundation

/// What policies and filters said before, and which rules an app had when.
public struct VersionHistory: Sendable {
    let administration: Administration
    private var store: TenantStore { administration.store }

    /// The versions of a policy or filter, newest first; of one that was removed as well.
    ///
    /// - Throws: ``ServiceError`` with code `notFound` where none is kept.
    public func versions(
        of kind: EntityVersion.Kind, _ id: String, as administrator: Administrator
    ) async throws(ServiceError) -> [EntityVersion] {
        try await store.read(.read, as: administrator) { records in
            try Self.versions(of: kind, id, seenBy: administrator, in: records)
        }
    }

    /// One version with what it said and what it changed.
    ///
    /// - Throws: ``ServiceError`` with code `notFound` where it is not kept.
    public func version(
        _ version: String, of kind: EntityVersion.Kind, _ id: String, as administrator: Administrator
    ) async throws(ServiceError) -> VersionContent {
        try await store.read(.read, as: administrator) { records in
            try Self.content(of: version, kind, id, seenBy: administrator, in: records)
        }
    }

    /// One version without what it said, and which one is in force now; this reads two records.
    ///
    /// - Throws: ``ServiceError`` with code `notFound` where it is not kept.
    public func place(
        ofVersion version: String, of kind: EntityVersion.Kind, _ id: String, as administrator: Administrator
    ) async throws(ServiceError) -> VersionPlace {
        try await store.read(.read, as: administrator) { records in
            let storageID = EntityVersion.storageID(EntityVersion.entity(kind, id), version)
            guard let found = try records.record(EntityVersion.self, storageID) else {
                throw ServiceError(.notFound, "no version of this name is kept", place: version)
            }
            switch kind {
            case .policy:
                guard let present = try records.record(ManagedAppPolicy.self, id) else {
                    // The newest words say whose a policy was that is gone.
                    _ = try Self.versions(of: kind, id, seenBy: administrator, in: records)
                    return VersionPlace(version: found, inForce: nil)
                }
                guard administrator.sees(present) else {
                    throw ServiceError(.notFound, "no version of this name is kept", place: version)
                }
                return VersionPlace(version: found, inForce: present.version)
            case .filter:
                let present = try records.record(AssignmentFilter.self, folded(id))
                return VersionPlace(version: found, inForce: present?.versionToken)
            }
        }
    }

    /// The most policies that are asked about at once.
    private static let mostPolicies = 200

    /// The versions of some policies that are in force, in the order of the ids: who changed each of them last, when and why. Policies
    /// that the caller may not read, and those of which no version is kept, are left out.
    ///
    /// - Parameter ids: At most 200; the rest is left out.
    public func versionsInForce(
        ofPolicies ids: [String], as administrator: Administrator
    ) async throws(ServiceError) -> [EntityVersion] {
        try await store.read(.read, as: administrator) { records in
            let policies = try records.records(ManagedAppPolicy.self, ids: Array(ids.prefix(Self.mostPolicies)))
                .filter(administrator.sees)
            return try records.records(
                EntityVersion.self,
                ids: policies.map { EntityVersion.storageID(EntityVersion.entity(.policy, $0.id), $0.version) })
        }
    }

    /// Compares two versions of a policy or filter.
    ///
    /// - Throws: ``ServiceError`` with code `notFound` where one of them is not kept.
    public func compareVersions(
        _ from: String, _ to: String, of kind: EntityVersion.Kind, _ id: String, as administrator: Administrator
    ) async throws(ServiceError) -> VersionComparison {
        let (old, new) = try await store.read(.read, as: administrator) { records in
            (
                try Self.content(of: from, kind, id, seenBy: administrator, in: records),
                try Self.content(of: to, kind, id, seenBy: administrator, in: records)
            )
        }
        return VersionComparison(old, new)
    }

    /// Puts back what an earlier version of a policy said, as a new version, with the same permissions and reviews as any change. A
    /// policy that was removed is made again under a new id.
    ///
    /// A secret value comes back where the present policy still has it.
    ///
    /// - Parameter expected: The version that the caller expects to be the present one, nil for any.
    /// - Throws: ``ServiceError``: `notFound`, `conflict` for a version that is a removal or whose secret values are gone, and as
    ///   any change.
    public func putBackPolicy(
        _ id: String, version: String, ifVersion expected: String?, as administrator: Administrator
    ) async throws(ServiceError) -> ManagedAppPolicy {
        let change = try await change(puttingBack: version, ofPolicy: id, as: administrator)
        return try await administration.written(change, ifVersion: expected, as: administrator)
    }

    /// The change that puts back what an earlier version of a policy said.
    func change(
        puttingBack version: String, ofPolicy id: String, as administrator: Administrator
    ) async throws(ServiceError) -> PolicyChange {
        let (kept, present, secrets) = try await store.read(.read, as: administrator, call: "putBackPolicy") {
            records in
            (
                try Self.content(of: version, .policy, id, seenBy: administrator, in: records),
                try records.record(ManagedAppPolicy.self, id), try records.secretValues()
            )
        }
        guard let document = kept.document,
            let kind = document["@odata.type"]?.string.flatMap(PolicyKind.init(odataType:))
        else { throw ServiceError(.conflict, "the version is a removal", place: version) }
        let (full, missing) = secrets.restored(document, from: present?.versionDocument ?? .null)
        guard missing.isEmpty else {
            throw ServiceError(
                .conflict, "secret values of the version are not kept", place: version,
                hint: "Write the policy with its secret values instead.",
                problems: missing.map { .init(member: "customSettings[\($0)]", reason: "is kept as a digest alone") })
        }
        return present == nil ? .create(kind, full) : .replace(id, full)
    }

    /// Puts back what an earlier version of a filter said.
    ///
    /// - Throws: ``ServiceError``: `notFound`, `conflict` for a version that is a removal, and as any change.
    public func putBackFilter(
        _ id: String, version: String, as administrator: Administrator
    ) async throws(ServiceError) -> AssignmentFilter {
        let now = store.now
        let (kept, present) = try await store.read(.read, as: administrator) { records in
            (
                try Self.content(of: version, .filter, id, seenBy: administrator, in: records),
                try records.record(AssignmentFilter.self, folded(id))
            )
        }
        guard let document = kept.document, let name = document["displayName"]?.string,
            let rule = document["rule"]?.string
        else { throw ServiceError(.conflict, "the version is a removal", place: version) }
        let filter = AssignmentFilter(
            id: present?.id ?? id, displayName: name, description: document["description"]?.string,
            platform: document["platform"]?.string ?? AssignmentFilter.usualPlatform, rule: rule,
            created: present?.created ?? now, modified: now,
            scopeTags: document["roleScopeTags"]?.array?.compactMap(\.string) ?? [ScopeTag.defaultID])
        try await administration.saveResource(filter, isNew: present == nil, as: administrator)
        // What says the same is not written again.
        if let present, present.versionDocument == filter.versionDocument { return present }
        return filter
    }

    /// The rules of a registration at a moment, by what was delivered to it; the registration itself may be closed or forgotten.
    ///
    /// - Throws: ``ServiceError`` with code `notFound` where nothing is known of it.
    public func rules(
        ofRegistration id: String, at time: Date, as administrator: Administrator
    ) async throws(ServiceError) -> RulesAtTime {
        let conflict = administration.configuration.numericConflict
        return try await store.read(.read, as: administrator) { records in
            let all = try records.records(DeliveredRules.self, where: (.registration, id))
                .sorted { $0.sequence < $1.sequence }
            guard try !all.isEmpty || records.record(Registration.self, id) != nil else {
                throw ServiceError(.notFound, "no registration has this id", place: id)
            }
            let inForce = all.last { $0.applied.map { $0 <= time } ?? false }
            let underWay = all.last { $0.delivered <= time && $0.sequence > inForce?.sequence ?? 0 }
            return RulesAtTime(
                registrationID: id, at: time,
                inForce: try inForce.map {
                    try Self.rules($0, known: time, conflict, seenBy: administrator, in: records)
                },
                underWay: try underWay.map {
                    try Self.rules($0, known: time, conflict, seenBy: administrator, in: records)
                })
        }
    }

    private static func versions(
        of kind: EntityVersion.Kind, _ id: String, seenBy administrator: Administrator, in records: some StorageReader
    ) throws(ServiceError) -> [EntityVersion] {
        let versions = try records.records(EntityVersion.self, where: (.entity, EntityVersion.entity(kind, id)))
            .sorted { $0.number > $1.number }
        guard kind == .policy, !versions.isEmpty else {
            guard !versions.isEmpty else { throw ServiceError(.notFound, "no version of this is kept", place: id) }
            return versions
        }
        // The newest words say whose the policy is, also of one that was removed.
        guard let newest = versions.first(where: { $0.digest != nil }), let document = try newest.document(in: records),
            administrator.may(.read, withTags: ManagedAppPolicy.scopeTags(in: document))
        else { throw ServiceError(.notFound, "no version of this is kept", place: id) }
        return versions
    }

    private static func content(
        of version: String, _ kind: EntityVersion.Kind, _ id: String, seenBy administrator: Administrator,
        in records: some StorageReader
    ) throws(ServiceError) -> VersionContent {
        let all = try versions(of: kind, id, seenBy: administrator, in: records)
        guard let found = all.first(where: { $0.version == version }) else {
            throw ServiceError(.notFound, "no version of this name is kept", place: version)
        }
        let document = try found.document(in: records)
        var changes: [MemberChange] = []
        if found.previous == nil {
            changes = MemberChange.between(nil, document)
        } else if let before = all.first(where: { $0.version == found.previous }) {
            changes = MemberChange.between(try before.document(in: records), document)
        }
        return VersionContent(version: found, document: document, changes: changes)
    }

    /// What a registration was given, with the words of its policies at the time.
    static func rules(
        _ rules: DeliveredRules, known time: Date, _ conflict: NumericConflict, seenBy administrator: Administrator,
        in records: some StorageReader
    ) throws(ServiceError) -> RulesAtTime.Rules {
        var policies: [RulesAtTime.Policy] = []
        var protections: [AppProtectionPolicy]? = []
        var hidden = 0
        for reference in rules.policies {
            let storageID = EntityVersion.storageID(EntityVersion.entity(.policy, reference.id), reference.version)
            let made = try records.record(EntityVersion.self, storageID)
            let document = try made.flatMap { version throws(ServiceError) in try version.document(in: records) }
            if let document, !administrator.may(.read, withTags: ManagedAppPolicy.scopeTags(in: document)) {
                hidden += 1
                protections = nil
                continue
            }
            policies.append(.init(id: reference.id, version: reference.version, made: made, document: document))
            guard let document else {
                protections = nil
                continue
            }
            guard document["@odata.type"]?.string.flatMap(PolicyKind.init(odataType:))?.isEvaluated ?? false else {
                continue
            }
            guard var policy = try? AppProtectionPolicy(graphJSON: document) else {
                protections = nil
                continue
            }
            policy.id = reference.id
            policy.version = reference.version
            protections?.append(policy)
        }
        let merged = protections.flatMap { $0.isEmpty ? nil : EffectivePolicy.merging($0, numericConflict: conflict) }
        return RulesAtTime.Rules(
            version: rules.version, delivered: rules.delivered,
            applied: rules.applied.flatMap { $0 <= time ? $0 : nil }, allowedAccounts: rules.allowedAccounts,
            policies: policies, hidden: hidden > 0 ? hidden : nil, settings: merged?.policy.completeGraphJSON)
    }
}
