extension Setting {
    static let launchSettings: [Setting] = [
        Setting("deviceComplianceRequired", .launch, \.launch.deviceComplianceRequired, .flag(stricter: true)),
        Setting("appActionIfDeviceComplianceRequired", .launch, \.launch.actionIfNotCompliant, .action(.blockOrWipe)),
        Setting(
            "periodOfflineBeforeAccessCheck", .launch, \.launch.periodOfflineBeforeAccessCheck,
            .period(zeroIsNever: false), isNumber: true),
        Setting(
            "periodOfflineBeforeWipeIsEnforced", .launch, \.launch.periodOfflineBeforeWipe,
            .period(zeroIsNever: true), isNumber: true),
        Setting("minimumRequiredOsVersion", .launch, \.launch.osVersion.minimumRequired, .version(stricter: .higher)),
        Setting("minimumWarningOsVersion", .launch, \.launch.osVersion.minimumWarning, .version(stricter: .higher)),
        Setting("minimumWipeOsVersion", .launch, \.launch.osVersion.minimumWipe, .version(stricter: .higher)),
        Setting("maximumRequiredOsVersion", .launch, \.launch.osVersion.maximumRequired, .version(stricter: .lower)),
        Setting("maximumWarningOsVersion", .launch, \.launch.osVersion.maximumWarning, .version(stricter: .lower)),
        Setting("maximumWipeOsVersion", .launch, \.launch.osVersion.maximumWipe, .version(stricter: .lower)),
        Setting("minimumRequiredAppVersion", .launch, \.launch.appVersion.minimumRequired, .version(stricter: .higher)),
        Setting("minimumWarningAppVersion", .launch, \.launch.appVersion.minimumWarning, .version(stricter: .higher)),
        Setting("minimumWipeAppVersion", .launch, \.launch.appVersion.minimumWipe, .version(stricter: .higher)),
        Setting("minimumRequiredSdkVersion", .launch, \.launch.sdkVersion.minimumRequired, .version(stricter: .higher)),
        Setting("minimumWarningSdkVersion", .launch, \.launch.sdkVersion.minimumWarning, .version(stricter: .higher)),
        Setting("minimumWipeSdkVersion", .launch, \.launch.sdkVersion.minimumWipe, .version(stricter: .higher)),
        Setting("maximumAllowedDeviceThreatLevel", .launch, \.launch.maximumThreatLevel, .member),
        Setting("mobileThreatDefenseRemediationAction", .launch, \.launch.actionIfThreatened, .action(.blockOrWipe)),
        Setting(
            "mobileThreatDefensePartnerPriority", .launch, \.launch.threatPartnerPriority,
            SettingCodec<ThreatPartnerPriority>.optionalMember(ordered: false)),
        Setting(
            "appActionIfUnableToAuthenticateUser", .launch, \.launch.actionIfAccountDisabled,
            .optionalAction(.blockOrWipe)),
        Setting(
            "gracePeriodToBlockAppsDuringOffClockHours", .launch, \.launch.offClockGracePeriod, .gracePeriod,
            isNumber: true),
        Setting("allowedIosDeviceModels", .launch, \.launch.allowedModels, .models),
        Setting(
            "appActionIfIosDeviceModelNotAllowed", .launch, \.launch.actionIfModelNotAllowed, .action(.blockOrWipe)),
        Setting(
            "appActionIfAccountIsClockedOut", .launch, \.launch.actionIfClockedOut,
            .optionalAction(.blockOrWarn)),
    ]

    static let storageSettings: [Setting] = [
        Setting("dataBackupBlocked", .storage, \.storage.backupBlocked, .flag(stricter: true)),
        Setting("appDataEncryptionType", .storage, \.storage.encryption, .member),
    ]
}
