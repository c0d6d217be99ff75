public import CordonIdentity
internal import CordonPolicy

extension StoredManagementService {
    /// The roles that an organisation made, of which some name belongs to the caller.
    public func customRoles(
        heldBy names: Set<String>, of tenant: TenantID
    ) async throws(ServiceError) -> [CustomRole] {
        guard !names.isEmpty else { return [] }
        return try await storage.read(tenant) { records throws(ServiceError) in
            try records.records(CustomRole.self).filter { !$0.members.isDisjoint(with: names) }
        }
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
}
