internal import CordonPolicy

extension Administrator {
    /// Whether some role includes the permission, for whatever policies.
    public func may(_ permission: Permission) -> Bool {
        roles.contains { $0.permissions.contains(permission) }
            || customRoles.contains { $0.includes(permission) }
    }

    /// Whether some role includes the permission whatever tags a policy has.
    public func mayEverywhere(_ permission: Permission) -> Bool {
        roles.contains { $0.permissions.contains(permission) }
            || customRoles.contains {
                $0.scopeTags == nil && $0.people == nil && $0.permissions.contains(permission)
            }
    }

    /// Whether some role includes the permission for every person.
    func mayOverEverybody(_ permission: Permission) -> Bool {
        roles.contains { $0.permissions.contains(permission) }
            || customRoles.contains { $0.people == nil && $0.includes(permission) }
    }

    /// Whether some role includes the permission for people in these groups, by folded id.
    func may(_ permission: Permission, overPeopleIn groups: Set<String>) -> Bool {
        customRoles.contains { role in
            role.includes(permission) && !groups.isDisjoint(with: (role.people ?? []).map(folded))
        }
    }

    /// Whether some role includes the permission for this policy (SRV-OP-020).
    public func may(_ permission: Permission, with policy: ManagedAppPolicy) -> Bool {
        may(permission, withTags: policy.scopeTags)
    }

    /// Refuses a change of something that policies name, and reach others by, unless roles with the permission are about all of them.
    func requireMoving(_ policies: [ManagedAppPolicy], _ permission: Permission) throws(ServiceError) {
        guard !policies.allSatisfy({ may(permission, with: $0) }) else { return }
        throw ServiceError(
            .forbidden, "policies reach others by this that the roles of \(id) are not about",
            hint: "Ask an administrator whose roles are about every policy that it concerns.")
    }

    /// Whether a role includes the permission for policies with these tags; without tags, for every policy.
    func may(_ permission: Permission, withTags tags: Set<String>) -> Bool {
        roles.contains { $0.permissions.contains(permission) }
            || customRoles.contains { $0.covers(tags, for: permission) }
    }

    /// Whether some role includes the permission whatever people policies with these tags reach: a policy reaches whom it is assigned
    /// to, whatever people a role is about.
    private func mayOverEverybody(_ permission: Permission, withTags tags: Set<String>) -> Bool {
        customRoles.contains { $0.people == nil && $0.covers(tags, for: permission) }
    }

    /// Whether the caller may release changes of policies with these tags.
    func mayRelease(withTags tags: Set<String>) -> Bool {
        roles.contains { $0.permissions.contains(.approve) } || mayOverEverybody(.approve, withTags: tags)
    }

    /// Whether the caller may let policies with these tags remove data.
    func mayDestroy(withTags tags: Set<String>) -> Bool {
        if mayOverEverybody(.wipe, withTags: tags) { return true }
        return isProgram
            ? applicationPermissions.contains(.wipe) : roles.contains { $0.permissions.contains(.wipe) }
    }

    /// Whether the policy is within what some role lets its holder read; others do not exist for the caller.
    func sees(_ policy: ManagedAppPolicy) -> Bool { may(.read, withTags: policy.scopeTags) }

    /// Whether every policy is.
    var seesEveryPolicy: Bool { may(.read, withTags: []) }

    /// The tags that a new policy gets where its author names none: the default one, or what the author's roles are
    /// limited to.
    var tagsOfNewPolicies: Set<String> {
        let usual: Set = [ScopeTag.defaultID]
        guard !may(.writePolicies, withTags: usual) else { return usual }
        return customRoles.filter { $0.permissions.contains(.writePolicies) }
            .reduce(into: []) { $0.formUnion($1.scopeTags ?? []) }
    }
}
