public import CordonProtocol

/// Everything that the service keeps about a person (SRV-CI-095).
public struct PersonalData: Sendable, Codable, Equatable {
    /// The person's entry, nil when there is none any more.
    public var user: DirectoryUser?
    /// The ids of the groups that the person is directly in.
    public var groups: [String]
    /// The apps that were enrolled.
    public var registrations: [Registration]
    /// The wipes that were asked for.
    public var operations: [WipeOperation]
    /// What else the apps were told to do.
    public var commands: [IssuedCommand]
    /// The working time that was last reported.
    public var workingTime: WorkingTimeReport?
    /// Since when the person is blocked.
    public var block: UserBlock?
    /// Events of the last thirty days.
    public var telemetry: [TelemetryRecord]
    /// Logs that were asked for; their content is fetched apart.
    public var logs: [LogCollection]
    /// The ids of the shared devices that the person is on.
    public var sharedDevices: [String]
    /// The person's entry in the list of accounts that may be used, nil when there is none.
    public var allowedAccount: PolicyEnvelope.AllowedAccount?
    /// The names of the directory sources that brought the person.
    public var sources: [String]
    /// From when on the person's tokens count, nil when the identity provider never said so.
    public var revocation: SessionRevocation?
    /// What operators were told of wipes of the person's apps.
    public var alerts: [OperatorAlert]
    /// The changes that wait for another person, or did in the last weeks, and name the person; other people in their lists are left out, but
    /// not who asked and who decided.
    public var waitingChanges: [WaitingChange]
    /// Which rules the apps were given, also those whose registration is not kept any more.
    public var deliveries: [DeliveredRules]

    /// The words by which the person filters reports, as an administrator.
    public var reportFilters: [ReportFilter]

    /// Whether anything is kept.
    var isEmpty: Bool {
        user == nil && groups.isEmpty && registrations.isEmpty && operations.isEmpty && commands.isEmpty
            && workingTime == nil
            && block == nil && telemetry.isEmpty && logs.isEmpty && sharedDevices.isEmpty && allowedAccount == nil
            && sources.isEmpty && revocation == nil && alerts.isEmpty && waitingChanges.isEmpty && deliveries.isEmpty
            && reportFilters.isEmpty
    }
}
