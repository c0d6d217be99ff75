/// The policies that something kept is about, by which it exists for an administrator or not.
struct ConcernedPolicies {
    /// What it is of, as the audit log calls it, such as `policy/T_…`.
    let entity: String
    /// The scope tags of each of them when it was kept; nil where it is about none, and for what an earlier version kept.
    let scopeTags: [[String]]?

    /// What the audit log calls things by which policies change or reach others.
    private static let kinds: Set<String> = ["policy", AssignmentFilter.auditName, CatalogueApp.auditName]

    /// The scope tags of policies, each once and in order; nil for none.
    static func tags(of policies: [ManagedAppPolicy]) -> [[String]]? {
        let tags = Set(policies.map { $0.scopeTags.sorted() })
        return tags.isEmpty ? nil : tags.sorted { $0.lexicographicallyPrecedes($1) }
    }

    /// The scope tags of each, those of today included: a policy may have others since. Without any tag where a policy is not known any
    /// more, which stands for every policy; none at all for what is about no policy.
    func tags(in records: some StorageReader) throws(ServiceError) -> [Set<String>] {
        let parts = entity.split(separator: "/", maxSplits: 1).map(String.init)
        guard let kind = parts.first, Self.kinds.contains(kind) else { return [] }
        var tags = (scopeTags ?? []).map { Set($0) }
        if kind == "policy", parts.count == 2, let present = try records.record(ManagedAppPolicy.self, parts[1]) {
            tags.append(present.scopeTags)
        }
        return tags.isEmpty ? [[]] : tags
    }

    /// Whether all of them exist for an administrator.
    func areSeen(by administrator: Administrator, in records: some StorageReader) throws(ServiceError) -> Bool {
        try tags(in: records).allSatisfy { administrator.may(.read, withTags: $0) }
    }
}
