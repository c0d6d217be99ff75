internal import CordonIdentity
internal import CordonPolicy
internal import CordonProtocol
internal import Foundation

/// What an app remembers of one enrolled account, apart from the envelope and the device key.
struct RegistrationRecord: Codable, Equatable, Sendable {
    /// The version of this form, see ``StateFormat``.
    var version = StateFormat.current
    /// Rises with every write: tells a state that was rolled back, and what another process wrote.
    var generation: Int64 = 0
    /// The registration's id at the service.
    var registrationID: String
    /// The account.
    var account: ManagedAccount
    /// Where the service is, as discovered at enrolment.
    var discovery: ServiceDiscovery
    /// The service's keys as received; verified against the pinned root at every use.
    var keys: SignedKeySet
    /// When they were fetched, by the device's clock; nil in records of older versions.
    var keysFetched: Date?
    /// The envelope in force as received; verified again at every start (SRV-CI-083).
    var envelope: SignedEnvelope
    /// The sequence of that envelope, for telling which of two processes has the newer one.
    var sequence: Int64 = 0
    /// When the last check-in succeeded, by the device's clock.
    var lastCheckIn: Date
    /// That moment by the machine's uptime besides; nil in records of older versions.
    var contacted: ClockReading?
    /// The service's signed word of that check-in, as received; nil where the last news came with an enrolment, or from an older service.
    var contact: String?
    /// When to check in next.
    var nextCheckIn: Date
    /// When that was planned, by the device's clock; nil in records of older versions.
    var planned: Date?
    /// How many check-ins failed since.
    var failures = 0
    /// What the service last said of the account: true when it is disabled or removed, false when a check-in succeeded, nil
    /// where that is not confirmed (SRV-TG-32).
    var isAccountDisabled: Bool?
    /// The last event seen in the event stream.
    var lastEventID: String?
    /// The device's tag where Cordon made it, gone with this record; nil where the app gives one, and in records of older
    /// versions (SRV-CI-095).
    var deviceTag: String?
    /// The evidence that was shown; nil before the first, and in records of older versions.
    var evidence: EvidenceReports.Shown?
    /// The wipe of the account that has begun; nil before, and in records of older versions.
    var wipe: BegunWipe?

    /// Whether the keys are young enough to vouch for a new envelope; a clock that went back makes them old.
    func hasFreshKeys(under settings: ServiceSettings, at now: Date) -> Bool {
        guard let keysFetched else { return false }
        let limit = min(max(TimeInterval(settings.keySetMaxAgeSeconds), 60), Intervals.day)
        return (-Intervals.clockTolerance...limit).contains(now.timeIntervalSince(keysFetched))
    }

    /// Whether the numbers are ones that counting can have led to; a plain record could come from anywhere.
    var isPlausible: Bool { (0...1 << 53).contains(generation) && (0...1 << 31).contains(failures) }

    /// The receiver that envelopes must name.
    func receiver(bundleID: String) -> SignedEnvelope.Receiver {
        SignedEnvelope.Receiver(
            tenant: account.tenant, registrationID: registrationID, account: account.id, bundleID: bundleID)
    }
}

extension RegistrationRecord: JSONReadable {
    init(_ members: JSONMembers) throws(PolicyError) {
        self.init(
            version: try members.number("version"), generation: try members.number("generation"),
            registrationID: try members.text("registrationID"), account: try members.read("account"),
            discovery: try members.read("discovery"), keys: try members.read("keys"),
            keysFetched: try members.optionalTime("keysFetched"),
            envelope: SignedEnvelope(try members.text("envelope")), sequence: try members.number("sequence"),
            lastCheckIn: try members.time("lastCheckIn"), contacted: try members.readIfPresent("contacted"),
            contact: try members.optionalText("contact"), nextCheckIn: try members.time("nextCheckIn"),
            planned: try members.optionalTime("planned"), failures: try members.count("failures"),
            isAccountDisabled: try members.optionalFlag("isAccountDisabled"),
            lastEventID: try members.optionalText("lastEventID"), deviceTag: try members.optionalText("deviceTag"),
            evidence: try members.decodeIfPresent(EvidenceReports.Shown.self, "evidence"),
            wipe: try members.decodeIfPresent(BegunWipe.self, "wipe"))
    }
}
