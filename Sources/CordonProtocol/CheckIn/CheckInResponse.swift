internal import CordonPolicy
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

    private enum CodingKeys: String, CodingKey {
        case statusCode, unchanged, serviceTime, nextCheckInSeconds, envelope, contact
    }

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

extension CheckInResponse {
    /// The message as ``MessageCoding/encode(_:)`` writes it. By hand: an encoder costs several times what the text does, and most
    /// check-ins of all find nothing changed.
    package var bytes: Data {
        var members: [String: JSONValue] = [
            CodingKeys.statusCode.rawValue: .integer(Int64(statusCode.rawValue)),
            CodingKeys.unchanged.rawValue: .bool(unchanged),
            CodingKeys.serviceTime.rawValue: .string(serviceTime.formatted(.iso8601)),
            CodingKeys.nextCheckInSeconds.rawValue: .integer(Int64(nextCheckInSeconds)),
        ]
        members[CodingKeys.envelope.rawValue] = envelope.map(JSONValue.string)
        members[CodingKeys.contact.rawValue] = contact.map(JSONValue.string)
        return JSONValue.object(members).bytes
    }
}
