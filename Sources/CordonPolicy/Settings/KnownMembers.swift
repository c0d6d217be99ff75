extension AppProtectionPolicy {
    /// Members of the Graph resource that say nothing about what is allowed: names, targeting, book-keeping.
    static let knownMembers: Set<String> = [
        "@odata.type", "@odata.context", "@odata.id", "@odata.etag", "id", "displayName", "description",
        "createdDateTime", "lastModifiedDateTime", "version", "roleScopeTagIds", "isAssigned", "assignments",
        "appGroupType", "targetedAppManagementLevels", "apps", "deployedAppCount", "deploymentSummary",
        "customSettings",
    ]

    /// Settings that concern Android alone: kept, never evaluated (SRV-RS-101, 105…108).
    static let androidMembers: Set<String> = [
        "biometricAuthenticationBlocked", "connectToVpnOnLaunch", "deviceLockRequired",
        "disableAppEncryptionIfDeviceEncryptionIsEnabled", "encryptAppData", "fingerprintAndBiometricEnabled",
        "requireClass3Biometrics", "requirePinAfterBiometricChange", "screenCaptureBlocked",
        "allowedAndroidDeviceManufacturers", "allowedAndroidDeviceModels", "customBrowserDisplayName",
        "customBrowserPackageId", "customDialerAppDisplayName", "customDialerAppPackageId",
        "messagingRedirectAppDisplayName", "messagingRedirectAppPackageId", "minimumRequiredCompanyPortalVersion",
        "minimumWarningCompanyPortalVersion", "minimumWipeCompanyPortalVersion", "minimumRequiredPatchVersion",
        "minimumWarningPatchVersion", "minimumWipePatchVersion", "blockAfterCompanyPortalUpdateDeferralInDays",
        "warnAfterCompanyPortalUpdateDeferralInDays", "wipeAfterCompanyPortalUpdateDeferralInDays",
        "exemptedAppPackages", "appActionIfAndroidDeviceManufacturerNotAllowed",
        "appActionIfAndroidDeviceModelNotAllowed", "appActionIfAndroidSafetyNetAppsVerificationFailed",
        "appActionIfAndroidSafetyNetDeviceAttestationFailed", "appActionIfDeviceLockNotSet",
        "appActionIfDevicePasscodeComplexityLessThanHigh", "appActionIfDevicePasscodeComplexityLessThanMedium",
        "appActionIfDevicePasscodeComplexityLessThanLow", "requiredAndroidSafetyNetAppsVerificationType",
        "requiredAndroidSafetyNetDeviceAttestationType", "requiredAndroidSafetyNetEvaluationType",
        "appActionIfDeveloperOptionsEnabled", "appActionIfSamsungKnoxAttestationRequired", "approvedKeyboards",
        "keyboardsRestricted",
    ]

    /// Whether a protection policy has a member of that name: a setting, or one of those that say nothing about what is
    /// allowed.
    public static func isMember(_ name: String) -> Bool { hasMember(name) || memberMeant(by: name) != nil }

    /// The same for a name as it is spelt, which is known at once.
    package static func hasMember(_ name: String) -> Bool {
        knownMembers.contains(name) || androidMembers.contains(name) || Setting.named(name) != nil
    }

    /// The members as they were read, as far as no setting of this version reads them.
    public var unreadMembers: [String: JSONValue] {
        original.filter { name, _ in
            !Self.knownMembers.contains(name) && !Self.androidMembers.contains(name) && !name.contains("@")
                && Setting.named(name) == nil
        }
    }
}
