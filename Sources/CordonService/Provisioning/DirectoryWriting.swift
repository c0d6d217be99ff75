internal import CordonIdentity
internal import CordonProtocol
internal import Foundation

extension DirectoryUser {
    /// Refuses an invalid id or sign-in name, and names that would display as something else.
    func check() throws(ServiceError) {
        try checkPersonID(id)
        guard !userPrincipalName.isEmpty, userPrincipalName.utf8.count <= 256,
            ShownText.flaw(of: userPrincipalName, isName: true) == nil
        else {
            throw ServiceError(
                .invalid, "userPrincipalName is not acceptable",
                problems: [
                    .init(
                        member: "userPrincipalName",
                        reason: "empty, longer than 256 bytes, or with spaces at an end or characters that do not show")
                ])
        }
        let shown = [
            ("displayName", displayName), ("mail", mail), ("givenName", givenName), ("surname", surname),
            ("jobTitle", jobTitle), ("department", department),
        ]
        for (member, text) in shown { try checkShown(text, member) }
    }
}

extension DirectoryGroup {
    /// Refuses an invalid id, names that would display as something else, and a group inside itself.
    func check() throws(ServiceError) {
        try checkDirectoryID(id)
        for (member, text) in [("displayName", displayName), ("description", description)] {
            try checkShown(text, member)
        }
        guard !members.contains(where: { if case .group(let inner) = $0 { folded(inner) == storageID } else { false } })
        else {
            throw ServiceError(
                .invalid, "members is not acceptable",
                problems: [.init(member: "members", reason: "a group cannot be a member of itself")])
        }
    }
}

extension GroupEntry {
    /// Refuses a name that may look like another one's; one that an earlier version took stays.
    func checkName(insteadOf before: GroupEntry?) throws(ServiceError) {
        guard displayName != before?.displayName, let flaw = ShownText.flaw(ofDisplayName: displayName) else { return }
        throw ServiceError(
            .invalid, "displayName is not acceptable", problems: [.init(member: "displayName", reason: flaw)])
    }
}

private func checkShown(_ text: String?, _ member: String) throws(ServiceError) {
    guard let text, let flaw = ShownText.flaw(of: text, isName: false) else { return }
    throw ServiceError(
        .invalid, "\(member) is not acceptable", problems: [.init(member: member, reason: flaw)])
}

extension StorageTransaction {
    /// Adds a person, or replaces the one with this id; one who was removed is back.
    func add(_ user: DirectoryUser, saysState: Bool = true, at now: Date) throws(ServiceError) {
        try noteState(of: user, isSaid: saysState, at: now)
        try save(user)
        try remove(RemovedPerson.self, user.storageID)
    }

    /// Has what a provider said before, and what comes late, not enable an account that the directory says is disabled, also where
    /// it was so already by the provider's word.
    ///
    /// - Parameter isSaid: Whether the directory says so, rather than repeating what is known: then only a state that is new counts.
    func noteState(of user: DirectoryUser, isSaid: Bool, at now: Date) throws(ServiceError) {
        guard !user.accountEnabled else { return }
        let known = try record(SessionRevocation.self, user.storageID)
        let wasEnabled = try record(DirectoryUser.self, user.storageID)?.accountEnabled ?? true
        guard isSaid && known != nil || wasEnabled else { return }
        var signals = known ?? SessionRevocation(userID: user.storageID)
        signals.stateAsOf = max(now, signals.stateAsOf ?? now)
        if signals != known { try save(signals) }
    }

    /// Removes a person from the directory and from every group, with what a time-keeping system said of them.
    ///
    /// A block stays: their apps are still to be wiped.
    func remove(_ user: DirectoryUser, at now: Date) throws(ServiceError) {
        try removeMemberships(ofPerson: user.id)
        try remove(WorkingTimeRecord.self, user.storageID)
        try remove(DirectoryUser.self, user.storageID)
        try save(RemovedPerson(userID: user.id, since: now))
    }

    /// Refuses a sign-in name that another person has.
    func checkName(of user: DirectoryUser) throws(ServiceError) {
        let named = try records(DirectoryUser.self, where: (.name, folded(user.userPrincipalName)))
        guard named.allSatisfy({ $0.storageID == user.storageID }) else {
            throw ServiceError(.conflict, "another person has this sign-in name")
        }
        // People are found by either, so that one's id must not be another's name.
        let ofID = try records(DirectoryUser.self, where: (.name, user.storageID))
        let ofName = try record(DirectoryUser.self, folded(user.userPrincipalName))
        guard (ofID + [ofName].compactMap(\.self)).allSatisfy({ $0.storageID == user.storageID }) else {
            throw ServiceError(.conflict, "the sign-in name of one person is the id of another")
        }
    }
}

extension Change {
    /// Notes that a person was added or changed.
    func auditSaving(of user: DirectoryUser, by actor: AuditRecord.Actor) throws(ServiceError) {
        try audit(
            actor, "user.save", "user/\(user.id)",
            details: ["enabled": String(user.accountEnabled), "licensed": String(user.isLicensed)])
    }

    /// Notes that a person was removed.
    func auditRemoval(of user: DirectoryUser, by actor: AuditRecord.Actor) throws(ServiceError) {
        try audit(actor, "user.remove", "user/\(user.id)")
    }

    /// Notes that a group was added or changed, and who came and went by it.
    func auditSaving(
        of group: DirectoryGroup, _ members: MembershipChange, by actor: AuditRecord.Actor
    ) throws(ServiceError) {
        try audit(
            actor, "group.save", "group/\(group.id)",
            details: members.names.merging(["members": String(group.members.count)]) { name, _ in name })
    }

    /// Notes that members of a group came and went.
    func auditChange(
        of members: MembershipChange, ofGroup id: String, by actor: AuditRecord.Actor
    ) throws(ServiceError) {
        try audit(
            actor, "group.members", "group/\(id)",
            details: members.names.merging(
                ["added": String(members.added.count), "removed": String(members.removed.count)]) { name, _ in name })
    }

    /// Notes that a group was removed, and who was in it.
    func auditRemoval(
        ofGroup id: String, _ members: MembershipChange, by actor: AuditRecord.Actor
    ) throws(ServiceError) {
        try audit(actor, "group.remove", "group/\(id)", details: members.names)
    }
}

extension DirectoryGroup.Member {
    /// The member as the audit log names its targets. Nobody checks ids of members; one with a space would look like several.
    var auditName: String {
        switch self {
        case .user(let id): "user/\(id.replacing(" ", with: "%20"))"
        case .group(let id): "group/\(id.replacing(" ", with: "%20"))"
        }
    }
}

extension MembershipChange {
    /// The most members that a record of the audit log names on either side; of more it says how many.
    private static let mostNamed = 100

    /// Who comes and who goes, as the audit log names its targets, so that it tells why a person's rules changed.
    var names: [String: String] {
        func text(_ members: Set<DirectoryGroup.Member>) -> String? {
            guard (1...Self.mostNamed).contains(members.count) else { return nil }
            return members.map(\.auditName).sorted().joined(separator: ", ")
        }
        var names: [String: String] = [:]
        names["addedMembers"] = text(added)
        names["removedMembers"] = text(removed)
        return names
    }
}
