/// What is known of device, app and account when a question is asked. Nil is "not known", which is
/// never the same as "good": where a policy needs a fact that is nil, the answer is a denial that says so.
///
/// An app states ``rooted``, ``devicePINSet``, ``threatLevel`` and ``online``. It may state versions, model, ``accountDisabled`` and working
/// time where it knows them better than Cordon does. The other times, the age of the PIN and its wrong attempts are Cordon's own, and what an
/// app says of them does not count.
public struct DeviceFacts: Sendable, Hashable {
    /// Version of the operating system.
    public var osVersion: VersionNumber?
    /// Version of the app.
    public var appVersion: VersionNumber?
    /// Version of this library.
    public var sdkVersion: VersionNumber?
    /// Whether the device is rooted or jailbroken.
    public var rooted: Bool?
    /// Time since the last successful check-in; negative when the clock was turned back.
    public var sinceCheckIn: Duration?
    /// Time since the PIN was last entered; negative when the clock was turned back.
    public var sincePIN: Duration?
    /// Time since the last work sign-in.
    public var sinceSignIn: Duration?
    /// Age of the PIN.
    public var pinAge: Duration?
    /// Wrong PIN attempts in a row.
    public var failedPINAttempts: Int?
    /// Whether the device itself has a passcode.
    public var devicePINSet: Bool?
    /// What the threat defence says; nil when it says nothing.
    public var threatLevel: ThreatLevel?
    /// Model identifier, in any letter case.
    public var model: String?
    /// Whether the service confirmed that the account is disabled or deleted.
    public var accountDisabled: Bool?
    /// The account's working-time status.
    public var clockStatus: ClockStatus?
    /// Time since the account clocked out.
    public var sinceClockOut: Duration?
    /// Whether the device is online.
    public var online: Bool?

    /// Nothing known.
    public init() {}

    /// Nothing known.
    public static let unknown = DeviceFacts()
}

/// Working-time status of an account, with the field's numbers (SDK-US-01).
public enum ClockStatus: Int, Sendable, Hashable, Codable, CaseIterable {
    /// No clock is connected.
    case notConfigured = 0
    /// Connected, but nothing known.
    case unknown = 1
    /// At work.
    case clockedIn = 2
    /// Not at work.
    case clockedOut = 3
    /// Was at work when last heard of, too long ago.
    case clockedInStale = 4
    /// Was not at work when last heard of, too long ago.
    case clockedOutStale = 5
}
