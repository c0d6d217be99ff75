/// What must hold of device, app and account (SRV-RS-029, 054…069, 081…087).
public struct ConditionalLaunch: Sendable, Equatable {
    /// A rooted device is refused (`deviceComplianceRequired`).
    public var deviceComplianceRequired = true
    /// What then happens (`appActionIfDeviceComplianceRequired`).
    public var actionIfNotCompliant = RemediationAction.block
    /// Time without check-in that blocks (`periodOfflineBeforeAccessCheck`).
    public var periodOfflineBeforeAccessCheck = Duration.seconds(24 * 60 * 60)
    /// Time without check-in that wipes; zero is never (`periodOfflineBeforeWipeIsEnforced`).
    public var periodOfflineBeforeWipe = Duration.seconds(90 * 24 * 60 * 60)
    /// Operating system (`minimumRequiredOsVersion` and its five neighbours).
    public var osVersion = VersionLimits()
    /// The app (`minimumRequiredAppVersion` and its neighbours); it has no maximum.
    public var appVersion = VersionLimits()
    /// This library (`minimumRequiredSdkVersion` and its neighbours); it has no maximum.
    public var sdkVersion = VersionLimits()
    /// The highest threat level (`maximumAllowedDeviceThreatLevel`).
    public var maximumThreatLevel = ThreatLevel.notConfigured
    /// What happens above it (`mobileThreatDefenseRemediationAction`).
    public var actionIfThreatened = RemediationAction.block
    /// Whose word counts (`mobileThreatDefensePartnerPriority`).
    public var threatPartnerPriority: ThreatPartnerPriority?
    /// What happens when the account is disabled (`appActionIfUnableToAuthenticateUser`).
    public var actionIfAccountDisabled: RemediationAction?
    /// Time between clocking out and blocking (`gracePeriodToBlockAppsDuringOffClockHours`).
    public var offClockGracePeriod: Duration?
    /// What happens outside working time (`appActionIfAccountIsClockedOut`).
    public var actionIfClockedOut: RemediationAction?
    /// Device models, lower case; nil admits all (`allowedIosDeviceModels`).
    public var allowedModels: Set<String>?
    /// What happens on another model (`appActionIfIosDeviceModelNotAllowed`).
    public var actionIfModelNotAllowed = RemediationAction.block

    /// The defaults of a new policy.
    public init() {}
}

/// Three thresholds each way for one version number; nil is not set.
public struct VersionLimits: Sendable, Equatable {
    /// Below this, warn.
    public var minimumWarning: VersionNumber?
    /// Below this, block.
    public var minimumRequired: VersionNumber?
    /// Wipe at or below this version; for this library, only below it.
    public var minimumWipe: VersionNumber?
    /// Above this, warn.
    public var maximumWarning: VersionNumber?
    /// Above this, block.
    public var maximumRequired: VersionNumber?
    /// Above this, wipe.
    public var maximumWipe: VersionNumber?

    /// No threshold.
    public init() {}
}
