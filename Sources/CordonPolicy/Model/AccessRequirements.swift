/// What a person must do before organisation data is shown (SRV-RS-025, 042…053, 080).
public struct AccessRequirements: Sendable, Equatable {
    /// Work sign-in at launch and resume (`organizationalCredentialsRequired`).
    public var organizationalCredentialsRequired = false
    /// An app PIN (`pinRequired`).
    public var pinRequired = true
    /// What the PIN is made of (`pinCharacterSet`).
    public var pinCharacterSet = PINCharacterSet.numeric
    /// Runs such as 123 or 111 are refused (`simplePinBlocked`).
    public var simplePinBlocked = false
    /// Characters at least (`minimumPinLength`).
    public var minimumPinLength = 4
    /// Wrong attempts before the action (`maximumPinRetries`).
    public var maximumPinRetries = 5
    /// `block` forces a new PIN after a fresh sign-in (`appActionIfMaximumPinRetriesExceeded`).
    public var actionIfMaximumPinRetriesExceeded = RemediationAction.block
    /// Age at which a PIN must be changed; zero is never (`periodBeforePinReset`).
    public var periodBeforePinReset = Duration.zero
    /// Former PINs that may not come back (`previousPinBlockCount`).
    public var previousPinBlockCount = 0
    /// Touch ID may not replace the PIN (`fingerprintBlocked`).
    public var fingerprintBlocked = false
    /// Face ID may not replace the PIN (`faceIdBlocked`).
    public var faceIdBlocked = false
    /// Time since the PIN was entered after which biometry no longer replaces it; zero is never
    /// (`pinRequiredInsteadOfBiometricTimeout`).
    public var pinRequiredInsteadOfBiometricTimeout = Duration.seconds(30 * 60)
    /// No app PIN where the device has a passcode (`disableAppPinIfDevicePinIsSet`).
    public var disableAppPinIfDevicePinIsSet = false
    /// Inactivity after which access is checked again (`periodOnlineBeforeAccessCheck`).
    public var periodOnlineBeforeAccessCheck = Duration.seconds(30 * 60)

    /// The defaults of a new policy.
    public init() {}
}
