internal import CordonIdentity
internal import CordonProtocol
internal import Foundation

extension StoredManagementService {
    /// Every one of the type, ordered by id.
    public func resources<Resource: AdministeredResource>(
        _ type: Resource.Type, as administrator: Administrator
    ) async throws(ServiceError) -> [Resource] {
        try require(.read, of: administrator)
        return try await storage.read(administrator.tenant) { records throws(ServiceError) in
            try records.records(type)
        }
    }

    /// One of the type.
    public func resource<Resource: AdministeredResource>(
        _ type: Resource.Type, _ id: String, as administrator: Administrator
    ) async throws(ServiceError) -> Resource {
        try require(.read, of: administrator)
        return try await storage.read(administrator.tenant) { records throws(ServiceError) in
            try records.known(type, id)
        }
    }

    /// Adds one, or replaces the one with its id.
    public func saveResource<Resource: AdministeredResource>(
        _ resource: Resource, isNew: Bool, as administrator: Administrator
    ) async throws(ServiceError) {
        try require(Resource.writing, of: administrator)
        try resource.check()
        let now = self.now
        try await change(administrator.tenant) { [self] transaction, pending throws(ServiceError) in
            let known = try transaction.records(Resource.self)
            let before = known.first { $0.storageID == resource.storageID }
            guard !isNew || before == nil else { throw ServiceError(.conflict, "the id is taken", place: resource.id) }
            let others = known.filter { $0.storageID != resource.storageID }
            if let name = resource.uniqueName, others.contains(where: { $0.uniqueName.map(folded) == folded(name) }) {
                throw ServiceError(
                    .conflict, "the name is taken", problems: [.init(member: "displayName", reason: "is taken")])
            }
            guard before != resource else { return }
            try announceChange(
                of: resource, tenant: administrator.tenant, in: transaction, noting: &pending
            ) { transaction throws(ServiceError) in try transaction.save(resource) }
            try transaction.audit(
                AuditRecord.Actor(administrator), "\(Resource.auditName).save", "\(Resource.auditName)/\(resource.id)",
                of: administrator.tenant, at: now)
        }
    }

    /// Removes one.
    public func removeResource<Resource: AdministeredResource>(
        _ type: Resource.Type, _ id: String, as administrator: Administrator
    ) async throws(ServiceError) {
        try require(Resource.writing, of: administrator)
        let now = self.now
        try await change(administrator.tenant) { [self] transaction, pending throws(ServiceError) in
            let resource = try transaction.known(type, id)
            let policies = try transaction.records(ManagedAppPolicy.self)
            if let user = policies.first(where: resource.isUsed) {
                throw ServiceError(.conflict, "a policy uses it", place: user.id, hint: "Change the policy first.")
            }
            try announceChange(
                of: resource, tenant: administrator.tenant, in: transaction, noting: &pending
            ) { transaction throws(ServiceError) in try transaction.remove(type, resource.storageID) }
            try transaction.audit(
                AuditRecord.Actor(administrator), "\(Resource.auditName).remove",
                "\(Resource.auditName)/\(resource.id)", of: administrator.tenant, at: now)
        }
    }

    /// Makes a change of a resource; what has to do with no policy tells nobody and leaves targeting as it is.
    private func announceChange<Resource: AdministeredResource>(
        of resource: Resource, tenant: TenantID, in transaction: some StorageTransaction,
        noting pending: inout PendingEvents,
        _ change: (any StorageTransaction) throws(ServiceError) -> Void
    ) throws(ServiceError) {
        guard Resource.isTargeting else { return try change(transaction) }
        let concerned = try transaction.records(ManagedAppPolicy.self).filter(resource.concerns)
        try announceChange(about: concerned, of: tenant, in: transaction, noting: &pending, change)
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
