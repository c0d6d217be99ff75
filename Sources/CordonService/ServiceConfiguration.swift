public import CordonPolicy

/// The times and limits that an operator may set; the defaults are the documented ones.
public struct ServiceConfiguration: Sendable, Equatable {
    /// When an app should check in next (SRV-CI-065).
    public var checkInInterval = Duration.seconds(30 * 60)
    /// How long an envelope is acceptable as new; never longer than the policy's offline-wipe period (SRV-CI-083).
    public var envelopeLifetime = Duration.seconds(7 * 86_400)
    /// How long a registration lives without check-in (SRV-CI-069).
    public var registrationLifetime = Duration.seconds(90 * 86_400)
    /// How long a registration that has ended stays in the lists; one that a wipe is still owed to stays until it is done.
    public var closedRegistrationRetention = Duration.seconds(90 * 86_400)
    /// How long one stays that was wiped: until then the app must bring a fresh sign-in to come back (SRV-TG-30).
    public var wipedRegistrationRetention = Duration.seconds(400 * 86_400)
    /// How long a wipe waits to be fetched where no policy limits the time offline (SRV-TG-28).
    public var wipeLifetime = Duration.seconds(94 * 86_400)
    /// How long a command other than a wipe waits to be reported (SRV-CI-006).
    public var commandLifetime = Duration.seconds(14 * 86_400)
    /// How long a finished wipe or command stays in the list; the audit log keeps it (SRV-TG-28).
    public var finishedWipeRetention = Duration.seconds(4 * 86_400)
    /// How often a failed wipe is tried in all (SRV-TG-29).
    public var wipeAttempts = 3
    /// How long it is tried to deliver an alert, counted by the attempts that fall into it (SRV-TG-29).
    public var alertDeliveryLimit = Duration.seconds(3 * 86_400)
    /// How long an alert stays in the list, delivered or not.
    public var alertRetention = Duration.seconds(30 * 86_400)
    /// How many registrations one person may have open at once: their apps on all of their devices. Of open and closed ones together, 25
    /// times as many are kept.
    public var registrationsPerPerson = 200
    /// How many people one administrator or program may make lose data in an hour, by wipes and by policies, without a second
    /// person.
    public var wipeBudget = 20
    /// How many people a change may make lose data without repeating the token of its impact.
    public var impactLimit = 5
    /// How long a change waits before it passes by itself where fewer than two people could release it.
    public var approvalDelay = Duration.seconds(3_600)
    /// How long a change waits to be released, and then to be made.
    public var approvalLifetime = Duration.seconds(86_400)
    /// How long a change that waited for a second person stays in the list once it is over; the audit log keeps it.
    public var changeRetention = Duration.seconds(30 * 86_400)
    /// How long versions of policies and filters, and what was delivered to whom, are kept after something newer took their
    /// place.
    public var versionRetention = Duration.seconds(2 * 366 * 86_400)
    /// How long telemetry is kept as it came; afterwards only numbers by day (SRV-CI-075).
    public var telemetryRetention = Duration.seconds(30 * 86_400)
    /// How long logs are waited for and kept (SRV-CI-015).
    public var logRetention = Duration.seconds(14 * 86_400)
    /// How long a signed key set is valid, so that one that was recorded soon counts no more; another is signed at half of that.
    public var keySetLifetime = Duration.seconds(3 * 86_400)
    /// How long a key stays published after its successor began to sign, so that stored envelopes stay readable.
    public var keyRetirement = Duration.seconds(94 * 86_400)
    /// How many apps are told of a change in a second, about, so that they do not all come back in the same one.
    public var announcementsPerSecond = 500
    /// Whether a person whom only the OpenID provider knows becomes a person of the directory at the first enrolment;
    /// otherwise people come by administration, SCIM or a directory file alone.
    public var createsPeopleAtSignIn = false
    /// What happens when policies differ in a number field (SRV-TG-12).
    public var numericConflict = NumericConflict.mostRestrictive

    /// The documented values.
    public init() {}
}

extension Duration {
    /// The whole seconds.
    var wholeSeconds: Int64 { components.seconds }
}
