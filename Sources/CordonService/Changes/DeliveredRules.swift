internal import CordonIdentity
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
    /// The version of that envelope.
    public let version: String
    /// When they were delivered.
    public let delivered: Date
    /// The policies and configurations, as they were then.
    public let policies: [PolicyReference]
    /// The object ids of the accounts that may be used, nil for no restriction.
    public internal(set) var allowedAccounts: [String]?
    /// The sequence of the rules before, 0 for the first; nil for what an earlier version wrote.
    public internal(set) var previous: Int64?
    /// When the app first said that it has them in force; nil where it never did.
    public internal(set) var applied: Date?
    /// When the app first said that it has later ones in force, or when the registration closed; nil as long as neither is known.
    public internal(set) var superseded: Date?
    /// The folded object id of the person, once the registration was put away, which says it until then.
    public internal(set) var user: String?

    static func storageID(_ registrationID: String, _ sequence: Int64) -> String { "\(registrationID)/\(sequence)" }
}

extension DeliveredRules: StoredRecord {
    /// What was delivered.
    public static var storageKind: StorageKind { .deliveredRules }
    /// The registration and the sequence.
    public var storageID: String { Self.storageID(registrationID, sequence) }
    /// The registration, the person where it is put away, and for what has ended, when.
    public var lookups: [StorageLookup: String] {
        var lookups: [StorageLookup: String] = [.registration: registrationID]
        lookups[.user] = user
        if let superseded { lookups[.due] = "ended/" + StorageTime.text(superseded) }
        return lookups
    }
}

extension DeliveredRules {
    /// The rules of one registration that have ended, each with its end: when the app first had later ones in force.
    ///
    /// - Parameters:
    ///   - all: All of one registration, in any order.
    ///   - end: When the others ended, nil where they may be in force still.
    package static func ended(among all: [DeliveredRules], others end: Date?) -> [DeliveredRules] {
        var (ended, next): ([DeliveredRules], Date?) = ([], nil)
        for var rules in all.sorted(by: { $0.sequence > $1.sequence }) {
            let applied = rules.applied
            rules.superseded = rules.superseded ?? next ?? end
            if rules.superseded != nil { ended.append(rules) }
            next = applied ?? next
        }
        return ended
    }
}

extension Change {
    /// Ends the rules of a registration that maintenance removes, and notes the person, so that erasing the person finds them.
    func endRules(of registration: Registration) throws(ServiceError) {
        let all = try records(DeliveredRules.self, where: (.registration, registration.id))
        for var rules in DeliveredRules.ended(among: all, others: registration.closed ?? registration.lastSync) {
            rules.user = folded(registration.account.id.rawValue)
            try save(rules)
        }
    }

    /// Writes down that the newest rules of a registration are in force and those before are not, where that was not known.
    func noteApplied(_ registration: Registration) throws(ServiceError) {
        guard let sequence = registration.lastEnvelope?.rulesSince,
            var rules = try record(DeliveredRules.self, DeliveredRules.storageID(registration.id, sequence)),
            rules.applied == nil
        else { return }
        rules.applied = now
        try save(rules)
        var last = rules
        while let previous = last.previous {
            guard var earlier = try record(DeliveredRules.self, DeliveredRules.storageID(registration.id, previous)),
                earlier.superseded == nil
            else { return }
            earlier.superseded = now
            try save(earlier)
            // Those before it ended when it came into force.
            guard earlier.applied == nil else { return }
            last = earlier
        }
        // What an earlier version wrote does not say what came before.
        for var earlier in try records(DeliveredRules.self, where: (.registration, registration.id))
        where earlier.sequence < last.sequence && earlier.superseded == nil {
            earlier.superseded = now
            try save(earlier)
        }
    }
}
