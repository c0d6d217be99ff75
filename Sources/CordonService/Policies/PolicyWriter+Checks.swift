internal import CordonPolicy
internal import CordonProtocol
internal import Foundation

extension PolicyWriter {
    /// The ids of the other default protections that are about an app of this one, at most ten (SRV-TG-08).
    func otherDefaults(
        _ policy: ManagedAppPolicy, in records: some StorageReader
    ) throws(ServiceError) -> [String] {
        let others = try records.records(ManagedAppPolicy.self).filter { other in
            other.kind == .defaultManagedAppProtection && other.id != policy.id && other.sharesApps(with: policy)
        }
        return others.prefix(10).map(\.id)
    }

    /// Gives every assignment an id and refuses what cannot be meant (SRV-TG-04, SRV-RS-102).
    func checked(
        _ assignments: [PolicyAssignment], for policy: ManagedAppPolicy
    ) throws(ServiceError) -> [PolicyAssignment] {
        guard policy.kind.isAssignable || assignments.isEmpty else {
            throw ServiceError(
                .invalid, "a default protection reaches every person and is not assigned", place: policy.id)
        }
        var included: Set<String> = []
        var excluded: Set<String> = []
        let known = Dictionary(policy.assignments.map { ($0.target.folded, $0.id) }) { first, _ in first }
        var seen: [PolicyAssignment.Target: PolicyAssignment] = [:]
        var result: [PolicyAssignment] = []
        for var assignment in assignments {
            let target = assignment.target.folded
            switch target {
            case .group(let id): included.insert(id)
            case .exclusionGroup(let id): excluded.insert(id)
            case .allLicensedUsers, .allDevices: break
            }
            if assignment.id.isEmpty { assignment.id = known[target] ?? ids.guid() }
            guard let same = seen[target] else {
                seen[target] = assignment
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
    func require(
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
    func requireScope(
        _ permission: Permission, of policy: ManagedAppPolicy, for administrator: Administrator
    ) throws(ServiceError) {
        for tag in policy.scopeTags.sorted() where !administrator.may(permission, withTags: [tag]) {
            throw ServiceError(
                .forbidden, "the roles of \(administrator.id) do not include policies with the scope tag \(tag)",
                place: "roleScopeTagIds")
        }
    }

    /// Refuses an assignment to a group that does not exist, which would reach or exclude no one, without a word. One
    /// that the policy had before stays: its group may have left the directory since.
    ///
    /// - Parameter keeping: Whether such assignments are kept instead, waiting for their groups.
    /// - Returns: The groups that are waited for.
    func requireGroups(
        of policy: ManagedAppPolicy, notIn before: ManagedAppPolicy?, keeping: Bool, in records: some StorageReader
    ) throws(ServiceError) -> [String] {
        var waiting: [String] = []
        let known = Set((before?.assignments ?? []).map(\.target.folded))
        for assignment in policy.assignments where !known.contains(assignment.target.folded) {
            guard let id = assignment.target.groupID, try records.record(GroupEntry.self, folded(id)) == nil else {
                continue
            }
            if keeping {
                waiting.append(id)
                continue
            }
            throw ServiceError(
                .invalid, "an assignment names a group that does not exist",
                hint: "\(Self.shown(id)): create that group first, or assign the policy to another one.",
                problems: [.init(member: "assignments", reason: "no group has the id \(id.prefix(128))")])
        }
        return waiting
    }

    /// An id in a sentence; what could not stand there is left out.
    private static func shown(_ id: String) -> String {
        let plain = id.utf8.count <= 128 && id.utf8.allSatisfy { (0x21...0x7E).contains($0) }
        return plain ? "No group is called \(id)" : "No group has this id"
    }
}

extension PolicyAssignment.Target {
    /// The group that is included or excluded, nil for all people.
    fileprivate var groupID: String? {
        switch self {
        case .group(let id), .exclusionGroup(let id): id
        case .allLicensedUsers, .allDevices: nil
        }
    }
}
