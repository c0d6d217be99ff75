internal import CordonIdentity
public import CordonProtocol
internal import Foundation

/// What directories, time-keeping systems and identity providers say of people: who there is, what groups they are in, whether
/// they work, and whose sessions have ended.
public struct Provisioning: Sendable {
    let store: TenantStore
    let targeting: Targeting

    /// Adds a person or replaces the one with this id.
    ///
    /// - Throws: ``ServiceError`` with code `conflict` when another person has the sign-in name.
    public func saveUser(_ user: DirectoryUser, as administrator: Administrator) async throws(ServiceError) {
        try await store.require(.writeDirectory, of: administrator)
        try await save(user, as: administrator) { _ in true }
    }

    /// Adds a person, or replaces the one that the caller has seen, so that two who change one person at once do not undo
    /// each other.
    ///
    /// - Parameter known: The person as last read, nil where there must be none with this id.
    /// - Throws: ``ServiceError`` with code `preconditionFailed` when the person is another by now, else as ``saveUser(_:as:)``.
    public func replaceUser(
        _ known: DirectoryUser?, with user: DirectoryUser, as administrator: Administrator
    ) async throws(ServiceError) {
        try await store.require(.writeDirectory, of: administrator)
        try await save(user, as: administrator) { $0 == known }
    }

    private func save(
        _ user: DirectoryUser, as administrator: Administrator,
        where isExpected: @escaping @Sendable (DirectoryUser?) -> Bool
    ) async throws(ServiceError) {
        try user.check()
        let now = store.now
        try await store.change(for: administrator) { transaction, pending in
            let before = try transaction.record(DirectoryUser.self, user.storageID)
            guard isExpected(before) else {
                throw ServiceError(.preconditionFailed, "the person was changed meanwhile")
            }
            try transaction.checkName(of: user)
            guard before != user else { return }
            try targeting.announceChange(
                toUsers: [user.id], of: administrator.tenant, at: now, in: transaction, noting: &pending
            ) { transaction in try transaction.add(user) }
            try transaction.auditSaving(of: user, by: .init(administrator), of: administrator.tenant, at: now)
        }
    }

    /// Removes a person from the directory and from every group.
    public func removeUser(_ id: String, as administrator: Administrator) async throws(ServiceError) {
        try await store.require(.writeDirectory, of: administrator)
        let now = store.now
        try await store.change(for: administrator) { transaction, pending in
            let user = try transaction.user(id)
            try targeting.announceChange(
                toUsers: [user.id], of: administrator.tenant, at: now, in: transaction, noting: &pending
            ) { transaction in try transaction.remove(user, at: now) }
            try transaction.auditRemoval(of: user, by: .init(administrator), of: administrator.tenant, at: now)
        }
    }

    /// Adds a group or replaces the one with this id, members included; members need not exist yet.
    public func saveGroup(_ group: DirectoryGroup, as administrator: Administrator) async throws(ServiceError) {
        try await store.require(.writeDirectory, of: administrator)
        try checkDirectoryID(group.id)
        try await changeGroup(group.id, to: group, as: administrator) { _ in true }
    }

    /// Adds a group, or replaces the one that the caller has seen.
    ///
    /// - Parameter known: The group as last read, nil where there must be none with this id.
    /// - Throws: ``ServiceError`` with code `preconditionFailed` when the group is another by now.
    public func replaceGroup(
        _ known: DirectoryGroup?, with group: DirectoryGroup, as administrator: Administrator
    ) async throws(ServiceError) {
        try await store.require(.writeDirectory, of: administrator)
        try checkDirectoryID(group.id)
        try await changeGroup(group.id, to: group, as: administrator) { $0 == known }
    }

    /// Removes a group; policies assigned to it keep the assignment, which then reaches nobody.
    public func removeGroup(_ id: String, as administrator: Administrator) async throws(ServiceError) {
        try await store.require(.writeDirectory, of: administrator)
        try await changeGroup(id, to: nil, as: administrator) { _ in true }
    }

    /// Replaces or removes one group; whoever was or becomes a member through it is told, if that changes what
    /// reaches them.
    private func changeGroup(
        _ id: String, to new: DirectoryGroup?, as administrator: Administrator,
        where isExpected: @escaping @Sendable (DirectoryGroup?) -> Bool
    ) async throws(ServiceError) {
        let now = store.now
        try await store.change(for: administrator) { transaction, pending in
            let groups = try transaction.records(DirectoryGroup.self)
            let before = groups.first { $0.storageID == folded(id) }
            guard isExpected(before) else {
                throw ServiceError(.preconditionFailed, "the group was changed meanwhile")
            }
            guard before != nil || new != nil else { throw ServiceError(.notFound, "no group has this id") }
            guard before != new else { return }
            let others = groups.filter { $0.storageID != folded(id) }
            let affected = groups.people(under: id).union((others + [new].compactMap(\.self)).people(under: id))
            try targeting.announceChange(
                toUsers: affected, of: administrator.tenant, at: now, in: transaction, noting: &pending
            ) { transaction in
                if let new {
                    try transaction.save(new)
                } else {
                    try transaction.remove(DirectoryGroup.self, folded(id))
                }
            }
            if let new {
                try transaction.auditSaving(of: new, by: .init(administrator), of: administrator.tenant, at: now)
            } else {
                try transaction.auditRemoval(ofGroup: id, by: .init(administrator), of: administrator.tenant, at: now)
            }
        }
    }

    /// Takes what the time-keeping system says; an older report than the one known changes nothing (SRV-CI-026).
    public func setWorkingTime(
        _ time: WorkingTimeReport, ofUser id: String, as administrator: Administrator
    ) async throws(ServiceError) {
        try await store.require(.writeDirectory, of: administrator)
        let now = store.now
        guard time.validUntil.map({ $0 > time.asOf }) ?? true, time.asOf >= 0,
            time.asOf <= Int64(now.timeIntervalSince1970) + 300
        else {
            throw ServiceError(
                .invalid, "the working time is not acceptable",
                problems: [.init(member: "asOf", reason: "in the future, or not before validUntil")])
        }
        try await store.change(for: administrator) { transaction, pending in
            let user = try transaction.user(id)
            let known = try transaction.record(WorkingTimeRecord.self, user.storageID)?.time
            // Reports may overtake each other on their way; the later one stays.
            guard known.map({ $0.asOf <= time.asOf && $0 != time }) ?? true else { return }
            try transaction.save(WorkingTimeRecord(userID: user.id, time: time))
            for registration in try transaction.records(Registration.self, where: (.user, user.storageID))
            where registration.state == .active {
                try pending.note(.policyChanged, for: registration.id, in: transaction)
            }
            try transaction.audit(
                AuditRecord.Actor(administrator), "workingTime.set", "user/\(user.id)", of: administrator.tenant,
                at: now, details: ["state": time.state.rawValue])
        }
    }
}
