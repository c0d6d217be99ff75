/// What the service asks of every app, apart from policy (SRV-CI-016).
///
/// The service itself acts on ``telemetry`` alone, and refuses no app for its version. The other members travel in envelopes
/// for the apps, which follow them within bounds of their own.
public struct ServiceSettings: Sendable, Codable, Equatable {
    /// Whether an app that starts checks in although nothing is due yet, unless it did so moments ago.
    public var checkInOnLaunch: Bool
    /// How long to wait after the first, second, … failure of the network, in seconds; the last one repeats (SRV-CI-067).
    public var backOffSeconds: [Int]
    /// What telemetry the organisation wants (SRV-CI-074).
    public var telemetry: TelemetryLevel
    /// The least version of Cordon under which an app may show the organisation's data, nil for any.
    public var minimumSDKVersion: String?
    /// How old a key set may be when it vouches for a new envelope, in seconds; an older one is fetched again first.
    public var keySetMaxAgeSeconds: Int

    /// The documented values.
    public static let usual = ServiceSettings()

    /// Makes settings; the defaults are the documented ones.
    public init(
        checkInOnLaunch: Bool = true, backOffSeconds: [Int] = [60, 120, 300, 900, 1_800, 3_600],
        telemetry: TelemetryLevel = .required, minimumSDKVersion: String? = nil, keySetMaxAgeSeconds: Int = 3_600
    ) {
        self.checkInOnLaunch = checkInOnLaunch
        self.backOffSeconds = backOffSeconds
        self.telemetry = telemetry
        self.minimumSDKVersion = minimumSDKVersion
        self.keySetMaxAgeSeconds = keySetMaxAgeSeconds
    }
}

/// How much telemetry an organisation wants; of several switches the strictest wins (SRV-CI-074).
public enum TelemetryLevel: String, Sendable, Codable, CaseIterable {
    /// Nothing but what protection itself needs.
    case off
    /// Required events only.
    case required
    /// Optional events too.
    case optional
}
