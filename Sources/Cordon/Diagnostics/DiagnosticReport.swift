public import CordonIdentity
public import CordonPolicy
public import CordonProtocol
public import Foundation

/// Everything that helps to find out why an app's protection does what it does (SDK-LG-03).
///
/// It holds no key, no token, no content and no name of a file or person. It names accounts by their object ids; one that the app has not
/// registered, and may have asked about by its sign-in name, is `unregistered-1`, the next `unregistered-2`. Make it with
/// ``ProtectionDiagnostics/report()``; Cordon stores nothing of it.
public struct DiagnosticReport: Sendable, Codable, Equatable {
    /// When it was made.
    public var made: Date
    /// The app and the version of Cordon in it.
    public var application: ApplicationFacts
    /// Where the service is.
    public var service: URL
    /// Whether the device's clock was turned back since the last check-in.
    public var isClockTurnedBack: Bool
    /// The registered accounts, enrolled or not, and one under debug policies.
    public var accounts: [Account]
    /// How many registrations Cordon still has to tell the service to forget.
    public var waitingUnenrollments: Int
    /// How many wipe receipts the service does not have yet.
    public var waitingReceipts: Int
    /// Whether telemetry is on.
    public var isTelemetryEnabled: Bool
    /// The last denials with their reasons, the oldest first.
    public var denials: [Denial]

    /// What is known of an account.
    public struct Account: Sendable, Codable, Equatable {
        /// The account's object id; `unregistered-1` for one under debug policies.
        public var id: AccountID
        /// Whether it is enrolled here.
        public var isEnrolled: Bool
        /// `policy`, `none targeted`, `unreadable`, or `unknown` for one that is not enrolled.
        public var rules: String
        /// How the rules got here, nil while none are in force (SDK-CO-09).
        public var channel: PolicyChannel?
        /// The version of the rules in force, nil while none are.
        public var policyVersion: String?
        /// The policies that they were made of.
        public var policies: [PolicyReference]
        /// The sequence of the envelope in force, 0 while none is.
        public var sequence: Int64
        /// When the last check-in succeeded.
        public var lastCheckIn: Date?
        /// When the next check-in, or the next attempt to enrol, is due.
        public var next: Date?
        /// How many attempts failed in a row.
        public var failures: Int
        /// How the last attempt to enrol ended, nil before.
        public var lastStatus: EnrollmentStatus?
        /// The settings that its policies differ on, with every policy's value (SRV-TG-16).
        public var conflicts: [PolicyConflict]
        /// The keys of its app configuration; values may be personal and stay out.
        public var configurationKeys: [String]
    }

    /// One denial.
    public struct Denial: Sendable, Codable, Equatable {
        /// When.
        public var time: Date
        /// What was asked.
        public var action: String
        /// For whom, `unregistered-1` and so on for accounts that the app has not registered; nil for work without an account.
        public var account: AccountID?
        /// What was answered.
        public var verdict: Verdict
        /// Every reason.
        public var reasons: [Reason]
    }

    /// Why something was denied.
    public struct Reason: Sendable, Codable, Equatable {
        /// The rule.
        public var rule: String
        /// The setting, empty where none is involved.
        public var setting: String
        /// The policy that the setting comes from.
        public var policy: PolicyReference?
        /// What the person was told.
        public var message: String
    }
}
