internal import CordonPolicy
internal import CordonProtocol
internal import Foundation
internal import Logging

/// Changes policies: reads what is asked, has it looked at, and writes it with its version and its audit record.
struct PolicyWriter: Sendable {
    let store: TenantStore
    let targeting: Targeting
    let review: ChangeReview
    let ids: RandomID
    let configuration: ServiceConfiguration
    let logger: Logger

    /// Reads a change and checks what its author may do at all.
    func prepared(
        _ change: PolicyChange, as administrator: Administrator
    ) async throws(ServiceError) -> PreparedChange {
        let call = change.call
        switch change {
        case .create(let kind, let document): return try await creation(kind, document, call, as: administrator)
        case .update(let id, let changes): return try await update(id, changes, call, as: administrator)
        case .replace(let id, let document):
            let needed: [Permission] = [.writePolicies, .assignPolicies]
            for permission in needed { try await store.require(permission, of: administrator, call: call) }
            let parts = try PolicyDocument(document)
            return editing(id, "policy.putBack", call, needed) { policy in
                policy.document = try PolicyDocument.checked(parts.members, policy.kind)
                policy.apps = parts.apps ?? []
                policy.appGroup = parts.appGroup ?? .selectedPublicApps
                try policy.checkApps()
                policy.assignments = try checked(parts.assignments ?? [], for: policy)
                for permission in needed { try requireScope(permission, of: policy, for: administrator) }
            }
        case .assign(let id, let assignments):
            try await store.require(.assignPolicies, of: administrator, call: call)
            return editing(id, "policy.assign", call, [.assignPolicies]) { policy in
                policy.assignments = try checked(assignments, for: policy)
            }
        case .targetApps(let id, let apps, let group):
            try await store.require(.assignPolicies, of: administrator, call: call)
            return editing(id, "policy.targetApps", call, [.assignPolicies]) { policy in
                policy.apps = apps
                policy.appGroup = group ?? policy.appGroup
                try policy.checkApps()
            }
        case .delete(let id):
            try await store.require(.deletePolicies, of: administrator, call: call)
            return PreparedChange(id: id, action: "policy.delete", call: call, needed: [.deletePolicies]) { _ in nil }
        }
    }

    private func creation(
        _ kind: PolicyKind, _ document: JSONValue, _ call: String, as administrator: Administrator
    ) async throws(ServiceError) -> PreparedChange {
        try await store.require(.writePolicies, of: administrator, call: call)
        let parts = try PolicyDocument(document)
        let appGroup = parts.appGroup ?? .selectedPublicApps
        // A default protection reaches all people from the start.
        let aims =
            parts.assignments != nil || parts.apps != nil || appGroup != .selectedPublicApps || !kind.isAssignable
        if aims { try await store.require(.assignPolicies, of: administrator, call: call) }
        if let secrets = try await secrets(namedIn: parts.members, as: administrator) {
            _ = try secrets.kept(parts.members, of: nil)
        }
        var members = parts.members
        if members["roleScopeTagIds"]?.array?.isEmpty ?? true {
            members["roleScopeTagIds"] = .array(administrator.tagsOfNewPolicies.sorted().map(JSONValue.string))
        }
        let checkedDocument = try PolicyDocument.checked(members, kind)
        let now = store.now
        var policy = ManagedAppPolicy(
            id: kind.idPrefix + ids.guid(), kind: kind, version: ids.token(), created: now, modified: now,
            document: checkedDocument, apps: parts.apps ?? [], appGroup: appGroup)
        try policy.checkApps()
        policy.assignments = try checked(parts.assignments ?? [], for: policy)
        let (new, needed) = (policy, aims ? [Permission.writePolicies, .assignPolicies] : [.writePolicies])
        return PreparedChange(id: nil, action: "policy.create", call: call, needed: needed) { _ in
            for permission in needed { try requireScope(permission, of: new, for: administrator) }
            return new
        }
    }

    private func update(
        _ id: String, _ changes: JSONValue, _ call: String, as administrator: Administrator
    ) async throws(ServiceError) -> PreparedChange {
        try await store.require(.writePolicies, of: administrator, call: call)
        let parts = try PolicyDocument(changes, isChange: true)
        let aims = parts.assignments != nil || parts.apps != nil
        if aims { try await store.require(.assignPolicies, of: administrator, call: call) }
        let needed: [Permission] = aims ? [.writePolicies, .assignPolicies] : [.writePolicies]
        let secrets = try await secrets(namedIn: parts.members, as: administrator)
        return editing(id, "policy.update", call, needed) { policy in
            let before = policy
            var members = policy.document.object ?? [:]
            for (name, value) in parts.members {
                members[name] = value == .null ? nil : value
            }
            if let secrets { members = try secrets.kept(members, of: before) }
            // A setting that was unset has its default again, so that the stored policy is always complete.
            policy.document = try PolicyDocument.checked(members, policy.kind)
            policy.apps = parts.apps ?? policy.apps
            policy.appGroup = parts.appGroup ?? policy.appGroup
            try policy.checkApps()
            if let assignments = parts.assignments { policy.assignments = try checked(assignments, for: policy) }
            for permission in needed { try requireScope(permission, of: policy, for: administrator) }
            // To write back what the policy has is no change of whom it reaches.
            guard policy.appGroup != before.appGroup || policy.managementLevels != before.managementLevels else {
                return
            }
            try require(.assignPolicies, for: before, of: administrator)
            try requireScope(.assignPolicies, of: policy, for: administrator)
        }
    }

    private func editing(
        _ id: String, _ action: String, _ call: String, _ needed: [Permission],
        _ edit: @escaping @Sendable (inout ManagedAppPolicy) throws -> Void
    ) -> PreparedChange {
        PreparedChange(id: id, action: action, call: call, needed: needed) { before in
            guard var policy = before else { return nil }
            try edit(&policy)
            return policy
        }
    }
}

extension PolicyWriter {
    /// How secret values become digests, where some members name values by these; nil where none does.
    private func secrets(
        namedIn members: [String: JSONValue], as administrator: Administrator
    ) async throws(ServiceError) -> SecretValues? {
        guard SecretValues.namesDigests(members) else { return nil }
        return try await store.read(for: administrator.tenant) { try $0.secretValues() }
    }
}

extension SecretValues {
    /// Members with the secret values that the policy has now in place of their digests, so that who keeps a configuration without
    /// its secrets can change the rest of it.
    ///
    /// - Throws: ``ServiceError`` with code `invalid` for a digest of another value than the present one.
    fileprivate func kept(
        _ members: [String: JSONValue], of before: ManagedAppPolicy?
    ) throws(ServiceError) -> [String: JSONValue] {
        let (document, missing) = restored(.object(members), from: before?.document ?? .null)
        guard missing.isEmpty else {
            throw ServiceError(
                .invalid, "a secret value is named by a digest that is not the present value's",
                hint: "Send the value itself.",
                problems: missing.map { .init(member: "customSettings[\($0)]", reason: "is a digest of another value") }
            )
        }
        return document.object ?? members
    }
}

extension PolicyWriter {
    /// What a change would make of the policy as it is now.
    func proposal(
        _ prepared: PreparedChange, ifVersion version: String?, as administrator: Administrator,
        in records: some StorageReader
    ) throws -> ProposedChange {
        var before: ManagedAppPolicy?
        if let id = prepared.id {
            // Scope first: a caller who may not see the policy must not learn its version either.
            for permission in prepared.needed { try require(permission, for: records.policy(id), of: administrator) }
            before = try records.policy(id, ifVersion: version)
        }
        let after = try prepared.make(before)
        try after?.checkTexts(insteadOf: before)
        let entity = (prepared.id ?? after?.kind.rawValue).map { "policy/\($0)" } ?? "policy"
        return ProposedChange(
            before: before, after: after, action: prepared.action, entity: entity, base: before?.version,
            secrets: try records.secretValues())
    }

    /// How often a change is looked at again because something else changed between the look and the write.
    private static let mostLooks = 5

    /// Makes a change, once it is known that its author may: looked at outside the writer, and written only if nothing that
    /// the look stood on has changed.
    ///
    /// - Returns: The policy, nil for one that was removed.
    func commit(
        _ prepared: PreparedChange, ifVersion version: String?, as administrator: Administrator
    ) async throws(ServiceError) -> ManagedAppPolicy? {
        let name = prepared.call
        for _ in 0..<Self.mostLooks {
            let (seen, revision) = try await store.read(for: administrator, call: name) { records in
                (
                    try proposal(prepared, ifVersion: version, as: administrator, in: records),
                    try records.settings().targetingRevision
                )
            }
            if let before = seen.before, before == seen.after { return before }
            let clearance = try await review.clear(seen, as: administrator, call: name)
            let newVersion = ids.token()
            let result = try await store.change(for: administrator, call: name) { change -> ManagedAppPolicy?? in
                let now = try proposal(prepared, ifVersion: version, as: administrator, in: change)
                guard now.digest == seen.digest,
                    try review.takesUp(clearance, for: now, seenAt: revision, by: administrator, in: change)
                else { return nil }
                guard var policy = now.after else {
                    if let before = now.before { try remove(before, clearance, as: administrator, in: &change) }
                    return .some(nil)
                }
                if now.before != nil { (policy.version, policy.modified) = (newVersion, change.now) }
                try save(policy, replacing: now.before, prepared.action, clearance, as: administrator, in: &change)
                return policy
            }
            if let result { return result }
        }
        throw ServiceError(.conflict, "other changes came in between again and again", place: prepared.id)
    }

    private func remove(
        _ policy: ManagedAppPolicy, _ clearance: ChangeReview.Clearance?, as administrator: Administrator,
        in change: inout Change
    ) throws {
        try targeting.announceChange(about: [policy], in: &change) { change in
            try change.remove(ManagedAppPolicy.self, policy.id)
        }
        let changes = try change.keepVersion(
            of: ManagedAppPolicy?.none, replacing: policy, "policy.delete", by: administrator, ids: ids)
        var details = ["before": policy.version, "change": MemberChange.text(of: changes)]
        details.merge(clearance?.details ?? [:]) { own, _ in own }
        try change.audit(
            AuditRecord.Actor(administrator), "policy.delete", "policy/\(policy.id)", details: details)
    }

    private func save(
        _ policy: ManagedAppPolicy, replacing before: ManagedAppPolicy?, _ action: String,
        _ clearance: ChangeReview.Clearance?, as administrator: Administrator, in change: inout Change
    ) throws {
        let waiting = try requireGroups(
            of: policy, notIn: before, keeping: administrator.call.keepsUnknownGroups, in: change)
        for filter in policy.assignments.filter({ $0.filterMode != .none }).map({ $0.filterID ?? "" })
        where try change.record(AssignmentFilter.self, folded(filter)) == nil {
            throw ServiceError(
                .invalid, "an assignment names a filter that does not exist",
                problems: [.init(member: "assignments", reason: "no filter has the id \(filter.prefix(128))")])
        }
        try targeting.announceChange(
            about: [before, policy].compactMap { $0 }, in: &change
        ) { change in try change.save(policy) }
        let changes = try change.keepVersion(of: policy, replacing: before, action, by: administrator, ids: ids)
        var details = ["version": policy.version, "change": MemberChange.text(of: changes)]
        details["before"] = before?.version
        if !waiting.isEmpty { details["waitingGroups"] = waiting.sorted().joined(separator: ", ") }
        details.merge(clearance?.details ?? [:]) { own, _ in own }
        details.merge(policy.auditWarnings) { _, new in new }
        let others = try policy.kind == .defaultManagedAppProtection ? otherDefaults(policy, in: change) : []
        if !others.isEmpty {
            details["severalDefaults"] = "merged with " + others.joined(separator: ", ")
            logger.warning(
                "several default protections are about the same apps and are merged",
                metadata: ["policy": "\(policy.id)", "others": "\(others.joined(separator: ", "))"])
        }
        try change.audit(
            AuditRecord.Actor(administrator), action, "policy/\(policy.id)",
            details: details)
    }
}

extension ChangeReview.Clearance {
    /// What the audit log says of a change that removes data.
    var details: [String: String] {
        var details = ["destroysOf": String(reach.people), "destroysIn": String(reach.registrations)]
        details["released"] = released
        return details
    }
}
