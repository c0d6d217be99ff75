/// What follows from a launch condition that is not met (SRV-RS-165, SRV-RS-177).
public enum RemediationAction: String, StrictnessOrdered, Codable {
    /// Remove the organisation's data, then deny.
    case wipe
    /// Deny organisation data.
    case block
    /// Deny only where the check can be made.
    case blockWhenSettingIsSupported
    /// Say so, and go on.
    case warn

    /// An unknown action denies but never destroys.
    public static var whenUnknown: RemediationAction { .block }
}

/// The highest threat level a device may report (SRV-RS-169).
public enum ThreatLevel: String, StrictnessOrdered, Codable {
    /// No threat.
    case secured
    /// Low.
    case low
    /// Medium.
    case medium
    /// High.
    case high
    /// Not looked at.
    case notConfigured
}

/// Which of two threat-defence partners is believed (SRV-RS-170). Neither is stricter.
public enum ThreatPartnerPriority: String, StrictnessOrdered, Codable {
    /// The platform's own.
    case defenderOverThirdPartyPartner
    /// The third party's.
    case thirdPartyPartnerOverDefender
}

/// What a PIN is made of (SRV-RS-162).
public enum PINCharacterSet: String, StrictnessOrdered, Codable {
    /// At least one letter or symbol.
    case alphanumericAndSymbol
    /// Digits.
    case numeric
}

/// When files are readable (SRV-RS-161).
public enum EncryptionLevel: String, StrictnessOrdered, Codable {
    /// While the device is unlocked.
    case whenDeviceLocked
    /// While unlocked, and open files after that.
    case whenDeviceLockedExceptOpenFiles
    /// From the first unlock after a start.
    case afterDeviceRestart
    /// As the device is set; no encryption of our own.
    case useDeviceSettings
}
