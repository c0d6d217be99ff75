extension Setting {
    static let launchSettings: [Setting] = [
        Setting(
            "deviceComplianceRequired", .launch, { $1(&$0.launch.deviceComplianceRequired) }, .flag(stricter: true)),
        Setting(
            "appActionIfDeviceComplianceRequired", .launch, { $1(&$0.launch.actionIfNotCompliant) },
            .action(.blockOrWipe)),
        Setting(
            "periodOfflineBeforeAccessCheck", .launch, { $1(&$0.launch.periodOfflineBeforeAccessCheck) },
            .period(zeroIsNever: false), isNumber: true),
        Setting(
            "periodOfflineBeforeWipeIsEnforced", .launch, { $1(&$0.launch.periodOfflineBeforeWipe) },
            .period(zeroIsNever: true), isNumber: true),
        Setting(
            "minimumRequiredOsVersion", .launch, { $1(&$0.launch.osVersion.minimumRequired) },
            .version(stricter: .higher)),
        Setting(
            "minimumWarningOsVersion", .launch, { $1(&$0.launch.osVersion.minimumWarning) }, .version(stricter: .higher)
        ),
        Setting("minimumWipeOsVersion", .launch, { $1(&$0.launch.osVersion.minimumWipe) }, .version(stricter: .higher)),
        Setting(
            "maximumRequiredOsVersion", .launch, { $1(&$0.launch.osVersion.maximumRequired) },
            .version(stricter: .lower)),
        Setting(
            "maximumWarningOsVersion", .launch, { $1(&$0.launch.osVersion.maximumWarning) }, .version(stricter: .lower)),
        Setting("maximumWipeOsVersion", .launch, { $1(&$0.launch.osVersion.maximumWipe) }, .version(stricter: .lower)),
        Setting(
            "minimumRequiredAppVersion", .launch, { $1(&$0.launch.appVersion.minimumRequired) },
            .version(stricter: .higher)),
        Setting(
            "minimumWarningAppVersion", .launch, { $1(&$0.launch.appVersion.minimumWarning) },
            .version(stricter: .higher)),
        Setting(
            "minimumWipeAppVersion", .launch, { $1(&$0.launch.appVersion.minimumWipe) }, .version(stricter: .higher)),
        Setting(
            "minimumRequiredSdkVersion", .launch, { $1(&$0.launch.sdkVersion.minimumRequired) },
            .version(stricter: .higher)),
        Setting(
            "minimumWarningSdkVersion", .launch, { $1(&$0.launch.sdkVersion.minimumWarning) },
            .version(stricter: .higher)),
        Setting(
            "minimumWipeSdkVersion", .launch, { $1(&$0.launch.sdkVersion.minimumWipe) }, .version(stricter: .higher)),
        Setting("maximumAllowedDeviceThreatLevel", .launch, { $1(&$0.launch.maximumThreatLevel) }, .member),
        Setting(
            "mobileThreatDefenseRemediationAction", .launch, { $1(&$0.launch.actionIfThreatened) },
            .action(.blockOrWipe)),
        Setting(
            "mobileThreatDefensePartnerPriority", .launch, { $1(&$0.launch.threatPartnerPriority) },
            SettingCodec<ThreatPartnerPriority>.optionalMember),
        Setting(
            "appActionIfUnableToAuthenticateUser", .launch, { $1(&$0.launch.actionIfAccountDisabled) },
            .optionalAction(.blockOrWipe)),
        Setting(
            "gracePeriodToBlockAppsDuringOffClockHours", .launch, { $1(&$0.launch.offClockGracePeriod) }, .gracePeriod,
            isNumber: true),
        Setting("allowedIosDeviceModels", .launch, { $1(&$0.launch.allowedModels) }, .models),
        Setting(
            "appActionIfIosDeviceModelNotAllowed", .launch, { $1(&$0.launch.actionIfModelNotAllowed) },
            .action(.blockOrWipe)),
        Setting(
            "appActionIfAccountIsClockedOut", .launch, { $1(&$0.launch.actionIfClockedOut) },
            .optionalAction(.blockOrWarn)),
    ]

    static let storageSettings: [Setting] = [
        Setting("dataBackupBlocked", .storage, { $1(&$0.storage.backupBlocked) }, .flag(stricter: true)),
        Setting("appDataEncryptionType", .storage, { $1(&$0.storage.encryption) }, .member),
    ]
}
