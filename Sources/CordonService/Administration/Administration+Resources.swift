public import CordonIdentity
internal import CordonPolicy
internal import CordonProtocol
internal import Foundation

extension Administration {
    /// Every one of the type, ordered by id.
    public func resources<Resource: AdministeredResource>(
        _ type: Resource.Type, as administrator: Administrator
    ) async throws(ServiceError) -> [Resource] {
        try await store.read(.read, as: administrator) { try $0.records(type) }
    }

    /// One of the type.
    public func resource<Resource: AdministeredResource>(
        _ type: Resource.Type, _ id: String, as administrator: Administrator
    ) async throws(ServiceError) -> Resource {
        try await store.read(.read, as: administrator) { records in
            try records.known(type, id)
        }
    }

    /// Adds one, or replaces the one with its id; whom that reaches is told to check in.
    ///
    /// - Parameter isNew: Whether there must be none with the id yet.
    /// - Throws: ``ServiceError``: `invalid`, or `conflict` where the name or the id is taken.
    public func saveResource<Resource: AdministeredResource>(
        _ resource: Resource, isNew: Bool, as administrator: Administrator
    ) async throws(ServiceError) {
        try await store.require(Resource.writing, of: administrator)
        try resource.check()
        try await store.change(for: administrator) { change in
            let known = try change.records(Resource.self)
            let before = known.first { $0.storageID == resource.storageID }
            guard !isNew || before == nil else { throw ServiceError(.conflict, "the id is taken", place: resource.id) }
            let others = known.filter { $0.storageID != resource.storageID }
            if let name = resource.uniqueName, others.contains(where: { $0.uniqueName.map(folded) == folded(name) }) {
                throw ServiceError(
                    .conflict, "the name is taken", problems: [.init(member: "displayName", reason: "is taken")])
            }
            guard before != resource else { return }
            try announceChange(of: resource, in: &change) { change in try change.save(resource) }
            try change.audit(
                AuditRecord.Actor(administrator), "\(Resource.auditName).save", "\(Resource.auditName)/\(resource.id)",
                details: try versionDetails(resource, before, "save", administrator, in: change))
        }
    }

    /// Removes one.
    ///
    /// - Throws: ``ServiceError``: `notFound`, or `conflict` while a policy names it.
    public func removeResource<Resource: AdministeredResource>(
        _ type: Resource.Type, _ id: String, as administrator: Administrator
    ) async throws(ServiceError) {
        try await store.require(Resource.writing, of: administrator)
        try await store.change(for: administrator) { change in
            let resource = try change.known(type, id)
            let policies = try change.records(ManagedAppPolicy.self)
            if let user = policies.first(where: resource.isUsed) {
                throw ServiceError(.conflict, "a policy uses it", place: user.id, hint: "Change the policy first.")
            }
            try announceChange(of: resource, in: &change) { change in try change.remove(type, resource.storageID) }
            try change.audit(
                AuditRecord.Actor(administrator), "\(Resource.auditName).remove",
                "\(Resource.auditName)/\(resource.id)",
                details: try versionDetails(Resource?.none, resource, "remove", administrator, in: change))
        }
    }

    /// Keeps a version of what has versions; what the audit log says of it.
    private func versionDetails<Resource: AdministeredResource>(
        _ new: Resource?, _ old: Resource?, _ action: String, _ administrator: Administrator, in change: Change
    ) throws(ServiceError) -> [String: String] {
        guard Resource.self == AssignmentFilter.self else { return [:] }
        let changes = try change.keepVersion(
            of: new as? AssignmentFilter, replacing: old as? AssignmentFilter, "\(Resource.auditName).\(action)",
            by: administrator, ids: ids)
        return ["change": MemberChange.text(of: changes)]
    }

    /// Makes a change of a resource; what has to do with no policy tells nobody and leaves targeting as it is.
    private func announceChange<Resource: AdministeredResource>(
        of resource: Resource, in change: inout Change,
        _ edit: (inout Change) throws -> Void
    ) throws {
        guard Resource.isTargeting else { return try edit(&change) }
        let concerned = try change.records(ManagedAppPolicy.self).filter(resource.concerns)
        try targeting.announceChange(about: concerned, in: &change, edit)
    }

    /// The roles that the organisation made and that the caller holds by some name: a group, a role of the token, or
    /// `user:` and an object id. For transports, before they have an ``Administrator``.
    public func customRoles(heldBy names: Set<String>, of tenant: TenantID) async throws(ServiceError) -> [CustomRole] {
        guard !names.isEmpty else { return [] }
        return try await store.read(for: tenant) { records in
            try records.records(CustomRole.self).filter { !$0.members.isDisjoint(with: names) }
        }
    }
}

extension StorageReader {
    /// One of the type, by its id in any case.
    fileprivate func known<Resource: AdministeredResource>(
        _ type: Resource.Type, _ id: String
    ) throws(ServiceError) -> Resource {
        if let exact = try record(type, id) { return exact }
        guard let resource = try record(type, folded(id)) else {
            throw ServiceError(.notFound, "nothing of this kind has this id")
        }
        return resource
    }
}
