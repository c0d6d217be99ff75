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
        try await saveResource(resource, isNew: isNew, ifVersion: nil, as: administrator)
    }

    /// The same, of something that has versions, where the present one is still the one that the caller knows.
    ///
    /// - Parameter version: The version that the caller expects, nil for any; another one throws `preconditionFailed`.
    public func saveResource<Resource: AdministeredResource>(
        _ resource: Resource, isNew: Bool, ifVersion version: String?, as administrator: Administrator
    ) async throws(ServiceError) {
        try await store.require(Resource.writing, of: administrator)
        try resource.check()
        for _ in 0..<5 where try await saved(resource, isNew: isNew, ifVersion: version, as: administrator) { return }
        throw ServiceError(.conflict, "other changes came in between again and again", place: resource.id)
    }

    /// What lets one pass that policies may reach others by, or that lets people do more; nil where it does neither.
    private func clearance<Resource: AdministeredResource>(
        for resource: Resource, ifVersion version: String?, as administrator: Administrator
    ) async throws(ServiceError) -> (before: Resource?, clearance: ChangeReview.Clearance?) {
        // The policies that reach others by the change: one that leaves them where they are takes no more than to write it.
        let (before, moved) = try await store.read(for: administrator, call: "saveResource") { records in
            let before = try records.record(Resource.self, resource.storageID)
            guard resource.movesPolicies(from: before) else { return (before, [ManagedAppPolicy]()) }
            let moved = try records.records(ManagedAppPolicy.self).filter(resource.concerns)
            try administrator.requireMoving(moved, Resource.writing)
            return (before, moved)
        }
        // Before anybody is asked to release it.
        try Self.expect(version, of: before)
        try StoredText.check(resource.shownTexts, keeping: before?.shownTexts ?? [])
        let action = "\(Resource.auditName).save"
        let entity = "\(Resource.auditName)/\(resource.id)"
        guard before != resource else { return (before, nil) }
        if resource.grantsMore(than: before) {
            let words = (try? MessageCoding.encode(resource)).map { String(decoding: $0, as: UTF8.self) } ?? ""
            let digest = ProposedChange.digest(of: [.string(entity), .string(words)])
            return (before, try await review.clearGrant(digest, action, of: entity, as: administrator))
        }
        guard !moved.isEmpty else { return (before, nil) }
        var proposal = ProposedChange(
            filter: resource as? AssignmentFilter, app: resource as? CatalogueApp, action: action, entity: entity,
            base: before?.entityVersion)
        proposal.concerned = moved
        return (before, try await review.clear(proposal, as: administrator, call: "saveResource"))
    }

    /// Saves one; false where something else changed between the look and the write.
    private func saved<Resource: AdministeredResource>(
        _ resource: Resource, isNew: Bool, ifVersion version: String?, as administrator: Administrator
    ) async throws(ServiceError) -> Bool {
        let (seen, clearance) = try await clearance(for: resource, ifVersion: version, as: administrator)
        return try await store.change(for: administrator, call: "saveResource") { change in
            let known = try change.records(Resource.self)
            let before = known.first { $0.storageID == resource.storageID }
            guard before == seen else { return false }
            try Self.expect(version, of: before)
            if let clearance {
                let budget = configuration.wipeBudget
                guard try change.use(clearance, by: administrator, budget: budget, ids: ids) else { return false }
            }
            guard !isNew || before == nil else { throw ServiceError(.conflict, "the id is taken", place: resource.id) }
            let others = known.filter { $0.storageID != resource.storageID }
            if let name = resource.uniqueName, others.contains(where: { $0.uniqueName.map(folded) == folded(name) }) {
                throw ServiceError(
                    .conflict, "the name is taken", problems: [.init(member: "displayName", reason: "is taken")])
            }
            guard before != resource else { return true }
            if before == nil { try resource.checkShare(among: others, at: store.now) }
            if resource.grantsMore(than: before) {
                try change.alert(
                    .roleGranted, about: "\(Resource.auditName)/\(resource.id)", by: administrator, nil, ids)
            }
            try announceChange(
                of: resource, moving: resource.movesPolicies(from: before), by: administrator, in: &change
            ) { change in try change.save(resource) }
            try change.audit(
                AuditRecord.Actor(administrator), "\(Resource.auditName).save", "\(Resource.auditName)/\(resource.id)",
                details: try versionDetails(resource, before, "save", administrator, in: change))
            return true
        }
    }

    /// Removes one.
    ///
    /// - Throws: ``ServiceError``: `notFound`, or `conflict` while a policy names it.
    public func removeResource<Resource: AdministeredResource>(
        _ type: Resource.Type, _ id: String, as administrator: Administrator
    ) async throws(ServiceError) {
        try await removeResource(type, id, ifVersion: nil, as: administrator)
    }

    /// The same, of something that has versions, where the present one is still the one that the caller knows.
    public func removeResource<Resource: AdministeredResource>(
        _ type: Resource.Type, _ id: String, ifVersion version: String?, as administrator: Administrator
    ) async throws(ServiceError) {
        try await store.require(Resource.writing, of: administrator)
        for _ in 0..<5 where try await removed(type, id, ifVersion: version, as: administrator) { return }
        throw ServiceError(.conflict, "other changes came in between again and again", place: id)
    }

    /// What lets an app go out of the catalogue: with it, people may leave a policy and come under another one.
    private func clearance(
        forRemoving resource: some AdministeredResource, as administrator: Administrator
    ) async throws(ServiceError) -> ChangeReview.Clearance? {
        guard resource.movesPoliciesWhenRemoved, var app = resource as? CatalogueApp else { return nil }
        let moved = try await store.read(for: administrator, call: "removeResource") { records in
            let moved = try records.records(ManagedAppPolicy.self).filter(resource.concerns)
            try administrator.requireMoving(moved, CatalogueApp.writing)
            return moved
        }
        guard !moved.isEmpty else { return nil }
        app.groups = []
        var proposal = ProposedChange(
            app: app, action: "\(CatalogueApp.auditName).remove", entity: "\(CatalogueApp.auditName)/\(app.id)",
            base: nil)
        proposal.concerned = moved
        return try await review.clear(proposal, as: administrator, call: "removeResource")
    }

    /// Removes one; false where something else changed between the look and the write.
    private func removed<Resource: AdministeredResource>(
        _ type: Resource.Type, _ id: String, ifVersion version: String?, as administrator: Administrator
    ) async throws(ServiceError) -> Bool {
        let seen = try await store.read(for: administrator, call: "removeResource") { try $0.known(type, id) }
        let clearance = try await clearance(forRemoving: seen, as: administrator)
        return try await store.change(for: administrator, call: "removeResource") { change in
            let resource = try change.known(type, id)
            guard resource == seen else { return false }
            if let clearance {
                let budget = configuration.wipeBudget
                guard try change.use(clearance, by: administrator, budget: budget, ids: ids) else { return false }
            }
            try Self.expect(version, of: resource)
            let policies = try change.records(ManagedAppPolicy.self)
            if policies.contains(where: resource.isUsed) {
                let seen = policies.first { resource.isUsed(by: $0) && administrator.sees($0) }
                throw ServiceError(
                    .conflict, "a policy uses it", place: seen?.id, hint: "Change the policy first.")
            }
            try announceChange(
                of: resource, moving: resource.movesPoliciesWhenRemoved, by: administrator, in: &change
            ) { change in try change.remove(type, resource.storageID) }
            try change.audit(
                AuditRecord.Actor(administrator), "\(Resource.auditName).remove",
                "\(Resource.auditName)/\(resource.id)",
                details: try versionDetails(Resource?.none, resource, "remove", administrator, in: change))
            return true
        }
    }

    /// Refuses another version than the one that was expected; what has none is of no version.
    private static func expect<Resource: AdministeredResource>(
        _ version: String?, of present: Resource?
    ) throws(ServiceError) {
        guard let version, version != present?.entityVersion else { return }
        throw ServiceError(.preconditionFailed, "it has another version", place: present?.id)
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

    /// Makes a change of a resource; what has to do with no policy tells no app and leaves targeting as it is.
    ///
    /// - Parameter moves: Whether the policies that it concerns may reach others by the change.
    private func announceChange<Resource: AdministeredResource>(
        of resource: Resource, moving moves: Bool, by administrator: Administrator, in change: inout Change,
        _ edit: (inout Change) throws -> Void
    ) throws {
        guard Resource.isTargeting else { return try edit(&change) }
        let concerned = try change.records(ManagedAppPolicy.self).filter(resource.concerns)
        if moves { try administrator.requireMoving(concerned, Resource.writing) }
        try targeting.announceChange(about: concerned, in: &change, edit)
    }

    /// The roles that the organisation made and that the caller holds by some name: a group, a role of the token, or
    /// `user:` and an object id. For transports, before they have an ``Administrator``.
    public func customRoles(heldBy names: Set<String>, of tenant: TenantID) async throws(ServiceError) -> [CustomRole] {
        guard !names.isEmpty else { return [] }
        return try await store.readBriefly(for: tenant) { records in
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
