/// What needs attention, as numbers.
public struct AttentionReport: Sendable, Codable, Equatable {
    /// Up to how many records are looked at one by one.
    static let mostLookedAt = 1_000
    /// After how many seconds a wipe should have been carried out.
    static let wipeWaits = 86_400.0

    /// Apps whose device found something wrong with itself.
    public let flaggedApps: Int
    /// Apps without the newest rules for more than ``DriftedApp/alertHours``.
    public let overdueApps: Int
    /// Wipes under way.
    public let openWipes: Int
    /// Wipes that wait for more than a day to be carried out, of the newest 500 that were asked for so long ago.
    public let waitingWipes: Int
    /// Apps that will be forgotten within ``ExpiringApp/noticeDays`` unless they check in.
    public let expiringApps: Int
    /// Wipes that failed or lapsed lately and that no other wipe has followed.
    public let failedWipes: Int
    /// Blocked people.
    public let blockedPeople: Int
    /// Alerts of the last thirty days.
    public let alerts: Int
}
