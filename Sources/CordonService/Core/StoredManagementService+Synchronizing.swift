public import CordonIdentity
internal import Foundation

extension StoredManagementService {
    /// Brings the directory to what a source says: what it says is saved, and what it said before and says no more is
    /// removed. People and groups that came another way stay as they are.
    ///
    /// Nothing is written where nothing differs. A source that fails in the middle is asked again as a whole.
    ///
    /// - Parameter source: The name of the source, always the same for one source.
    /// - Throws: ``ServiceError`` as ``DirectoryAdministration`` throws it.
    public func synchronize(
        _ content: DirectoryContent, from source: String, of tenant: TenantID
    ) async throws(ServiceError) -> DirectoryChanges {
        let administrator = Administrator(
            tenant: tenant, id: source, name: source, roles: [.directoryAdministrator])
        let (users, groups, before) = try await storage.read(tenant) { records throws(ServiceError) in
            (
                try records.records(DirectoryUser.self), try records.records(DirectoryGroup.self),
                try records.record(DirectorySource.self, source) ?? DirectorySource(name: source)
            )
        }
        let now = DirectorySource(
            name: source, people: Set(content.people.map(\.storageID)), groups: Set(content.groups.map(\.storageID)))
        var changes = DirectoryChanges()
        // Remembered before anything is saved, so that what a broken run brought is known to the next.
        try await remember(
            DirectorySource(
                name: source, people: before.people.union(now.people), groups: before.groups.union(now.groups)),
            of: tenant)
        let known = Dictionary(users.map { ($0.storageID, $0) }, uniquingKeysWith: { first, _ in first })
        for id in before.people.subtracting(now.people).sorted() where known[id] != nil {
            try await removeUser(id, as: administrator)
            changes.removed += 1
        }
        for user in content.people where known[user.storageID] != user {
            try await saveUser(user, as: administrator)
            changes.saved += 1
        }
        let knownGroups = Dictionary(groups.map { ($0.storageID, $0) }, uniquingKeysWith: { first, _ in first })
        for id in before.groups.subtracting(now.groups).sorted() where knownGroups[id] != nil {
            try await removeGroup(id, as: administrator)
            changes.removed += 1
        }
        for group in content.groups where knownGroups[group.storageID] != group {
            try await saveGroup(group, as: administrator)
            changes.saved += 1
        }
        try await remember(now, of: tenant)
        return changes
    }

    private func remember(_ source: DirectorySource, of tenant: TenantID) async throws(ServiceError) {
        let isKnown = try await storage.read(tenant) { records throws(ServiceError) in
            try records.record(DirectorySource.self, source.name) == source
        }
        guard !isKnown else { return }
        try await storage.write(tenant) { transaction throws(ServiceError) in try transaction.save(source) }
    }
}
