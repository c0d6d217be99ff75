internal import CordonIdentity
public import CordonPolicy
internal import CordonProtocol
public import Foundation

/// An app that has other rules in force than it should (SRV-TG-42).
public struct DriftedApp: Sendable, Codable, Equatable {
    /// How long rules may be under way before an operator should look, in hours.
    public static let alertHours = 24.0

    /// The registration.
    public let registrationID: String
    /// The person, by object id.
    public let userID: String
    /// The app.
    public let bundleID: String
    /// The device's tag.
    public let deviceTag: String
    /// The last check-in.
    public let lastSync: Date
    /// The policies that should be in force, ordered by id; those that the caller may see.
    public let intended: [PolicyReference]
    /// The policies that the app said it has in force, ordered by id; those that the caller may see.
    public let applied: [PolicyReference]
    /// Since when they differ.
    public let since: Date
    /// How long they have differed, in hours.
    public let hours: Double
    /// Whether that is longer than ``alertHours``.
    public let isOverdue: Bool

    init(_ registration: Registration, intended: [PolicyReference], applied: [PolicyReference], at now: Date) {
        registrationID = registration.id
        userID = registration.account.id.rawValue
        bundleID = registration.application.bundleID
        deviceTag = registration.device.tag
        lastSync = registration.lastSync
        self.intended = intended
        self.applied = applied
        since = registration.driftSince ?? registration.lastSync
        hours = max(0, now.timeIntervalSince(since)) / 3_600
        isOverdue = hours > Self.alertHours
    }
}
