public import Foundation

/// Something that an operator has to look at, kept until a receiver has it (SRV-TG-29). It names people by id alone.
public struct OperatorAlert: Sendable, Codable, Equatable {
    /// What an alert is about.
    public enum Kind: String, Sendable, Codable, CaseIterable {
        /// A wipe failed and is not tried again: data of the organisation is left on a device.
        case wipeFailed = "wipe.failed"
        /// An administrator or program has spent what they may wipe in an hour.
        case massWipe = "wipe.mass"
        /// A change of a policy makes apps remove data that kept it before.
        case destructivePolicy = "policy.destructive"
        /// A change waits for a second person.
        case changeWaits = "change.waiting"
        /// A role was given that may release changes or make roles.
        case roleGranted = "role.granted"
        /// Every signing key but a new one was withdrawn.
        case emergencyKey = "key.emergency"
        /// Apps have not taken their rules for more than a day.
        case rulesDrift = "rules.drift"
    }

    /// The id, random; the same at every delivery.
    public let id: String
    /// What it is about.
    public let kind: Kind
    /// When it happened.
    public let time: Date
    /// The wipe; nil where it is about none.
    public let operationID: String?
    /// The registration that was to be wiped.
    public let registrationID: String?
    /// The person, by object id.
    public let userID: String?
    /// The app.
    public let bundleID: String?
    /// How often the wipe was tried.
    public let attempts: Int?
    /// What it is about where that is no wipe, such as `policy/T_…`.
    public let target: String?
    /// The scope tags of each policy that it is about, as they were and as they became; nil where it is about none, and for an alert that an
    /// earlier version kept.
    let scopeTags: [[String]]?
    /// Who did or asked it, by id.
    public let actor: String?
    /// How many people it reaches.
    public let people: Int?
    /// When a receiver took it, nil before.
    public private(set) var delivered: Date?
    /// How many deliveries failed.
    public private(set) var failedDeliveries = 0
    /// When to try the next delivery; nil once it was delivered or given up.
    public private(set) var nextDelivery: Date?

    /// Makes an alert that no operator has seen yet.
    public init(
        id: String, kind: Kind, time: Date, operationID: String, registrationID: String, userID: String,
        bundleID: String, attempts: Int
    ) {
        self.id = id
        self.kind = kind
        self.time = time
        self.operationID = operationID
        self.registrationID = registrationID
        self.userID = userID
        self.bundleID = bundleID
        self.attempts = attempts
        (target, scopeTags, actor, people) = (nil, nil, nil, nil)
        self.nextDelivery = time
    }

    /// Makes an alert about something else than one wipe.
    init(
        id: String, kind: Kind, time: Date, target: String, scopeTags: [[String]]? = nil, actor: String, people: Int?
    ) {
        (self.id, self.kind, self.time) = (id, kind, time)
        (operationID, registrationID, bundleID, attempts) = (nil, nil, nil, nil)
        userID = target.hasPrefix("user/") ? String(target.dropFirst("user/".count)) : nil
        (self.target, self.scopeTags, self.actor, self.people) = (target, scopeTags, actor, people)
        nextDelivery = time
    }

    /// Notes how a delivery ended; a failed one is tried again, so many times as the limit allows. The alert's age says nothing: a clock
    /// that is or was ahead makes it old at once, or never.
    mutating func noteDelivery(succeeded: Bool, at now: Date, limit: Duration) {
        if succeeded {
            delivered = now
            nextDelivery = nil
            return
        }
        failedDeliveries += 1
        let isGivenUp = failedDeliveries >= Redelivery.attempts(in: limit)
        nextDelivery = isGivenUp ? nil : Redelivery.next(after: failedDeliveries, at: now)
    }
}

extension OperatorAlert {
    /// Whether what it is about exists for an administrator: policies of which nothing is known any more may have been anybody's.
    func isSeen(by administrator: Administrator, in records: some StorageReader) throws(ServiceError) -> Bool {
        guard !administrator.seesEveryPolicy, let target else { return true }
        guard target.hasPrefix("change/") else {
            return try ConcernedPolicies(entity: target, scopeTags: scopeTags).areSeen(by: administrator, in: records)
        }
        let change = try records.record(WaitingChange.self, String(target.dropFirst("change/".count)))
        return try change?.isSeen(by: administrator, in: records) ?? false
    }
}

extension OperatorAlert: StoredRecord {
    /// Alerts.
    public static var storageKind: StorageKind { .alert }
    /// The id.
    public var storageID: String { id }
    /// The person; ``StorageLookup/state`` while it waits to be delivered; when it is put away.
    public var lookups: [StorageLookup: String] {
        var lookups: [StorageLookup: String] = [.due: "ended/" + StorageTime.text(time)]
        lookups[.user] = userID.map(folded)
        if nextDelivery != nil { lookups[.state] = "open" }
        return lookups
    }
}
