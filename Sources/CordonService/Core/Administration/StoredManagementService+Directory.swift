internal import CordonIdentity
internal import CordonProtocol
internal import Foundation

extension StoredManagementService {
    /// Every person, ordered by id.
    public func users(as administrator: Administrator) async throws(ServiceError) -> [DirectoryUser] {
        try require(.read, of: administrator)
        return try await storage.read(administrator.tenant) { records throws(ServiceError) in
            try records.records(DirectoryUser.self)
        }
    }

    /// One person, by object id or sign-in name.
    public func user(_ idOrName: String, as administrator: Administrator) async throws(ServiceError) -> DirectoryUser {
        try require(.read, of: administrator)
        return try await storage.read(administrator.tenant) { records throws(ServiceError) in
            try records.user(idOrName)
        }
    }

    /// Adds a person or replaces the one with this id.
    public func saveUser(_ user: DirectoryUser, as administrator: Administrator) async throws(ServiceError) {
        try await save(user, as: administrator) { _ in true }
    }

    /// Adds a person, or replaces the one that the caller has seen.
    public func replaceUser(
        _ known: DirectoryUser?, with user: DirectoryUser, as administrator: Administrator
    ) async throws(ServiceError) {
        try await save(user, as: administrator) { $0 == known }
    }

    private func save(
        _ user: DirectoryUser, as administrator: Administrator,
        where isExpected: @escaping @Sendable (DirectoryUser?) -> Bool
    ) async throws(ServiceError) {
        try require(.writeDirectory, of: administrator)
        try user.check()
        let now = self.now
        try await change(administrator.tenant) { [self] transaction, pending throws(ServiceError) in
            let before = try transaction.record(DirectoryUser.self, user.storageID)
            guard isExpected(before) else {
                throw ServiceError(.preconditionFailed, "the person was changed meanwhile")
            }
            try transaction.checkName(of: user)
            guard before != user else { return }
            try announceChange(
                toUsers: [user.id], of: administrator.tenant, in: transaction, noting: &pending
            ) { transaction throws(ServiceError) in try transaction.add(user) }
            try transaction.auditSaving(of: user, by: administrator, at: now)
        }
    }

    /// Removes a person from the directory and from every group.
    public func removeUser(_ id: String, as administrator: Administrator) async throws(ServiceError) {
        try require(.writeDirectory, of: administrator)
        let now = self.now
        try await change(administrator.tenant) { [self] transaction, pending throws(ServiceError) in
            let user = try transaction.user(id)
            try announceChange(
                toUsers: [user.id], of: administrator.tenant, in: transaction, noting: &pending
            ) { transaction throws(ServiceError) in try transaction.remove(user, at: now) }
            try transaction.auditRemoval(of: user, by: administrator, at: now)
        }
    }

    /// Every group, ordered by id.
    public func groups(as administrator: Administrator) async throws(ServiceError) -> [DirectoryGroup] {
        try require(.read, of: administrator)
        return try await storage.read(administrator.tenant) { records throws(ServiceError) in
            try records.records(DirectoryGroup.self)
        }
    }

    /// One group.
    public func group(_ id: String, as administrator: Administrator) async throws(ServiceError) -> DirectoryGroup {
        try require(.read, of: administrator)
        return try await storage.read(administrator.tenant) { records throws(ServiceError) in
            try records.group(id)
        }
    }

    /// Adds a group or replaces the one with this id.
    public func saveGroup(_ group: DirectoryGroup, as administrator: Administrator) async throws(ServiceError) {
        try require(.writeDirectory, of: administrator)
        try checkDirectoryID(group.id)
        try await changeGroup(group.id, to: group, as: administrator) { _ in true }
    }

    /// Adds a group, or replaces the one that the caller has seen.
    public func replaceGroup(
        _ known: DirectoryGroup?, with group: DirectoryGroup, as administrator: Administrator
    ) async throws(ServiceError) {
        try require(.writeDirectory, of: administrator)
        try checkDirectoryID(group.id)
        try await changeGroup(group.id, to: group, as: administrator) { $0 == known }
    }

    /// Removes a group.
    public func removeGroup(_ id: String, as administrator: Administrator) async throws(ServiceError) {
        try require(.writeDirectory, of: administrator)
        try await changeGroup(id, to: nil, as: administrator) { _ in true }
    }

    /// The groups that a person belongs to, directly or through other groups, ordered by id.
    public func groups(
        ofUser id: String, as administrator: Administrator
    ) async throws(ServiceError) -> [DirectoryGroup] {
        try require(.read, of: administrator)
        return try await storage.read(administrator.tenant) { [self] records throws(ServiceError) in
            let user = try records.user(id)
            let ids = try targeting.snapshot(of: administrator.tenant, in: records).groups(of: user.id)
            return try records.records(DirectoryGroup.self).filter { ids.contains($0.storageID) }
        }
    }

    /// Replaces or removes one group; whoever was or becomes a member through it is told, if that changes what
    /// reaches them.
    private func changeGroup(
        _ id: String, to new: DirectoryGroup?, as administrator: Administrator,
        where isExpected: @escaping @Sendable (DirectoryGroup?) -> Bool
    ) async throws(ServiceError) {
        let now = self.now
        try await change(administrator.tenant) { [self] transaction, pending throws(ServiceError) in
            let groups = try transaction.records(DirectoryGroup.self)
            let before = groups.first { $0.storageID == folded(id) }
            guard isExpected(before) else {
                throw ServiceError(.preconditionFailed, "the group was changed meanwhile")
            }
            guard before != nil || new != nil else { throw ServiceError(.notFound, "no group has this id") }
            guard before != new else { return }
            let others = groups.filter { $0.storageID != folded(id) }
            let affected = groups.people(under: id).union((others + [new].compactMap(\.self)).people(under: id))
            try announceChange(
                toUsers: affected, of: administrator.tenant, in: transaction, noting: &pending
            ) { transaction throws(ServiceError) in
                if let new {
                    try transaction.save(new)
                } else {
                    try transaction.remove(DirectoryGroup.self, folded(id))
                }
            }
            if let new {
                try transaction.auditSaving(of: new, by: administrator, at: now)
            } else {
                try transaction.auditRemoval(ofGroup: id, by: administrator, at: now)
            }
        }
    }
}
