internal import CordonIdentity
public import CordonPolicy
internal import CordonProtocol
internal import Foundation
internal import Logging

extension Administration {
    /// The policies of the kinds, ordered by id.
    public func policies(
        of kinds: Set<PolicyKind>, as administrator: Administrator
    ) async throws(ServiceError) -> [ManagedAppPolicy] {
        try await store.read(.read, as: administrator) { records in
            try records.records(ManagedAppPolicy.self).filter {
                kinds.contains($0.kind) && administrator.sees($0)
            }
        }
    }

    /// One policy.
    public func policy(_ id: String, as administrator: Administrator) async throws(ServiceError) -> ManagedAppPolicy {
        try await store.read(.read, as: administrator) { records in
            let policy = try records.policy(id)
            try require(.read, for: policy, of: administrator)
            return policy
        }
    }

    /// Makes a policy from a Graph document; members that the service owns are ignored, `apps` and `assignments`
    /// are honoured, unknown members kept (SRV-RS-011, 012, 014).
    ///
    /// - Throws: ``ServiceError`` with code `invalid` naming every unacceptable member.
    public func createPolicy(
        _ kind: PolicyKind, document: JSONValue, as administrator: Administrator
    ) async throws(ServiceError) -> ManagedAppPolicy {
        try await store.require(.writePolicies, of: administrator)
        let parts = try PolicyDocument(document)
        let appGroup = parts.appGroup ?? .selectedPublicApps
        // A default protection reaches everybody from the start.
        let aims =
            parts.assignments != nil || parts.apps != nil || appGroup != .selectedPublicApps || !kind.isAssignable
        if aims { try await store.require(.assignPolicies, of: administrator) }
        var members = parts.members
        if members["roleScopeTagIds"]?.array?.isEmpty ?? true {
            members["roleScopeTagIds"] = .array(administrator.tagsOfNewPolicies.sorted().map(JSONValue.string))
        }
        let checked = try PolicyDocument.checked(members, kind)
        let now = store.now
        var policy = ManagedAppPolicy(
            id: kind.idPrefix + ids.guid(), kind: kind, version: ids.token(), created: now, modified: now,
            document: checked, apps: parts.apps ?? [], appGroup: appGroup)
        try policy.checkApps()
        policy.assignments = try self.checked(parts.assignments ?? [], for: policy)
        let (new, needed) = (policy, aims ? [Permission.writePolicies, .assignPolicies] : [.writePolicies])
        return try await store.change(for: administrator) { change in
            for permission in needed { try requireScope(permission, of: new, for: administrator) }
            try save(new, replacing: nil, "policy.create", as: administrator, in: &change)
            return new
        }
    }

    /// Merges changes into a policy: absent members stay, null members are unset, collections are replaced (SRV-RS-013).
    ///
    /// - Parameter version: The version that the caller expects, nil for any; another one throws `preconditionFailed`.
    public func updatePolicy(
        _ id: String, changes: JSONValue, ifVersion version: String?, as administrator: Administrator
    ) async throws(ServiceError) -> ManagedAppPolicy {
        try await store.require(.writePolicies, of: administrator)
        let parts = try PolicyDocument(changes, isChange: true)
        let aims = parts.assignments != nil || parts.apps != nil
        if aims { try await store.require(.assignPolicies, of: administrator) }
        let needed: [Permission] = aims ? [.writePolicies, .assignPolicies] : [.writePolicies]
        return try await edit(id, ifVersion: version, "policy.update", needed, as: administrator) {
            policy in
            let before = policy
            var members = policy.document.object ?? [:]
            for (name, value) in parts.members {
                members[name] = value == .null ? nil : value
            }
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

    /// Replaces everything that a policy says, whom it reaches included, by a whole document.
    func replacePolicy(
        _ id: String, with document: JSONValue, ifVersion version: String?, as administrator: Administrator
    ) async throws(ServiceError) -> ManagedAppPolicy {
        let needed: [Permission] = [.writePolicies, .assignPolicies]
        for permission in needed { try await store.require(permission, of: administrator) }
        let parts = try PolicyDocument(document)
        return try await edit(id, ifVersion: version, "policy.putBack", needed, as: administrator) { policy in
            policy.document = try PolicyDocument.checked(parts.members, policy.kind)
            policy.apps = parts.apps ?? []
            policy.appGroup = parts.appGroup ?? .selectedPublicApps
            try policy.checkApps()
            policy.assignments = try checked(parts.assignments ?? [], for: policy)
            for permission in needed { try requireScope(permission, of: policy, for: administrator) }
        }
    }

    /// Replaces whom a policy reaches (SRV-OP-033).
    ///
    /// - Throws: ``ServiceError`` with code `invalid` where one group is both included and excluded (SRV-TG-04).
    public func assignPolicy(
        _ id: String, to assignments: [PolicyAssignment], as administrator: Administrator
    ) async throws(ServiceError) -> ManagedAppPolicy {
        try await store.require(.assignPolicies, of: administrator)
        return try await edit(id, ifVersion: nil, "policy.assign", [.assignPolicies], as: administrator) {
            policy in
            policy.assignments = try checked(assignments, for: policy)
        }
    }

    /// Replaces the apps that a policy is about (SRV-OP-032).
    ///
    /// - Parameter group: The new set of apps, nil to leave it as it is.
    public func targetApps(
        _ apps: [MobileAppIdentifier], group: AppGroup?, ofPolicy id: String, as administrator: Administrator
    ) async throws(ServiceError) -> ManagedAppPolicy {
        try await store.require(.assignPolicies, of: administrator)
        return try await edit(id, ifVersion: nil, "policy.targetApps", [.assignPolicies], as: administrator) {
            policy in
            policy.apps = apps
            policy.appGroup = group ?? policy.appGroup
            try policy.checkApps()
        }
    }

    /// Removes a policy; whom it reached is told to check in.
    public func deletePolicy(
        _ id: String, ifVersion version: String?, as administrator: Administrator
    ) async throws(ServiceError) {
        try await store.require(.deletePolicies, of: administrator)
        try await store.change(for: administrator) { change in
            try require(.deletePolicies, for: change.policy(id), of: administrator)
            let policy = try change.policy(id, ifVersion: version)
            try targeting.announceChange(
                about: [policy], in: &change
            ) { change in try change.remove(ManagedAppPolicy.self, id) }
            let changes = try change.keepVersion(
                of: ManagedAppPolicy?.none, replacing: policy, "policy.delete", by: administrator, ids: ids)
            try change.audit(
                AuditRecord.Actor(administrator), "policy.delete", "policy/\(id)",
                details: ["before": policy.version, "change": MemberChange.text(of: changes)])
        }
    }

    /// What would reach a person in an app now: policies and configurations, ordered by id (SRV-RS-130, SRV-OP-064).
    public func intendedPolicies(
        forUser userID: String, bundleID: String, as administrator: Administrator
    ) async throws(ServiceError) -> [ManagedAppPolicy] {
        try await store.read(.read, as: administrator) { records in
            let user = try records.user(userID)
            return try targeting.snapshot(of: administrator.tenant, in: records)
                .intended(for: user, bundleID: bundleID, facts: nil).all.filter(administrator.sees)
        }
    }

    /// What the next envelope of a registration would carry, filters considered, ordered by id.
    public func intendedPolicies(
        ofRegistration id: String, as administrator: Administrator
    ) async throws(ServiceError) -> [ManagedAppPolicy] {
        try await store.read(.read, as: administrator) { records in
            guard let registration = try records.record(Registration.self, id) else {
                throw ServiceError(.notFound, "no registration has this id", place: id)
            }
            let person = folded(registration.account.id.rawValue)
            guard registration.state == .active, let user = try records.record(DirectoryUser.self, person) else {
                return []
            }
            return try targeting.snapshot(of: administrator.tenant, in: records)
                .intended(for: user, bundleID: registration.application.bundleID, facts: registration.filterFacts).all
                .filter(administrator.sees)
        }
    }

    private func edit(
        _ id: String, ifVersion version: String?, _ action: String, _ needed: [Permission],
        as administrator: Administrator, call: String = #function,
        _ edit: @escaping @Sendable (inout ManagedAppPolicy) throws -> Void
    ) async throws(ServiceError) -> ManagedAppPolicy {
        let now = store.now
        let newVersion = ids.token()
        return try await store.change(for: administrator, call: call) { change in
            // Scope first: whoever may not see the policy must not learn its version either.
            for permission in needed { try require(permission, for: change.policy(id), of: administrator) }
            let before = try change.policy(id, ifVersion: version)
            var policy = before
            try edit(&policy)
            guard policy != before else { return before }
            policy.version = newVersion
            policy.modified = now
            try save(policy, replacing: before, action, as: administrator, in: &change)
            return policy
        }
    }

    private func save(
        _ policy: ManagedAppPolicy, replacing before: ManagedAppPolicy?, _ action: String,
        as administrator: Administrator, in change: inout Change
    ) throws {
        try change.requireGroups(of: policy, notIn: before)
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

    /// The ids of the other default protections that are about an app of this one, at most ten (SRV-TG-08).
    private func otherDefaults(
        _ policy: ManagedAppPolicy, in records: some StorageReader
    ) throws(ServiceError) -> [String] {
        let others = try records.records(ManagedAppPolicy.self).filter { other in
            other.kind == .defaultManagedAppProtection && other.id != policy.id && other.sharesApps(with: policy)
        }
        return others.prefix(10).map(\.id)
    }

    /// Gives every assignment an id and refuses what cannot be meant (SRV-TG-04, SRV-RS-102).
    private func checked(
        _ assignments: [PolicyAssignment], for policy: ManagedAppPolicy
    ) throws(ServiceError) -> [PolicyAssignment] {
        guard policy.kind.isAssignable || assignments.isEmpty else {
            throw ServiceError(.invalid, "a default protection reaches everybody and is not assigned", place: policy.id)
        }
        var included: Set<String> = []
        var excluded: Set<String> = []
        var result: [PolicyAssignment] = []
        for var assignment in assignments {
            switch assignment.target {
            case .group(let id): included.insert(folded(id))
            case .exclusionGroup(let id): excluded.insert(folded(id))
            case .allLicensedUsers, .allDevices: break
            }
            let known = policy.assignments.first { $0.target == assignment.target }
            if assignment.id.isEmpty { assignment.id = known?.id ?? ids.guid() }
            guard let same = result.first(where: { $0.target == assignment.target }) else {
                result.append(assignment)
                continue
            }
            guard same.filterID.map(folded) == assignment.filterID.map(folded), same.filterMode == assignment.filterMode
            else {
                throw ServiceError(
                    .invalid, "a target is assigned twice with different filters",
                    problems: [
                        .init(member: "assignments", reason: "a target is assigned twice with different filters")
                    ])
            }
        }
        guard included.isDisjoint(with: excluded) else {
            throw ServiceError(
                .invalid, "a group is both included and excluded",
                problems: [.init(member: "assignments", reason: "a group is both included and excluded")])
        }
        return result
    }

    /// Checks that the administrator may do something with this policy; one that they may not even read does not exist.
    private func require(
        _ permission: Permission, for policy: ManagedAppPolicy, of administrator: Administrator
    ) throws(ServiceError) {
        guard administrator.sees(policy) else {
            throw ServiceError(.notFound, "no policy has this id", place: policy.id)
        }
        guard administrator.may(permission, withTags: policy.scopeTags) else {
            throw ServiceError(
                .forbidden, "the roles of \(administrator.id) do not include \(permission.rawValue) for this policy")
        }
    }

    /// Checks that the administrator may leave a policy with these tags behind: every one must be within their roles,
    /// or a policy could be pushed into a scope of others.
    private func requireScope(
        _ permission: Permission, of policy: ManagedAppPolicy, for administrator: Administrator
    ) throws(ServiceError) {
        for tag in policy.scopeTags.sorted() where !administrator.may(permission, withTags: [tag]) {
            throw ServiceError(
                .forbidden, "the roles of \(administrator.id) do not include policies with the scope tag \(tag)",
                place: "roleScopeTagIds")
        }
    }
}

extension StorageReader {
    /// A policy at the expected version.
    fileprivate func policy(_ id: String, ifVersion version: String? = nil) throws(ServiceError) -> ManagedAppPolicy {
        guard let policy = try record(ManagedAppPolicy.self, id) else {
            throw ServiceError(.notFound, "no policy has this id", place: id)
        }
        guard version == nil || version == policy.version else {
            throw ServiceError(.preconditionFailed, "the policy has another version", place: id)
        }
        return policy
    }
}

extension StorageReader {
    /// Refuses an assignment to a group that does not exist, which would reach nobody, or exclude nobody, without a word. One
    /// that the policy had before stays: its group may have left the directory since.
    fileprivate func requireGroups(of policy: ManagedAppPolicy, notIn before: ManagedAppPolicy?) throws(ServiceError) {
        let known = Set((before?.assignments ?? []).map(\.target))
        for assignment in policy.assignments where !known.contains(assignment.target) {
            guard let id = assignment.target.groupID, try record(DirectoryGroup.self, folded(id)) == nil else {
                continue
            }
            throw ServiceError(
                .invalid, "an assignment names a group that does not exist",
                hint: "\(Self.shown(id)): create that group first, or assign the policy to another one.",
                problems: [.init(member: "assignments", reason: "no group has the id \(id.prefix(128))")])
        }
    }

    /// An id in a sentence; what could not stand there is left out.
    private static func shown(_ id: String) -> String {
        let plain = id.utf8.count <= 128 && id.utf8.allSatisfy { (0x21...0x7E).contains($0) }
        return plain ? "No group is called \(id)" : "No group has this id"
    }
}

extension PolicyAssignment.Target {
    /// The group that is included or excluded, nil where it is everybody.
    fileprivate var groupID: String? {
        switch self {
        case .group(let id), .exclusionGroup(let id): id
        case .allLicensedUsers, .allDevices: nil
        }
    }
}

extension ManagedAppPolicy {
    /// An Android app in an iOS policy is a mistake, and the other way round (SRV-RS-138).
    fileprivate func checkApps() throws(ServiceError) {
        let wrong: MobileAppIdentifier.Platform? =
            switch kind {
            case .iosManagedAppProtection: .android
            case .androidManagedAppProtection: .ios
            case .defaultManagedAppProtection, .targetedManagedAppConfiguration: nil
            }
        guard let index = apps.firstIndex(where: { $0.platform == wrong }) else { return }
        throw ServiceError(
            .invalid, "an app is of another platform than the policy",
            problems: [.init(member: "apps[\(index)]", reason: "is of another platform than the policy")])
    }
}
