internal import CordonIdentity
internal import CordonProtocol
public import Foundation

/// An app that will be forgotten soon because it has not checked in for long.
public struct ExpiringApp: Sendable, Codable, Equatable {
    /// How many days before it is forgotten an app is named.
    public static let noticeDays = 14

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
    /// When the service forgets the app unless it checks in.
    public let expires: Date

    init(_ registration: Registration, _ configuration: ServiceConfiguration) {
        registrationID = registration.id
        userID = registration.account.id.rawValue
        bundleID = registration.application.bundleID
        deviceTag = registration.device.tag
        lastSync = registration.lastSync
        expires = registration.lastSync.addingTimeInterval(configuration.registrationLifetime / .seconds(1))
    }

    /// The apps to name, by when they last checked in.
    static func range(at now: Date, _ configuration: ServiceConfiguration) -> Range<String> {
        let lifetime = configuration.registrationLifetime / .seconds(1)
        return StorageTime.range("active", upTo: now.addingTimeInterval(Double(noticeDays) * 86_400 - lifetime))
    }
}
