public import Foundation

/// How one app of a person stands (SRV-TG-37).
public struct PersonAppStatus: Sendable, Codable, Equatable {
    /// Whether the app has run with the work account since a protection was assigned in it.
    public enum CheckIn: String, Sendable, Codable {
        /// It has.
        case checkedIn = "Checked in"
        /// It has not.
        case notCheckedIn = "Not checked in"
        /// No protection is assigned in it.
        case notAssigned = "Not assigned"
    }

    /// Whether a protection was in force at the last check-in.
    public enum Protection: String, Sendable, Codable {
        /// It was.
        case protected = "Protected"
        /// It was not, or there was no check-in.
        case unprotected = "Unprotected"
    }

    /// The app, in lower case.
    public let bundleID: String
    /// Whether it has checked in.
    public let checkIn: CheckIn
    /// Whether it is protected.
    public let protection: Protection
    /// The last check-in on any device, nil before the first.
    public let lastSync: Date?

    /// - Parameters:
    ///   - assigned: The ids of the protections that reach the person in the app.
    ///   - statuses: The person's enrolled copies of the app.
    init(_ bundleID: String, assigned: Set<String>, statuses: [ProtectionStatus]) {
        self.bundleID = bundleID
        let hasRun = statuses.contains { status in status.applied.contains { assigned.contains($0.id) } }
        checkIn = assigned.isEmpty ? .notAssigned : hasRun ? .checkedIn : .notCheckedIn
        protection = statuses.contains(where: \.isProtected) ? .protected : .unprotected
        lastSync = statuses.map(\.registration.lastSync).max()
    }
}
