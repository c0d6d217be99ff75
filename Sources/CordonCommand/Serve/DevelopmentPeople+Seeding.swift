import CordonDevelopmentProvider
import CordonIdentity
import CordonService

extension DevelopmentPeople {
    /// Brings the service's own directory to what the file says; what only the service has, stays.
    ///
    /// Nothing is written where nothing differs, so that a restart leaves no trace in the audit log.
    ///
    /// - Throws: ``ServiceError`` as the service throws it.
    static func copy(_ directory: DevelopmentDirectory, to service: some ManagementService) async throws(ServiceError) {
        let seeder = Administrator(
            tenant: TenantID(directory.tenantID), id: "development-directory", name: "development directory",
            roles: [.owner])
        let users = try await service.users(as: seeder)
        for person in directory.people {
            var user =
                users.first { $0.id == person.id }
                ?? DirectoryUser(
                    id: person.id, userPrincipalName: person.userPrincipalName, displayName: person.displayName)
            user.userPrincipalName = person.userPrincipalName
            user.displayName = person.displayName
            user.mail = user.mail ?? person.userPrincipalName
            user.accountEnabled = person.accountEnabled
            if !users.contains(user) { try await service.saveUser(user, as: seeder) }
        }
        let groups = try await service.groups(as: seeder)
        for group in directory.groups {
            let wanted = DirectoryGroup(
                id: group.id, displayName: group.displayName,
                description: groups.first { $0.id == group.id }?.description,
                members: Set(group.members.map { .user($0) }))
            if !groups.contains(wanted) { try await service.saveGroup(wanted, as: seeder) }
        }
    }
}
