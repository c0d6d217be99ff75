import CordonProtocol
import CordonService
import Foundation

/// The body of `PUT /admin/v1/users/{id}/workingTime` (SRV-CI-026).
struct WorkingTimeMessage: Codable {
    var status: WorkingTimeReport.State
    var asOf: Date
    var validUntil: Date?

    init(_ time: WorkingTimeReport) {
        status = time.state
        asOf = Date(timeIntervalSince1970: Double(time.asOf))
        validUntil = time.validUntil.map { Date(timeIntervalSince1970: Double($0)) }
    }

    var time: WorkingTimeReport {
        WorkingTimeReport(
            state: status, asOf: Int64(asOf.timeIntervalSince1970),
            validUntil: validUntil.map { Int64($0.timeIntervalSince1970) })
    }
}

/// The answer to an erasure that has to wait for wipes.
struct ErasureMessage: Encodable {
    /// The ids of the wipes; erase again once they have ended.
    var wipes: [String]
}

/// The body of `POST /admin/v1/keys`.
struct KeyRotationMessage: Decodable {
    /// What the new key signs; envelopes where absent. The root key is never changed.
    var role: ServiceSigningKey.Role?
    /// When the new key begins to sign; seven days from now where absent.
    var activeFrom: Date?
    /// Whether the key signs at once and every other key ends; for a key that leaked. Not with ``activeFrom``, which would
    /// leave the leaked one in force until then.
    var isEmergency: Bool?

    /// How long a key is published before it signs (SRV-CI-084).
    static let usualNotice: TimeInterval = 7 * 86_400

    private enum CodingKeys: String, CodingKey {
        case role, activeFrom
        case isEmergency = "emergency"
    }
}

/// A signing key as operators see it.
struct SigningKeyMessage: Encodable {
    var id: String
    var role: ServiceSigningKey.Role
    var created: Date
    var activeFrom: Date
    var retires: Date?

    init(_ key: ServiceSigningKey) {
        id = key.id
        role = key.role
        created = key.created
        activeFrom = key.activeFrom
        retires = key.retires
    }
}
