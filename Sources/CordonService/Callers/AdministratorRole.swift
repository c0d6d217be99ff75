/// A named set of permissions (SRV-OP-020).
public enum AdministratorRole: String, Sendable, Codable, CaseIterable {
    /// Sees policies, people, registrations and operations.
    case reader
    /// Sees what a reader sees and may wipe a device that was lost.
    case helpDesk
    /// Writes and assigns policies.
    case policyAdministrator
    /// Wipes, blocks and forgets devices.
    case deviceAdministrator
    /// Registers and releases shared devices.
    case cloudDeviceAdministrator
    /// Writes people and groups, as a directory's own synchronisation does.
    case directoryAdministrator
    /// May do everything, keys and audit included.
    case owner

    /// What the role allows; the only place that says so.
    public var permissions: Set<Permission> {
        switch self {
        case .reader: [.read]
        case .helpDesk: [.read, .wipe, .collectLogs, .commandApps]
        case .policyAdministrator: [.read, .writePolicies, .deletePolicies, .assignPolicies, .cancelWipes]
        case .deviceAdministrator:
            [
                .read, .wipe, .cancelWipes, .blockUsers, .forgetRegistrations, .collectLogs, .commandApps,
                .registerDevices,
            ]
        case .cloudDeviceAdministrator: [.read, .registerDevices]
        case .directoryAdministrator: [.read, .writeDirectory]
        case .owner: Set(Permission.allCases)
        }
    }
}

/// One thing that an administrator may do.
public enum Permission: String, Sendable, Codable, CaseIterable {
    /// Read policies, directory, registrations and operations.
    case read
    /// Create and change policies and app configurations.
    case writePolicies
    /// Delete policies and app configurations.
    case deletePolicies
    /// Assign policies to groups and target apps.
    case assignPolicies
    /// Ask for a selective wipe.
    case wipe
    /// Release what another person asked for and what needs a second person.
    case approve
    /// Take back a wipe that is pending; belongs to changing, as in the public service (SRV-OP-020).
    case cancelWipes
    /// Block and unblock a person (SRV-TG-24).
    case blockUsers
    /// Forget a registration.
    case forgetRegistrations
    /// Write people and groups.
    case writeDirectory
    /// Register and release shared devices.
    case registerDevices
    /// Ask apps for their logs and read them.
    case collectLogs
    /// Tell apps to take up their configuration, to register again or to have a new PIN made (SRV-CI-006).
    case commandApps
    /// Export and erase what is kept about a person.
    case handlePersonalData
    /// Read and export the audit log.
    case readAudit
    /// Change signing keys and organisation-wide settings.
    case manageTenant
}
