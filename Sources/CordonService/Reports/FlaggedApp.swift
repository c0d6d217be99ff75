internal import CordonIdentity
internal import CordonProtocol
public import Foundation

/// An app whose device found something wrong with itself (SRV-TG-39).
public struct FlaggedApp: Sendable, Codable, Equatable {
    /// The registration.
    public let registrationID: String
    /// The person, by object id.
    public let userID: String
    /// The person's name, nil once the person has left the directory.
    public let displayName: String?
    /// The app.
    public let bundleID: String
    /// The device's tag.
    public let deviceTag: String
    /// The device's name, where the app told one.
    public let deviceName: String?
    /// The platform, such as `iOS`.
    public let platform: String
    /// What was found, such as `rootedDevice`.
    public let reasons: [String]
    /// Since when it has been found.
    public let since: Date

    init(_ status: ProtectionStatus) {
        let registration = status.registration
        registrationID = registration.id
        userID = registration.account.id.rawValue
        displayName = status.user?.displayName
        bundleID = registration.application.bundleID
        deviceTag = registration.device.tag
        deviceName = registration.device.name
        platform = "iOS"
        reasons = status.flags
        since = registration.flaggedSince ?? registration.evidence?.refused ?? registration.lastSync
    }
}
