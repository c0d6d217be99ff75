extension Setting {
    static let accessSettings: [Setting] = [
        Setting(
            "organizationalCredentialsRequired", .access, \.access.organizationalCredentialsRequired,
            .flag(stricter: true)),
        Setting("pinRequired", .access, \.access.pinRequired, .flag(stricter: true)),
        Setting("pinCharacterSet", .access, \.access.pinCharacterSet, .member),
        Setting("simplePinBlocked", .access, \.access.simplePinBlocked, .flag(stricter: true)),
        Setting(
            "minimumPinLength", .access, \.access.minimumPinLength, in: 0...128, stricter: .higher),
        Setting(
            "maximumPinRetries", .access, \.access.maximumPinRetries, in: 1...65535, stricter: .lower),
        Setting(
            "appActionIfMaximumPinRetriesExceeded", .access, \.access.actionIfMaximumPinRetriesExceeded,
            .action(.blockOrWipe)),
        Setting(
            "periodBeforePinReset", .access, \.access.periodBeforePinReset, .period(zeroIsNever: true), isNumber: true),
        Setting(
            "previousPinBlockCount", .access, \.access.previousPinBlockCount, in: 0...24, stricter: .higher),
        Setting("fingerprintBlocked", .access, \.access.fingerprintBlocked, .flag(stricter: true)),
        Setting("faceIdBlocked", .access, \.access.faceIdBlocked, .flag(stricter: true)),
        Setting(
            "pinRequiredInsteadOfBiometricTimeout", .access, \.access.pinRequiredInsteadOfBiometricTimeout,
            .period(zeroIsNever: false), isNumber: true),
        Setting(
            "disableAppPinIfDevicePinIsSet", .access, \.access.disableAppPinIfDevicePinIsSet, .flag(stricter: false)),
        Setting(
            "periodOnlineBeforeAccessCheck", .access, \.access.periodOnlineBeforeAccessCheck,
            .period(zeroIsNever: false), isNumber: true),
    ]
}
