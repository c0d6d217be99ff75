public import CordonPolicy
internal import CordonProtocol
public import Foundation

/// Rules that one registration was given: written when they are first delivered, and once more when the app has said that it
/// has them in force.
public struct DeliveredRules: Sendable, Codable, Equatable {
    /// The registration.
    public let registrationID: String
    /// The sequence of the first envelope that said so.
    public let sequence: Int64
    /// The version of the whole set.
    public let version: String
    /// When they were delivered.
    public let delivered: Date
    /// The policies and configurations, as they were then.
    public let policies: [PolicyReference]
    /// The object ids of the accounts that may be used, nil for no restriction.
    public let allowedAccounts: [String]?
    /// When the app first said that it has them in force; nil where it never did.
    public internal(set) var applied: Date?
    /// When the app first said that it has later ones in force; nil as long as it never did.
    public internal(set) var superseded: Date?

    static func storageID(_ registrationID: String, _ sequence: Int64) -> String { "\(registrationID)/\(sequence)" }
}

extension DeliveredRules: StoredRecord {
    /// What was delivered.
    public static var storageKind: StorageKind { .deliveredRules }
    /// The registration and the sequence.
    public var storageID: String { Self.storageID(registrationID, sequence) }
    /// The registration, and for what has ended, when.
    public var lookups: [StorageLookup: String] {
        var lookups: [StorageLookup: String] = [.registration: registrationID]
        if let superseded { lookups[.due] = "ended/" + StorageTime.text(superseded) }
        return lookups
    }
}

extension Change {
    /// Writes down that the newest rules of a registration are in force and those before are not, where that was not known.
    func noteApplied(_ registration: Registration) throws(ServiceError) {
        guard let sequence = registration.lastEnvelope?.rulesSince,
            var rules = try record(DeliveredRules.self, DeliveredRules.storageID(registration.id, sequence)),
            rules.applied == nil
        else { return }
        rules.applied = now
        try save(rules)
        for var earlier in try records(DeliveredRules.self, where: (.registration, registration.id))
        where earlier.sequence < sequence && earlier.superseded == nil {
            earlier.superseded = now
            try save(earlier)
        }
    }
}
