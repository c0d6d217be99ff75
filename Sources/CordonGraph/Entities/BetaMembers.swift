import CordonService

/// Members of policies that `/v1.0` leaves out (SRV-RS-010): column `V` of the resource model.
enum BetaMembers {
    /// The members that `/v1.0` does not have in policies of a kind.
    static func names(of kind: PolicyKind) -> Set<String> {
        kind == .defaultManagedAppProtection ? ofDefaults : ofAll
    }

    private static let ofAll = shared.union(ios).union(android)
    /// For these alone, other browsers than the usual one are news of beta.
    private static let ofDefaults = ofAll.union([
        "customBrowserDisplayName", "customBrowserPackageId", "customBrowserProtocol",
    ])

    private static let shared: Set<String> = [
        "roleScopeTagIds", "appGroupType", "targetedAppManagementLevels",
        "allowedOutboundClipboardSharingExceptionLength", "appActionIfDeviceComplianceRequired",
        "blockDataIngestionIntoOrganizationDocuments", "allowedDataIngestionLocations", "notificationRestriction",
        "dialerRestrictionLevel", "protectedMessagingRedirectAppType", "appActionIfMaximumPinRetriesExceeded",
        "previousPinBlockCount", "pinRequiredInsteadOfBiometricTimeout", "minimumWipeOsVersion",
        "maximumRequiredOsVersion", "maximumWarningOsVersion", "maximumWipeOsVersion", "minimumWipeAppVersion",
        "maximumAllowedDeviceThreatLevel", "mobileThreatDefenseRemediationAction",
        "mobileThreatDefensePartnerPriority", "appActionIfUnableToAuthenticateUser",
        "gracePeriodToBlockAppsDuringOffClockHours", "purviewContentEvaluationRequired",
    ]

    private static let ios: Set<String> = [
        "minimumWarningSdkVersion", "minimumWipeSdkVersion", "allowWidgetContentSync", "allowedIosDeviceModels",
        "appActionIfIosDeviceModelNotAllowed", "appActionIfAccountIsClockedOut", "exemptedAppProtocols",
        "exemptedUniversalLinks", "managedUniversalLinks", "thirdPartyKeyboardsBlocked",
        "filterOpenInToOnlyManagedApps", "disableProtectionOfManagedOutboundOpenInData",
        "protectInboundDataFromUnknownSources", "customDialerAppProtocol", "messagingRedirectAppUrlScheme",
        "screenCaptureConfigurationState", "genmojiConfigurationState", "writingToolsConfigurationState",
    ]

    private static let android: Set<String> = [
        "biometricAuthenticationBlocked", "connectToVpnOnLaunch", "deviceLockRequired",
        "fingerprintAndBiometricEnabled", "requireClass3Biometrics", "requirePinAfterBiometricChange",
        "allowedAndroidDeviceManufacturers", "allowedAndroidDeviceModels", "customDialerAppDisplayName",
        "customDialerAppPackageId", "messagingRedirectAppDisplayName", "messagingRedirectAppPackageId",
        "minimumRequiredCompanyPortalVersion", "minimumWarningCompanyPortalVersion",
        "minimumWipeCompanyPortalVersion", "minimumWipePatchVersion",
        "blockAfterCompanyPortalUpdateDeferralInDays", "warnAfterCompanyPortalUpdateDeferralInDays",
        "wipeAfterCompanyPortalUpdateDeferralInDays", "exemptedAppPackages",
        "appActionIfAndroidDeviceManufacturerNotAllowed", "appActionIfAndroidDeviceModelNotAllowed",
        "appActionIfAndroidSafetyNetAppsVerificationFailed",
        "appActionIfAndroidSafetyNetDeviceAttestationFailed", "appActionIfDeveloperOptionsEnabled",
        "appActionIfDeviceLockNotSet", "appActionIfSamsungKnoxAttestationRequired", "approvedKeyboards",
        "keyboardsRestricted",
        "appActionIfDevicePasscodeComplexityLessThanHigh", "appActionIfDevicePasscodeComplexityLessThanMedium",
        "appActionIfDevicePasscodeComplexityLessThanLow", "requiredAndroidSafetyNetAppsVerificationType",
        "requiredAndroidSafetyNetDeviceAttestationType", "requiredAndroidSafetyNetEvaluationType",
    ]
}
