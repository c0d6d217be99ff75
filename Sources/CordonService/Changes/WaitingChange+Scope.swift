internal import CordonIdentity

extension WaitingChange {
    /// The policies that it is about.
    private var policies: ConcernedPolicies { ConcernedPolicies(entity: entity, scopeTags: scopeTags) }

    /// Whether the change exists for an administrator: every policy that it is about does.
    func isSeen(by administrator: Administrator, in records: some StorageReader) throws(ServiceError) -> Bool {
        try policies.areSeen(by: administrator, in: records)
    }

    /// Whether a release of it is good for policies with these tags, which a filter or an app may have come to be about since. One that an
    /// earlier version kept was released for all.
    func covers(_ tags: [[String]]?) -> Bool {
        scopeTags.map { Set(tags ?? []).isSubset(of: $0) } ?? true
    }

    /// Whether an administrator may release the change: that permission of theirs is about every policy of it, or about its person.
    /// What is about neither, such as a role, takes the permission for everything.
    func mayBeReleased(
        by administrator: Administrator, _ targeting: Targeting, in records: some StorageReader
    ) throws(ServiceError) -> Bool {
        let tags = try policies.tags(in: records)
        guard tags.isEmpty else { return tags.allSatisfy(administrator.mayRelease) }
        return try concerns(administrator, for: .approve, targeting, in: records)
    }

    /// Whether an administrator for whom the change exists may stop it: the one who asked for it may, and who reads what it is about.
    func mayBeStopped(
        by administrator: Administrator, _ targeting: Targeting, in records: some StorageReader
    ) throws(ServiceError) -> Bool {
        if folded(requester.id) == folded(administrator.id) { return true }
        guard try policies.tags(in: records).isEmpty else { return true }
        return try concerns(administrator, for: .read, targeting, in: records)
    }

    /// What an administrator for whom the change exists may decide about it as it stands.
    func decisions(
        of administrator: Administrator, _ targeting: Targeting, in records: some StorageReader
    ) throws(ServiceError) -> [Decision] {
        guard state == .waiting || state == .released else { return [] }
        var decisions: [Decision] = []
        if state == .waiting, !administrator.isProgram, folded(requester.id) != folded(administrator.id),
            try mayBeReleased(by: administrator, targeting, in: records)
        {
            decisions.append(.release)
        }
        if try mayBeStopped(by: administrator, targeting, in: records) { decisions.append(.stop) }
        return decisions
    }

    /// Whether a role of an administrator includes a permission for the person that the change is about; without limits where it is about
    /// no one. Scope tags are those of policies, so that a role limited by them alone is about no person.
    private func concerns(
        _ administrator: Administrator, for permission: Permission, _ targeting: Targeting,
        in records: some StorageReader
    ) throws(ServiceError) -> Bool {
        guard entity.hasPrefix("user/") else { return administrator.mayEverywhere(permission) }
        var holder = administrator
        holder.customRoles.removeAll { $0.scopeTags != nil && $0.people == nil }
        return try targeting.lets(holder, permission, over: String(entity.dropFirst("user/".count)), in: records)
    }
}
