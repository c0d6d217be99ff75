/// How often an app and a person may ask (SRV-CI-090).
///
/// Reports of commands have a share of their own, as large as that of check-ins. Those of commands that the service issued
/// and waits to hear of are not held back when it is used up.
public struct CheckInLimits: Sendable, Equatable {
    /// Requests of one registration in a minute, in the long run.
    public var perRegistrationAndMinute: Double
    /// Requests of one registration at once.
    public var burst: Double
    /// Requests of one person in an hour.
    public var perPersonAndHour: Double
    /// Enrolments of one person in an hour.
    public var registrationsPerPersonAndHour: Double
    /// Statements of one shared device in a minute, in the long run; at once as many as of a registration.
    public var perSharedDeviceAndMinute: Double

    /// The most proofs of an app's key that are remembered at once: many times what the limits let it ask in the minutes for
    /// which proofs are remembered, with room for the pieces of a log.
    var proofsOfKey: Int { Int(min(max(256, 25 * burst), 1e9)) }

    /// The documented limits.
    public static let documented = CheckInLimits(
        perRegistrationAndMinute: 1, burst: 10, perPersonAndHour: 60, registrationsPerPersonAndHour: 5,
        perSharedDeviceAndMinute: 6)
    /// Limits that no person meets by hand, for development and measurements.
    public static let development = CheckInLimits(
        perRegistrationAndMinute: 1e6, burst: 1e6, perPersonAndHour: 1e9, registrationsPerPersonAndHour: 1e9,
        perSharedDeviceAndMinute: 1e6)

    /// Makes limits.
    public init(
        perRegistrationAndMinute: Double, burst: Double, perPersonAndHour: Double,
        registrationsPerPersonAndHour: Double, perSharedDeviceAndMinute: Double = 6
    ) {
        self.perRegistrationAndMinute = perRegistrationAndMinute
        self.burst = burst
        self.perPersonAndHour = perPersonAndHour
        self.registrationsPerPersonAndHour = registrationsPerPersonAndHour
        self.perSharedDeviceAndMinute = perSharedDeviceAndMinute
    }
}
