/// How organisation data rests on the device (SRV-RS-028, 075).
public struct StorageRules: Sendable, Equatable {
    /// Files stay out of device and cloud backup (`dataBackupBlocked`).
    public var backupBlocked = false
    /// When files are readable (`appDataEncryptionType`).
    public var encryption = EncryptionLevel.whenDeviceLocked

    /// The defaults of a new policy.
    public init() {}

    /// Whether the app must write its organisation files encrypted (SDK-FP-01).
    public var encryptionRequired: Bool { encryption != .useDeviceSettings }
}
