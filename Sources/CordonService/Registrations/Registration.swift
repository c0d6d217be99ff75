public import CordonIdentity
public import CordonPolicy
public import CordonProtocol
public import Foundation

/// One app of one person on one device, bound to one key (SRV-RS-118, SRV-TG-34).
public struct Registration: Sendable, Codable, Equatable {
    /// The id, random (SRV-CI-095).
    public let id: String
    /// The account.
    public let account: ManagedAccount
    /// The key that every request of the registration is signed with.
    public let key: JSONWebKey
    /// How the enrolment came about.
    public let source: RegistrationRequest.Source
    /// When it was made.
    public let created: Date
    /// The app, as last reported.
    public var application: ApplicationFacts
    /// The device, as last reported.
    public var device: DeviceDescription
    /// What the device found wrong with itself at the last check-in.
    public private(set) var health: [CheckInRequest.DeviceHealth]
    /// The last check-in; written at most once a minute while nothing else changes.
    public var lastSync: Date
    /// Since when the device has found something wrong with itself, nil while it is clean (SRV-TG-39).
    public private(set) var flaggedSince: Date?
    /// Since when other rules may be in force than should be, nil once the app has confirmed the newest (SRV-TG-42).
    public var driftSince: Date?
    /// The digest of the rules that the app was told of by an event since its last check-in; nil for none.
    var announced: String?
    /// The reason of a wipe that lapsed without a receipt, which the app is told again when it comes back; nil otherwise.
    public internal(set) var missedWipe: Command.Reason?
    /// Whether the registration still counts.
    public private(set) var state: State
    /// When it ceased to count; nil while it does, and for one that a version before closed.
    public private(set) var closed: Date?
    /// The newest envelope, nil before the first.
    public var lastEnvelope: IssuedEnvelope?
    /// What the device said it had applied at the last check-in.
    public var applied: [PolicyReference]
    /// What launch conditions did last, oldest first; nil when nothing was reported (SRV-CI-011).
    public var outcomes: [ConditionReport]?
    /// Codes and times of envelopes that the device did not accept, oldest first; nil when none was reported (SRV-CI-085).
    public var refusedEnvelopes: [String]?

    /// The highest generation of its own record that the app has reported; nil where it reports none.
    var stateGeneration: Int64?
    /// That number, nil where no app can have counted to it: services before took such ones from requests that were changed on their way.
    var plausibleGeneration: Int64? {
        stateGeneration.flatMap { $0 < CheckInRequest.endOfGenerations ? $0 : nil }
    }

    /// What else the provider calls the person, by which its security events name them; nil where that is the account's id.
    var otherSubject: String?

    /// How much of a day's share of the audit log the registration has taken; nil for nothing.
    var reportShare: ReportShare?

    /// The ids of failed wipes that were put away, newest last: their receipts say nothing new. Nil for none.
    private(set) var endedWipes: [String]?

    /// What platform evidence has shown of the app; nil where none came (SRV-CI-082).
    public internal(set) var evidence: VerifiedEvidence?

    /// How many outcomes and refusals are remembered: as many as one check-in may bring, so that a repeated one is known.
    static let mostOutcomes = CheckInRequest.mostOutcomes

    /// Whether a registration still counts.
    public enum State: String, Sendable, Codable {
        /// It checks in.
        case active
        /// The app unregistered it.
        case unregistered
        /// A wipe removed the organisation's data (SRV-TG-30).
        case wiped
        /// The app registered again on the same device with a new key.
        case superseded
        /// It did not check in for too long (SRV-CI-069).
        case expired
        /// An administrator removed it.
        case forgotten
    }

    /// What the service remembers of an envelope it issued; the envelope itself is not kept.
    public struct IssuedEnvelope: Sendable, Codable, Equatable {
        /// Rises with every envelope of the registration (SRV-CI-085).
        public var sequence: Int64
        /// The version of the set of policies.
        public var version: String
        /// The SHA-256 of the signed text, base64url.
        public var digest: String
        /// The policies and configurations in it.
        public var policies: [PolicyReference]
        /// Whether any policy was targeted (code 103 otherwise).
        public var hasPolicy: Bool
        /// True where the key that signed it was taken out of use, so that the next check-in brings another; nil otherwise.
        public var isWithdrawn: Bool?
        /// The digest of the policies and configurations in it; nil for one that a version before issued.
        var rules: String?
        /// The organisation's epoch at its issue, nil for the first.
        var epoch: Int64?
        /// The sequence of the first envelope with these rules; nil for what a service before issued.
        var rulesSince: Int64?
        /// Whether the app said that it has them in force.
        var isApplied: Bool?

        /// Makes a memory of an envelope.
        public init(sequence: Int64, version: String, digest: String, policies: [PolicyReference], hasPolicy: Bool) {
            self.sequence = sequence
            self.version = version
            self.digest = digest
            self.policies = policies
            self.hasPolicy = hasPolicy
        }
    }

    /// Makes an active registration.
    public init(
        id: String, account: ManagedAccount, key: JSONWebKey, source: RegistrationRequest.Source, created: Date,
        application: ApplicationFacts, device: DeviceDescription
    ) {
        self.id = id
        self.account = account
        self.key = key
        self.source = source
        self.created = created
        self.application = application
        self.device = device
        self.health = []
        self.lastSync = created
        self.state = .active
        self.lastEnvelope = nil
        self.applied = []
    }

    /// Ends the registration.
    mutating func close(_ state: State, at now: Date) {
        self.state = state
        closed = now
    }

    /// Remembers a failed wipe that is put away.
    mutating func notePutAway(_ operation: WipeOperation) {
        endedWipes = ((endedWipes ?? []) + [operation.id]).suffix(Self.mostEndedWipes)
    }

    /// How many failed wipes are remembered: those of two months, since a device reports one of its own in a day.
    private static let mostEndedWipes = 64

    /// Takes down what the device found wrong with itself; what it goes on finding keeps its time.
    mutating func note(_ found: [CheckInRequest.DeviceHealth], at now: Date) {
        if found.flagged.isEmpty {
            flaggedSince = nil
        } else if Set(found.flagged) != Set(health.flagged) || flaggedSince == nil {
            flaggedSince = now
        }
        health = found
    }
}

extension Registration {
    /// What is wrong: what the device found, and `appEvidence` where the app can no longer show that it is the organisation's. Empty for a clean one.
    var flags: [String] { health.flagged.map(\.rawValue) + (evidence?.refused == nil ? [] : ["appEvidence"]) }
}

extension [CheckInRequest.DeviceHealth] {
    /// What is wrong with a device. That nothing counts an app's state is a limit of the kind of device, and no finding.
    public var flagged: Self { filter { $0 != .uncountedState } }
}
