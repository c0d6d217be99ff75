public import CordonIdentity
public import Foundation

/// What the service answers to a registration (SRV-CI-002).
public struct RegistrationResult: Sendable, Codable, Equatable {
    /// The registration's id, random.
    public var registrationID: String
    /// The account, as the access token names it.
    public var account: ManagedAccount
    /// How it went: 100, 102 or 103.
    public var statusCode: EnrollmentStatus
    /// The service's clock.
    public var serviceTime: Date
    /// When to check in next, in seconds.
    public var nextCheckInSeconds: Int
    /// The first policy envelope, compact JWS.
    public var envelope: String

    /// Makes a result.
    public init(
        registrationID: String, account: ManagedAccount, statusCode: EnrollmentStatus, serviceTime: Date,
        nextCheckInSeconds: Int, envelope: String
    ) {
        self.registrationID = registrationID
        self.account = account
        self.statusCode = statusCode
        self.serviceTime = serviceTime
        self.nextCheckInSeconds = nextCheckInSeconds
        self.envelope = envelope
    }
}
