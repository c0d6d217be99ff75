extension Setting {
    static let accessSettings: [Setting] = [
        Setting(
            "organizationalCredentialsRequired", .access, { $1(&$0.access.organizationalCredentialsRequired) },
            .flag(stricter: true)),
        Setting("pinRequired", .access, { $1(&$0.access.pinRequired) }, .flag(stricter: true)),
        Setting("pinCharacterSet", .access, { $1(&$0.access.pinCharacterSet) }, .member),
        Setting("simplePinBlocked", .access, { $1(&$0.access.simplePinBlocked) }, .flag(stricter: true)),
        Setting(
            "minimumPinLength", .access, { $1(&$0.access.minimumPinLength) }, in: 0...128, stricter: .higher),
        Setting(
            "maximumPinRetries", .access, { $1(&$0.access.maximumPinRetries) }, in: 1...65535, stricter: .lower),
        Setting(
            "appActionIfMaximumPinRetriesExceeded", .access, { $1(&$0.access.actionIfMaximumPinRetriesExceeded) },
            .action(.blockOrWipe)),
        Setting(
            "periodBeforePinReset", .access, { $1(&$0.access.periodBeforePinReset) }, .period(zeroIsNever: true),
            isNumber: true),
        Setting(
            "previousPinBlockCount", .access, { $1(&$0.access.previousPinBlockCount) }, in: 0...24, stricter: .higher),
        Setting("fingerprintBlocked", .access, { $1(&$0.access.fingerprintBlocked) }, .flag(stricter: true)),
        Setting("faceIdBlocked", .access, { $1(&$0.access.faceIdBlocked) }, .flag(stricter: true)),
        Setting(
            "pinRequiredInsteadOfBiometricTimeout", .access, { $1(&$0.access.pinRequiredInsteadOfBiometricTimeout) },
            .period(zeroIsNever: true), isNumber: true),
        Setting(
            "disableAppPinIfDevicePinIsSet", .access, { $1(&$0.access.disableAppPinIfDevicePinIsSet) },
            .flag(stricter: false)),
        Setting(
            "periodOnlineBeforeAccessCheck", .access, { $1(&$0.access.periodOnlineBeforeAccessCheck) },
            .period(zeroIsNever: false), isNumber: true),
    ]
}
