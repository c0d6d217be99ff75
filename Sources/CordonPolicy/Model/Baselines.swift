extension AppProtectionPolicy {
    /// The published protection levels (SRV-RS-178…187).
    public enum Baseline: String, Sendable, Hashable, Codable, CaseIterable {
        /// Basic.
        case level1
        /// Enhanced.
        case level2
        /// High.
        case level3
    }

    /// A template of that level.
    /// - Parameters:
    ///   - level: Which of the three templates.
    ///   - minimumOS: The lowest system version, for levels 2 and 3.
    ///   - maximumOS: The highest, for level 3.
    public static func baseline(
        _ level: Baseline, minimumOS: VersionNumber? = VersionNumber("17.0"),
        maximumOS: VersionNumber? = VersionNumber("26.99")
    ) -> AppProtectionPolicy {
        var policy = AppProtectionPolicy(id: "baseline-\(level.rawValue)", displayName: "Baseline \(level.rawValue)")
        policy.launch.periodOfflineBeforeAccessCheck = .seconds(12 * 3600)
        policy.access.pinRequiredInsteadOfBiometricTimeout = .seconds(12 * 3600)
        guard level != .level1 else { return policy }
        policy.transfer.outbound = .managedApps
        policy.transfer.clipboard = .managedAppsWithPasteIn
        policy.transfer.saveAsBlocked = true
        policy.transfer.storageLocations = [.oneDriveForBusiness, .sharePoint]
        policy.transfer.managedBrowserRequired = true
        policy.transfer.managedBrowser = .microsoftEdge
        policy.transfer.notifications = .blockOrganizationalData
        policy.storage.backupBlocked = true
        policy.launch.actionIfAccountDisabled = .block
        policy.launch.osVersion.minimumRequired = minimumOS
        guard level != .level2 else { return policy }
        policy.transfer.inbound = .managedApps
        policy.transfer.printBlocked = true
        policy.transfer.thirdPartyKeyboardsBlocked = true
        policy.transfer.ingestionBlocked = true
        policy.transfer.ingestionLocations = [.oneDriveForBusiness, .sharePoint]
        policy.transfer.dialer = .customApp
        policy.access.minimumPinLength = 6
        policy.access.simplePinBlocked = true
        policy.access.periodBeforePinReset = .seconds(365 * 86_400)
        policy.launch.actionIfNotCompliant = .wipe
        policy.launch.maximumThreatLevel = .secured
        policy.launch.osVersion.maximumRequired = maximumOS
        return policy
    }

    /// The standard policy of a page that mixes accounts (SDK-ID-47): every flag denies, the clipboard
    /// reaches managed apps only, a PIN is required (CQ-33).
    public static var lockDown: AppProtectionPolicy {
        var policy = AppProtectionPolicy(id: "lock-down", displayName: "Lock-down for several accounts")
        policy.transfer.inbound = .managedApps
        policy.transfer.outbound = .managedApps
        policy.transfer.clipboard = .managedApps
        policy.transfer.saveAsBlocked = true
        policy.transfer.ingestionBlocked = true
        policy.transfer.ingestionLocations = []
        policy.transfer.contactSyncBlocked = true
        policy.transfer.printBlocked = true
        policy.transfer.notifications = .blockOrganizationalData
        policy.transfer.dialer = .managedApps
        policy.transfer.messaging = .anyManagedApp
        policy.transfer.managedBrowserRequired = true
        policy.transfer.managedBrowser = .microsoftEdge
        policy.transfer.exemptSchemes = []
        policy.transfer.exemptUniversalLinks = []
        policy.transfer.thirdPartyKeyboardsBlocked = true
        policy.transfer.openInFiltered = true
        policy.transfer.screenCapture = .blocked
        policy.transfer.genmoji = .blocked
        policy.transfer.writingTools = .blocked
        policy.access.pinRequired = true
        policy.access.simplePinBlocked = true
        policy.access.organizationalCredentialsRequired = true
        policy.access.fingerprintBlocked = true
        policy.access.faceIdBlocked = true
        policy.storage.backupBlocked = true
        return policy
    }
}
