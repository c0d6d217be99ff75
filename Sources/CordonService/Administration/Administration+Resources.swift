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
        try await save(resource, isNew: isNew, ifVersion: version, as: administrator) { _ in true }
    }

    /// The same, in place of one that is still as the caller read it, so that no other change is lost.
    ///
    /// - Throws: ``ServiceError`` as ``saveResource(_:isNew:ifVersion:as:)``, and `preconditionFailed` where it was changed or removed
    ///   meanwhile.
    public func replaceResource<Resource: AdministeredResource>(
        _ known: Resource, with resource: Resource, ifVersion version: String? = nil, as administrator: Administrator
    ) async throws(ServiceError) {
        try await save(resource, isNew: false, ifVersion: version, as: administrator) { $0 == known }
    }

    private func save<Resource: AdministeredResource>(
        _ resource: Resource, isNew: Bool, ifVersion version: String?, as administrator: Administrator,
        where isExpected: @escaping @Sendable (Resource?) -> Bool
    ) async throws(ServiceError) {
        try await store.require(Resource.writing, of: administrator, call: "saveResource")
        try resource.check()
        for _ in 0..<5 {
            // What would refuse it is found before anybody is asked to release it.
            let (before, proposal, revision) = try await store.read(for: administrator, call: "saveResource") {
                records in
                let before = try records.record(Resource.self, resource.storageID)
                let proposal = try review.proposal(of: resource, replacing: before, as: administrator, in: records)
                try Self.expect(version, of: before)
                guard isExpected(before) else {
                    throw ServiceError(.preconditionFailed, "it was changed meanwhile", place: resource.id)
                }
                guard !isNew || before == nil else {
                    throw ServiceError(.conflict, "the id is taken", place: resource.id)
                }
                try StoredText.check(resource.shownTexts, keeping: before?.shownTexts ?? [])
                try checkPlace(of: resource, replacing: before, among: try records.records(Resource.self))
                return (before, proposal, try records.settings().targetingRevision)
            }
            if before != nil, proposal.changes.isEmpty { return }
            let clearance = try await clearance(for: resource, replacing: before, proposal, as: administrator)
            if try await saved(resource, replacing: before, clearance, seenAt: revision, as: administrator) { return }
        }
        throw ServiceError(.conflict, "other changes came in between again and again", place: resource.id)
    }

    /// What lets one pass that policies may reach others by, or that lets people do more; nil where it does neither.
    private func clearance<Resource: AdministeredResource>(
        for resource: Resource, replacing before: Resource?, _ proposal: ProposedChange, as administrator: Administrator
    ) async throws(ServiceError) -> ChangeReview.Clearance? {
        guard resource.grantsMore(than: before) else {
            return try await review.clear(proposal, as: administrator, call: "saveResource")
        }
        let words = (try? MessageCoding.encode(resource)).map { String(decoding: $0, as: UTF8.self) } ?? ""
        let digest = ProposedChange.digest(of: [.string(proposal.entity), .string(words)])
        // The release is good for all that the role says then, whatever it replaces by that time: so all of it is shown.
        let changes = MemberChange.between(proposal.contents?.before, proposal.contents?.after, isWhole: true)
        return try await review.clearGrant(
            digest, proposal.action, of: proposal.entity, changes: changes, as: administrator)
    }

    /// Saves one; false where something else changed between the look and the write.
    private func saved<Resource: AdministeredResource>(
        _ resource: Resource, replacing before: Resource?, _ clearance: ChangeReview.Clearance?,
        seenAt revision: Int64, as administrator: Administrator
    ) async throws(ServiceError) -> Bool {
        try await store.change(for: administrator, call: "saveResource") { change in
            let known = try change.records(Resource.self)
            guard known.first(where: { $0.storageID == resource.storageID }) == before else { return false }
            let proposal = try review.proposal(of: resource, replacing: before, as: administrator, in: change)
            guard try review.takesUp(clearance, for: proposal, seenAt: revision, by: administrator, in: change) else {
                return false
            }
            try checkPlace(of: resource, replacing: before, among: known)
            if resource.grantsMore(than: before) {
                try change.alert(.roleGranted, about: proposal.entity, by: administrator, nil, ids)
            }
            try announceChange(of: resource, in: &change) { change in try change.save(resource) }
            try audit(proposal, resource, before, by: administrator, in: change)
            return true
        }
    }

    /// Refuses a taken name, and a new one whose maker has as many as one caller may have.
    private func checkPlace<Resource: AdministeredResource>(
        of resource: Resource, replacing before: Resource?, among known: [Resource]
    ) throws(ServiceError) {
        let others = known.filter { $0.storageID != resource.storageID }
        if let name = resource.uniqueName, others.contains(where: { $0.uniqueName.map(folded) == folded(name) }) {
            throw ServiceError(
                .conflict, "the name is taken", problems: [.init(member: "displayName", reason: "is taken")])
        }
        if before == nil { try resource.checkShare(among: others, at: store.now) }
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

    /// Removes one; false where something else changed between the look and the write.
    private func removed<Resource: AdministeredResource>(
        _ type: Resource.Type, _ id: String, ifVersion version: String?, as administrator: Administrator
    ) async throws(ServiceError) -> Bool {
        let (seen, proposal, revision) = try await store.read(for: administrator, call: "removeResource") { records in
            let seen = try records.known(type, id)
            let proposal = try review.proposal(of: nil, replacing: seen, as: administrator, in: records)
            try Self.expect(version, of: seen)
            return (seen, proposal, try records.settings().targetingRevision)
        }
        // With an app of the catalogue, people may leave a policy and come under another one.
        let clearance = try await review.clear(proposal, as: administrator, call: "removeResource")
        return try await store.change(for: administrator, call: "removeResource") { change in
            let resource = try change.known(type, id)
            guard resource == seen else { return false }
            let proposal = try review.proposal(of: nil, replacing: resource, as: administrator, in: change)
            guard try review.takesUp(clearance, for: proposal, seenAt: revision, by: administrator, in: change) else {
                return false
            }
            let policies = try change.records(ManagedAppPolicy.self)
            if policies.contains(where: resource.isUsed) {
                let seen = policies.first { resource.isUsed(by: $0) && administrator.sees($0) }
                throw ServiceError(
                    .conflict, "a policy uses it", place: seen?.id, hint: "Change the policy first.")
            }
            try announceChange(of: resource, in: &change) { change in try change.remove(type, resource.storageID) }
            try audit(proposal, Resource?.none, resource, by: administrator, in: change)
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

    /// Writes down what changes, and keeps a version of what has versions.
    private func audit<Resource: AdministeredResource>(
        _ proposal: ProposedChange, _ new: Resource?, _ old: Resource?, by administrator: Administrator,
        in change: Change
    ) throws(ServiceError) {
        if Resource.self == AssignmentFilter.self {
            _ = try change.keepVersion(
                of: new as? AssignmentFilter, replacing: old as? AssignmentFilter, proposal.action, by: administrator,
                ids: ids)
        }
        // Named like members of groups, so that what concerns a person is found by them.
        let holders = MembershipChange(
            from: (old as? CustomRole)?.holders ?? [], to: (new as? CustomRole)?.holders ?? [])
        try change.audit(
            AuditRecord.Actor(administrator), proposal.action, proposal.entity,
            details: holders.names.merging(["change": MemberChange.text(of: proposal.changes)]) { name, _ in name })
    }

    /// Makes a change of a resource; what has to do with no policy tells no app and leaves targeting as it is.
    private func announceChange<Resource: AdministeredResource>(
        of resource: Resource, in change: inout Change, _ edit: (inout Change) throws -> Void
    ) throws {
        guard Resource.isTargeting else { return try edit(&change) }
        let concerned = try change.records(ManagedAppPolicy.self).filter(resource.concerns)
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
