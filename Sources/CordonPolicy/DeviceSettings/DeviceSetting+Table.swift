extension DeviceSetting {
    /// The one table between Graph properties and flat device names.
    static let all: [DeviceSetting] = transfer + access + launch

    private static let transfer: [DeviceSetting] = [
        .level("AppSharingFromLevel", "allowedInboundDataTransferSources", ["none", "managedApps", "allApps"]),
        .level("AppSharingToLevel", "allowedOutboundDataTransferDestinations", ["none", "managedApps", "allApps"]),
        .level(
            "ClipboardSharingLevel", "allowedOutboundClipboardSharingLevel",
            ["blocked", "managedApps", "managedAppsWithPasteIn", "allApps"]),
        .count("ClipboardCharacterLengthException", "allowedOutboundClipboardSharingExceptionLength"),
        .flag("FileSharingSaveAsDisabled", "saveAsBlocked"),
        .places(
            "ManagedLocations", "allowedDataStorageLocations",
            [(1, "oneDriveForBusiness"), (2, "sharePoint"), (4, "box"), (32, "localStorage"), (128, "photoLibrary")]),
        .flag("OpenDataIntoOrgDocumentsBlocked", "blockDataIngestionIntoOrganizationDocuments"),
        .places(
            "OpenDataFromManagedLocations", "allowedDataIngestionLocations",
            [
                (1, "oneDriveForBusiness"), (2, "sharePoint"), (4, "camera"), (8, "localStorage"), (16, "photoLibrary"),
            ]),
        .flag("ContactSyncDisabled", "contactSyncBlocked"),
        .flag("DataBackupDisabled", "dataBackupBlocked"),
        .flag("PrintingBlocked", "printBlocked"),
        .flag("ThirdPartyKeyboardsBlocked", "thirdPartyKeyboardsBlocked"),
        .level("ScreenCaptureConfigurationState", "screenCaptureConfigurationState", ["notBlocked", "blocked"]),
        .level("GenmojiConfigurationState", "genmojiConfigurationState", ["notBlocked", "blocked"]),
        .level("WritingToolsConfigurationState", "writingToolsConfigurationState", ["notBlocked", "blocked"]),
        .level("NotificationRestriction", "notificationRestriction", ["allow", "blockOrganizationalData", "block"]),
        .level("DialerRestrictionLevel", "dialerRestrictionLevel", ["blocked", "customApp", "managedApps", "allApps"]),
        .text("SpecificDialerProtocol", "customDialerAppProtocol"),
        .flag("ManagedBrowserRequired", "managedBrowserToOpenLinksRequired"),
        .text("UnmanagedBrowserProtocol", "customBrowserProtocol"),
        .flag("EnableOpenInFilter", "filterOpenInToOnlyManagedApps"),
        .flag("ProtectManagedOpenInData", "disableProtectionOfManagedOutboundOpenInData", inverted: true),
        .flag("ProtectAllIncomingUnknownSourceData", "protectInboundDataFromUnknownSources"),
        DeviceSetting(
            name: "ProtocolExclusions", property: "exemptedAppProtocols",
            toGraph: { value in
                guard let list = value.array, list.allSatisfy({ $0.string != nil }) else { return nil }
                let text = list.compactMap(\.string).map { $0 + ";" }.joined()
                return .array(text.isEmpty ? [] : [["name": "Default", "value": .string(text)]])
            },
            toDevice: { value in
                let schemes = (value.array ?? []).flatMap { ($0["value"]?.string ?? "").split(separator: ";") }
                return .array(schemes.map { .string(String($0)) })
            }),
        .list("ManagedUniversalLinks", "managedUniversalLinks"),
        .list("UniversalLinkExclusions", "exemptedUniversalLinks"),
        .level(
            "FileEncryptionLevel", "appDataEncryptionType",
            ["whenDeviceLocked", "whenDeviceLockedExceptOpenFiles", "afterDeviceRestart", "useDeviceSettings"]),
    ]

    private static let access: [DeviceSetting] = [
        .flag("PINEnabled", "pinRequired"),
        .level("PINCharacterType", "pinCharacterSet", ["alphanumericAndSymbol", "numeric"]),
        .count("PINMinLength", "minimumPinLength"),
        .flag("SimplePINAllowed", "simplePinBlocked", inverted: true),
        .period("PINExpiryDays", "periodBeforePinReset", unit: 86_400, zero: true),
        .count("PINNumRetry", "maximumPinRetries"),
        .level("MaxPinRetryExceededAction", "appActionIfMaximumPinRetriesExceeded", ["block", "wipe"]),
        .flag("AppPinDisabled", "disableAppPinIfDevicePinIsSet"),
        .flag("TouchIDEnabled", "fingerprintBlocked", inverted: true),
        .flag("FaceIDEnabled", "faceIdBlocked", inverted: true),
        .period("NonBioPassTimeOut", "pinRequiredInsteadOfBiometricTimeout", unit: 60, zero: true),
        .flag("AuthenticationEnabled", "organizationalCredentialsRequired"),
        .level("AppActionIfUnableToAuthenticateUser", "appActionIfUnableToAuthenticateUser", ["block", "wipe"]),
        .period("AccessRecheckOnlineTimeout", "periodOnlineBeforeAccessCheck", unit: 60),
        .period("AccessRecheckOfflineTimeout", "periodOfflineBeforeAccessCheck", unit: 60),
        .period("OfflineWipeInterval", "periodOfflineBeforeWipeIsEnforced", unit: 86_400, zero: true),
    ]

    private static let launch: [DeviceSetting] = [
        .flag("DeviceComplianceEnabled", "deviceComplianceRequired"),
        .level("DeviceComplianceFailureAction", "appActionIfDeviceComplianceRequired", ["block", "wipe"]),
        .level(
            "MinimumRequiredDeviceThreatProtectionLevel", "maximumAllowedDeviceThreatLevel",
            ["notConfigured", "secured", "low", "medium", "high"]),
        .level("MobileThreatDefenseRemediationAction", "mobileThreatDefenseRemediationAction", ["block", "wipe"]),
        .version("MinOsVersion", "minimumRequiredOsVersion"),
        .version("MinOsVersionWarning", "minimumWarningOsVersion"),
        .version("MinOsVersionWipe", "minimumWipeOsVersion"),
        .version("MaxOsVersion", "maximumRequiredOsVersion"),
        .version("MaxOsVersionWarning", "maximumWarningOsVersion"),
        .version("MaxOsVersionWipe", "maximumWipeOsVersion"),
        .version("MinAppVersion", "minimumRequiredAppVersion"),
        .version("MinAppVersionWarning", "minimumWarningAppVersion"),
        .version("MinAppVersionWipe", "minimumWipeAppVersion"),
        .version("MinSDKVersion", "minimumRequiredSdkVersion"),
        .version("MinSDKVersionWipe", "minimumWipeSdkVersion"),
    ]
}
