/// What the service asks of every app, apart from policy (SRV-CI-016).
///
/// The service itself acts on ``telemetry`` alone. The other members travel in envelopes for apps that follow them; `Cordon`
/// does not yet, and the service refuses no app for its version.
public struct ServiceSettings: Sendable, Codable, Equatable {
    /// Whether an app checks in whenever it starts.
    public var checkInOnLaunch: Bool
    /// How long to wait after the first, second, … failure of the network, in seconds; the last one repeats (SRV-CI-067).
    public var backOffSeconds: [Int]
    /// What telemetry the organisation wants (SRV-CI-074).
    public var telemetry: TelemetryLevel
    /// The least version of Cordon that an app is asked to have, nil for any.
    public var minimumSDKVersion: String?
    /// How long a key set may be kept before it is fetched again, in seconds.
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
