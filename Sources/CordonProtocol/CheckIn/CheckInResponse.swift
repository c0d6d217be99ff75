public import Foundation

/// What the service answers to a check-in.
public struct CheckInResponse: Sendable, Codable, Equatable {
    /// How it went: 100, 101, 102 or 103.
    public var statusCode: EnrollmentStatus
    /// Whether the envelope in force on the device is still the current one; ``envelope`` is nil then.
    public var unchanged: Bool
    /// The service's clock.
    public var serviceTime: Date
    /// When to check in next, in seconds.
    public var nextCheckInSeconds: Int
    /// The new envelope, compact JWS.
    public var envelope: String?
    /// The service's signed word that it answered this request, a ``ContactProof`` as compact JWS; nil from older services.
    public var contact: String?

    /// Makes a response.
    public init(
        statusCode: EnrollmentStatus, unchanged: Bool, serviceTime: Date, nextCheckInSeconds: Int, envelope: String?,
        contact: String? = nil
    ) {
        self.statusCode = statusCode
        self.unchanged = unchanged
        self.serviceTime = serviceTime
        self.nextCheckInSeconds = nextCheckInSeconds
        self.envelope = envelope
        self.contact = contact
    }
}
