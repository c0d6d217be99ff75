internal import CordonIdentity
public import CordonProtocol
internal import Foundation

/// What directories, time-keeping systems and identity providers say of people: who there is, what groups they are in, whether
/// they work, and whose sessions have ended.
public struct Provisioning: Sendable {
    let store: TenantStore
    let targeting: Targeting
    let review: ChangeReview
    let ids: RandomID

    /// Adds a person or replaces the one with this id.
    ///
    /// - Throws: ``ServiceError`` with code `conflict` when another person has the sign-in name.
    public func saveUser(_ user: DirectoryUser, as administrator: Administrator) async throws(ServiceError) {
        try await store.require(.writeDirectory, of: administrator)
        try await save(user, saysState: true, as: administrator) { _ in true }
    }

    /// Adds a person, or replaces the one that the caller has seen, so that two who change one person at once do not undo
    /// each other.
    ///
    /// - Parameters:
    ///   - known: The person as last read, nil where there must be none with this id.
    ///   - saysState: Whether the directory says if the account is enabled; false where `user` only repeats what is known of that.
    /// - Throws: ``ServiceError`` with code `preconditionFailed` when the person is another by now, else as ``saveUser(_:as:)``.
    public func replaceUser(
        _ known: DirectoryUser?, with user: DirectoryUser, saysState: Bool = true, as administrator: Administrator
    ) async throws(ServiceError) {
        try await store.require(.writeDirectory, of: administrator)
        try await save(user, saysState: saysState, as: administrator) { $0 == known }
    }

    private func save(
        _ user: DirectoryUser, saysState: Bool, as administrator: Administrator,
        where isExpected: @escaping @Sendable (DirectoryUser?) -> Bool
    ) async throws(ServiceError) {
        try user.check()
        try await clearing(.account(user.storageID, to: user), as: administrator, call: "saveUser") { change in
            let before = try change.record(DirectoryUser.self, user.storageID)
            guard isExpected(before) else {
                throw ServiceError(.preconditionFailed, "the person was changed meanwhile")
            }
            try change.checkName(of: user)
            guard before != user else {
                try change.noteState(of: user, isSaid: saysState, at: change.now)
                return
            }
            try targeting.announceChange(toUsers: [user.id], in: &change) { change in
                try change.add(user, saysState: saysState, at: change.now)
            }
            try change.auditSaving(of: user, by: .init(administrator))
        }
    }

    /// Removes a person from the directory and from every group.
    public func removeUser(_ id: String, as administrator: Administrator) async throws(ServiceError) {
        try await store.require(.writeDirectory, of: administrator)
        try await clearing(.account(id, to: nil), as: administrator, call: "removeUser") { change in
            let user = try change.user(id)
            try targeting.announceChange(
                toUsers: [user.id], in: &change
            ) { change in try change.remove(user, at: change.now) }
            try change.auditRemoval(of: user, by: .init(administrator))
        }
    }

    /// Adds a group or replaces the one with this id, members included; members need not exist yet.
    public func saveGroup(_ group: DirectoryGroup, as administrator: Administrator) async throws(ServiceError) {
        try await store.require(.writeDirectory, of: administrator)
        try group.check()
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
        try group.check()
        try await changeGroup(group.id, to: group, as: administrator) { $0 == known }
    }

    /// Removes a group; policies assigned to it keep the assignment, which then reaches no one.
    public func removeGroup(_ id: String, as administrator: Administrator) async throws(ServiceError) {
        try await store.require(.writeDirectory, of: administrator)
        try await changeGroup(id, to: nil, as: administrator) { _ in true }
    }

    /// Adds members to a group and takes others out of it; as much work as there are, however large the group is.
    ///
    /// Whom the group has already is not added again, and whom it does not have is not missed. One who is named in both is taken out.
    ///
    /// - Throws: ``ServiceError``: `notFound` for the group, `invalid` where it would be a member of itself.
    public func changeMembers(
        ofGroup id: String, adding added: Set<DirectoryGroup.Member>, removing removed: Set<DirectoryGroup.Member>,
        as administrator: Administrator
    ) async throws(ServiceError) {
        try await store.require(.writeDirectory, of: administrator)
        try DirectoryGroup(id: id, displayName: "", members: added).check()
        try await clearing(
            .members(id, adding: added, removing: removed), as: administrator, call: "changeMembers"
        ) { change in
            let entry = try change.groupEntry(id)
            let members = try MembershipChange(adding: added, removing: removed, toGroup: id, in: change)
            guard !members.isEmpty else { return }
            try targeting.announceChange(toUsers: members.people, nesting: members.groups, in: &change) { change in
                try change.save(members, ofGroup: id)
            }
            try change.auditChange(of: members, ofGroup: entry.id, by: .init(administrator))
        }
    }

    /// Replaces or removes one group; who comes or goes by it is told, if that changes what reaches them.
    private func changeGroup(
        _ id: String, to new: DirectoryGroup?, as administrator: Administrator,
        where isExpected: @escaping @Sendable (DirectoryGroup?) -> Bool
    ) async throws(ServiceError) {
        try await clearing(.group(id, new?.members ?? []), as: administrator, call: "saveGroup") { change in
            let before = try change.record(GroupEntry.self, folded(id)).map { entry throws(ServiceError) in
                DirectoryGroup(entry, members: try change.members(ofGroup: id))
            }
            guard isExpected(before) else {
                throw ServiceError(.preconditionFailed, "the group was changed meanwhile")
            }
            guard before != nil || new != nil else { throw ServiceError(.notFound, "no group has this id") }
            guard before != new else { return }
            try new?.entry.checkName(insteadOf: before?.entry)
            let members = MembershipChange(from: before?.members ?? [], to: new?.members ?? [])
            try targeting.announceChange(toUsers: members.people, nesting: members.groups, in: &change) { change in
                try change.save(members, ofGroup: id)
                if let new {
                    try change.save(new.entry)
                } else {
                    try change.remove(GroupEntry.self, folded(id))
                }
            }
            if let new {
                try change.auditSaving(of: new, members, by: .init(administrator))
            } else {
                try change.auditRemoval(ofGroup: id, members, by: .init(administrator))
            }
        }
    }

    /// Takes what the time-keeping system says; an older report than the one known changes nothing (SRV-CI-026).
    ///
    /// A program needs ``Permission/writeDirectory`` by a role of Cordon's own: whatever provisions people and groups has Graph's
    /// permission for that, and must not be able to clock all people out, which closes their apps.
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
        try await store.change(for: administrator) { change in
            guard !administrator.isProgram || administrator.applicationPermissions.contains(.writeDirectory) else {
                throw ServiceError(
                    .forbidden, "Graph's permissions do not let a program set working time",
                    hint: "Give it the application role cordon.directoryAdministrator.")
            }
            let user = try change.user(id)
            let known = try change.record(WorkingTimeRecord.self, user.storageID)?.time
            // Reports may overtake each other on their way; the later one stays.
            guard known.map({ $0.asOf <= time.asOf && $0 != time }) ?? true else { return }
            try change.save(WorkingTimeRecord(userID: user.id, time: time))
            for registration in try change.records(Registration.self, where: (.user, user.storageID))
            where registration.state == .active {
                try change.note(.policyChanged, for: registration.id)
            }
            try change.audit(
                AuditRecord.Actor(administrator), "workingTime.set", "user/\(user.id)",
                details: ["state": time.state.rawValue])
        }
    }
}
