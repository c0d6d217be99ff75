extension Setting {
    /// Whether a policy's value of this setting makes any difference to it.
    ///
    /// Exceptions count only where the block is on, an action only where its condition is, the strength of a PIN only where
    /// one is asked for (SRV-TG-14, SRV-RS-033, SRV-RS-035). Merging asks this of each policy before it compares values, so
    /// that two policies which both allow something allow it together.
    func counts(in policy: AppProtectionPolicy) -> Bool {
        Self.dependencies[name]?(policy) ?? true
    }

    /// Every switch and what depends on it. A switch that is on in one policy is on in what several amount to, so each test
    /// here asks for one value or a stricter one, never for exactly one in the middle; otherwise the order would matter.
    private static let dependencies: [String: @Sendable (AppProtectionPolicy) -> Bool] = {
        let pairs: [(settings: [String], count: @Sendable (AppProtectionPolicy) -> Bool)] = [
            (["saveAsBlocked"], { $0.transfer.outbound != .allApps }),
            (["allowedDataStorageLocations"], { $0.transfer.outbound != .allApps && $0.transfer.saveAsBlocked }),
            (["blockDataIngestionIntoOrganizationDocuments"], { $0.transfer.inbound != .allApps }),
            (["allowedDataIngestionLocations"], { $0.transfer.inbound != .allApps && $0.transfer.ingestionBlocked }),
            (["allowedOutboundClipboardSharingExceptionLength"], { $0.transfer.clipboard != .allApps }),
            (["exemptedAppProtocols"], { $0.transfer.outbound != .allApps }),
            (
                ["exemptedUniversalLinks", "managedUniversalLinks"],
                { $0.transfer.outbound != .allApps || $0.transfer.managedBrowserRequired }
            ),
            // That nothing is said, or that capture is not blocked, matters only where data may not go to every app.
            (
                ["screenCaptureConfigurationState"],
                { $0.transfer.screenCapture == .blocked || $0.transfer.outbound != .allApps }
            ),
            (["managedBrowser", "customBrowserProtocol"], { $0.transfer.managedBrowserRequired }),
            (["customDialerAppProtocol"], { $0.transfer.dialer.rank <= DialerLevel.customApp.rank }),
            (["messagingRedirectAppUrlScheme"], { $0.transfer.messaging.rank <= MessagingLevel.specificApps.rank }),
            (
                [
                    "pinCharacterSet", "simplePinBlocked", "minimumPinLength", "maximumPinRetries",
                    "appActionIfMaximumPinRetriesExceeded", "periodBeforePinReset", "previousPinBlockCount",
                    "fingerprintBlocked", "faceIdBlocked", "pinRequiredInsteadOfBiometricTimeout",
                    "disableAppPinIfDevicePinIsSet",
                ],
                { $0.access.pinRequired }
            ),
            (
                ["periodOnlineBeforeAccessCheck"],
                { $0.access.pinRequired || $0.access.organizationalCredentialsRequired }
            ),
            (["appActionIfDeviceComplianceRequired"], { $0.launch.deviceComplianceRequired }),
            (
                ["mobileThreatDefenseRemediationAction", "mobileThreatDefensePartnerPriority"],
                { $0.launch.maximumThreatLevel != .notConfigured }
            ),
            (["appActionIfIosDeviceModelNotAllowed"], { $0.launch.allowedModels != nil }),
            (
                ["gracePeriodToBlockAppsDuringOffClockHours"],
                { $0.launch.actionIfClockedOut.map { ConditionActions.blockOrWarn.applied($0) != .warn } ?? false }
            ),
        ]
        var dependencies: [String: @Sendable (AppProtectionPolicy) -> Bool] = [:]
        for pair in pairs {
            for setting in pair.settings { dependencies[setting] = pair.count }
        }
        return dependencies
    }()
}
