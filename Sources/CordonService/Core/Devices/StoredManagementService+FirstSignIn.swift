internal import CordonIdentity
internal import CordonProtocol
internal import Foundation
internal import Logging

extension StoredManagementService {
    /// Adds somebody whom only the OpenID provider knows, where the configuration says so; also when no policy targets
    /// them yet, so that an administrator can see them and put them into a group.
    ///
    /// Whoever was removed stays out until an administrator, SCIM or a directory file brings them back.
    ///
    /// - Throws: ``ServiceError`` with status 200 and a reason of its own for somebody who cannot be added: whose id is none
    ///   that this service keeps, or whose sign-in name is another person's.
    func addAtFirstSignIn(_ caller: DeviceCaller, at now: Date) async throws(ServiceError) {
        guard configuration.createsPeopleAtSignIn else { return }
        let account = caller.account
        do {
            let isNew = try await storage.read(caller.tenant) { records throws(ServiceError) in
                try Self.isNew(account, in: records)
            }
            guard isNew else { return }
            try await add(account, at: now)
        } catch {
            if error.code == .enrollment {
                logger.notice(
                    "somebody could not be added at the first sign-in", metadata: ["reason": "\(error.reason)"])
            }
            throw error
        }
    }

    private func add(_ account: ManagedAccount, at now: Date) async throws(ServiceError) {
        try await change(account.tenant) { transaction, _ throws(ServiceError) in
            guard try Self.isNew(account, in: transaction) else { return }
            let user = DirectoryUser(
                id: account.id.rawValue, userPrincipalName: account.userPrincipalName,
                displayName: account.userPrincipalName)
            try transaction.save(user)
            try transaction.audit(
                .service, "user.save", "user/\(user.id)", of: account.tenant, at: now,
                details: ["origin": "first sign-in", "enabled": "true", "licensed": "true"])
        }
    }

    /// Whether the account is neither in the directory nor was removed from it.
    ///
    /// - Throws: ``ServiceError`` with status 200 where it is new but cannot be added.
    private static func isNew(_ account: ManagedAccount, in records: some StorageReader) throws(ServiceError) -> Bool {
        let id = folded(account.id.rawValue)
        guard try records.record(DirectoryUser.self, id) == nil, try records.record(RemovedPerson.self, id) == nil
        else { return false }
        guard (try? checkDirectoryID(account.id.rawValue)) != nil else {
            throw .enrollment(
                .notLicensed,
                "the id of the account (oid, else sub) is none that this service keeps: it needs 1 to 128 letters, digits "
                    + "or -_.~")
        }
        guard (1...256).contains(account.userPrincipalName.utf8.count) else {
            throw .enrollment(.notLicensed, "the sign-in name of the account is empty or longer than 256 bytes")
        }
        guard try records.records(DirectoryUser.self, where: (.name, folded(account.userPrincipalName))).isEmpty else {
            throw .enrollment(.notLicensed, "another person of the directory has the sign-in name of the account")
        }
        return true
    }
}
