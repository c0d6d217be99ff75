internal import CordonIdentity
internal import CordonProtocol
internal import Foundation

extension StoredManagementService {
    /// Adds somebody whom only the OpenID provider knows, where the configuration says so; also when no policy targets
    /// them yet, so that an administrator can see them and put them into a group.
    ///
    /// Whoever was removed stays out until an administrator, SCIM or a directory file brings them back.
    func addAtFirstSignIn(_ caller: DeviceCaller, at now: Date) async throws(ServiceError) {
        let account = caller.account
        guard configuration.createsPeopleAtSignIn, Self.isUsable(account) else { return }
        let isNew = try await storage.read(caller.tenant) { records throws(ServiceError) in
            try Self.isStranger(account, in: records)
        }
        guard isNew else { return }
        try await change(caller.tenant) { transaction, _ throws(ServiceError) in
            guard try Self.isStranger(account, in: transaction) else { return }
            let user = DirectoryUser(
                id: account.id.rawValue, userPrincipalName: account.userPrincipalName,
                displayName: account.userPrincipalName)
            try transaction.save(user)
            try transaction.audit(
                .service, "user.save", "user/\(user.id)", of: caller.tenant, at: now,
                details: ["origin": "first sign-in", "enabled": "true", "licensed": "true"])
        }
    }

    private static func isStranger(
        _ account: ManagedAccount, in records: some StorageReader
    ) throws(ServiceError) -> Bool {
        let id = folded(account.id.rawValue)
        guard try records.record(DirectoryUser.self, id) == nil, try records.record(RemovedPerson.self, id) == nil
        else { return false }
        return try records.records(DirectoryUser.self, where: (.name, folded(account.userPrincipalName))).isEmpty
    }

    private static func isUsable(_ account: ManagedAccount) -> Bool {
        do {
            try checkDirectoryID(account.id.rawValue)
            return !account.userPrincipalName.isEmpty && account.userPrincipalName.utf8.count <= 256
        } catch {
            return false
        }
    }
}
