internal import CordonIdentity

extension WaitingChange {
    /// What the audit log calls things by which policies change or reach others.
    private static let kindsAboutPolicies: Set<String> = ["policy", AssignmentFilter.auditName, CatalogueApp.auditName]

    /// Whether the change exists for an administrator: every policy that it is about does.
    func isSeen(by administrator: Administrator, in records: some StorageReader) throws(ServiceError) -> Bool {
        try policyTags(in: records).allSatisfy { administrator.may(.read, withTags: $0) }
    }

    /// Whether an administrator may release the change: that permission of theirs is about every policy of it, or about its person.
    /// What is about neither, such as a role, takes the permission for everything.
    func mayBeReleased(
        by administrator: Administrator, _ targeting: Targeting, in records: some StorageReader
    ) throws(ServiceError) -> Bool {
        let tags = try policyTags(in: records)
        guard tags.isEmpty else { return tags.allSatisfy(administrator.mayRelease) }
        guard let person = id(after: "user") else { return administrator.mayEverywhere(.approve) }
        return try targeting.lets(administrator, .approve, over: person, in: records)
    }

    /// The scope tags of each policy that it is about, those of today included: it may have others since it was asked. Without any
    /// tag where a policy is not known any more, which stands for every policy; none at all for what is about no policy.
    private func policyTags(in records: some StorageReader) throws(ServiceError) -> [Set<String>] {
        guard Self.kindsAboutPolicies.contains(String(entity.prefix { $0 != "/" })) else { return [] }
        var tags = (scopeTags ?? []).map { Set($0) }
        if let id = id(after: "policy"), let present = try records.record(ManagedAppPolicy.self, id) {
            tags.append(present.scopeTags)
        }
        return tags.isEmpty ? [[]] : tags
    }

    /// The id in ``entity`` where that is of a kind.
    private func id(after kind: String) -> String? {
        entity.hasPrefix(kind + "/") ? String(entity.dropFirst(kind.count + 1)) : nil
    }
}
