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
        try require(.writeDirectory, of: administrator)
        try checkDirectoryID(user.id)
        guard !user.userPrincipalName.isEmpty, user.userPrincipalName.utf8.count <= 256 else {
            throw ServiceError(
                .invalid, "userPrincipalName is not acceptable",
                problems: [.init(member: "userPrincipalName", reason: "empty or longer than 256 bytes")])
        }
        let now = self.now
        try await change(administrator.tenant) { [self] transaction, pending throws(ServiceError) in
            let named = try transaction.records(
                DirectoryUser.self, where: (.name, folded(user.userPrincipalName)))
            guard named.allSatisfy({ $0.storageID == user.storageID }) else {
                throw ServiceError(.conflict, "another person has this sign-in name")
            }
            guard try transaction.record(DirectoryUser.self, user.storageID) != user else { return }
            try announceChange(
                toUsers: [user.id], of: administrator.tenant, in: transaction, noting: &pending
            ) { transaction throws(ServiceError) in
                try transaction.save(user)
                try transaction.remove(RemovedPerson.self, user.storageID)
            }
            try transaction.audit(
                AuditRecord.Actor(administrator), "user.save", "user/\(user.id)", of: administrator.tenant, at: now,
                details: ["enabled": String(user.accountEnabled), "licensed": String(user.isLicensed)])
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
            ) { transaction throws(ServiceError) in
                for var group in try transaction.records(DirectoryGroup.self) {
                    let rest = group.members.filter { member in
                        if case .user(let id) = member { folded(id) != user.storageID } else { true }
                    }
                    guard rest.count < group.members.count else { continue }
                    group.members = rest
                    try transaction.save(group)
                }
                try transaction.remove(DirectoryUser.self, user.storageID)
                try transaction.save(RemovedPerson(userID: user.id, since: now))
            }
            try transaction.audit(
                AuditRecord.Actor(administrator), "user.remove", "user/\(user.id)", of: administrator.tenant, at: now)
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
        try await changeGroup(group.id, to: group, as: administrator)
    }

    /// Removes a group.
    public func removeGroup(_ id: String, as administrator: Administrator) async throws(ServiceError) {
        try require(.writeDirectory, of: administrator)
        try await changeGroup(id, to: nil, as: administrator)
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
        _ id: String, to new: DirectoryGroup?, as administrator: Administrator
    ) async throws(ServiceError) {
        let now = self.now
        try await change(administrator.tenant) { [self] transaction, pending throws(ServiceError) in
            let groups = try transaction.records(DirectoryGroup.self)
            if let new {
                guard !groups.contains(new) else { return }
            } else {
                _ = try transaction.group(id)
            }
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
            try transaction.audit(
                AuditRecord.Actor(administrator), new == nil ? "group.remove" : "group.save", "group/\(id)",
                of: administrator.tenant, at: now, details: new.map { ["members": String($0.members.count)] } ?? [:])
        }
    }
}

extension [DirectoryGroup] {
    /// The folded ids of the people in a group, also through other groups.
    fileprivate func people(under id: String) -> Set<String> {
        let byID = Dictionary(map { ($0.storageID, $0) }, uniquingKeysWith: { first, _ in first })
        var people: Set<String> = []
        var seen: Set<String> = []
        var open = [folded(id)]
        while let next = open.popLast() {
            guard seen.insert(next).inserted else { continue }
            for member in byID[next]?.members ?? [] {
                switch member {
                case .user(let id): people.insert(folded(id))
                case .group(let id): open.append(folded(id))
                }
            }
        }
        return people
    }
}
