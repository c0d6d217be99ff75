/// What a route does with what, for the scopes that a person's token must have (SRV-OP-019).
///
/// Scopes say what a program may do for the person; the person's roles, which the service checks, say what the person
/// may do at all.
package enum AdministrationAccess: Sendable, CaseIterable {
    /// Reads policies, registrations, operations or the audit log.
    case readApps
    /// Writes policies, asks for wipes, blocks people.
    case writeApps
    /// Reads people and groups; also open to administrators of apps, since policies are assigned to groups.
    case readDirectory
    /// Writes groups.
    case writeGroups
    /// Ends people's sessions.
    case revokeSessions
    /// Registers and releases shared devices.
    case joinDevices
    /// Reads who is signed in.
    case readSelf
    /// Reads the organisation's name.
    case readOrganization
    /// Reads assignment filters.
    case readConfiguration
    /// Reads scope tags.
    case readRoles

    /// Whether nothing but reading takes this, so that a program's permission to read such things may stand for a role.
    var isReadOnly: Bool {
        [.readDirectory, .readOrganization, .readConfiguration, .readRoles].contains(self)
    }

    /// The scopes of which one suffices.
    var scopes: Set<String> {
        let write: Set<String> = ["DeviceManagementApps.ReadWrite.All"]
        let read = write.union(["DeviceManagementApps.Read.All"])
        return switch self {
        case .readApps: read
        case .writeApps: write
        case .readDirectory:
            read.union(["User.Read.All", "Group.Read.All", "Group.ReadWrite.All", "GroupMember.Read.All"])
        case .writeGroups: ["Group.ReadWrite.All"]
        case .revokeSessions: write.union(["User.RevokeSessions.All"])
        case .joinDevices: write.union(["Device.ReadWrite.All"])
        case .readSelf: read.union(["User.Read", "User.Read.All"])
        case .readConfiguration:
            read.union(["DeviceManagementConfiguration.Read.All", "DeviceManagementConfiguration.ReadWrite.All"])
        case .readRoles: read.union(["DeviceManagementRBAC.Read.All", "DeviceManagementRBAC.ReadWrite.All"])
        case .readOrganization: read.union(["Organization.Read.All", "User.Read"])
        }
    }
}
