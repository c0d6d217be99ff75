internal import CordonIdentity
internal import CordonProtocol
internal import Foundation

extension PendingWork {
    /// What an app remembers besides its registrations: what is still to be tried, and the time it has seen.
    struct Record: Codable, Equatable, Sendable {
        /// The version of this form, see ``StateFormat``.
        var version = StateFormat.current
        /// The accounts that the app has registered, enrolled or not (SDK-EN-01).
        var registered: [Registered] = []
        /// Registrations that the service has not been told to forget yet.
        var unenrollments: [Unenrollment] = []
        /// Envelopes that were refused and not reported yet (SRV-CI-085).
        var refusals: [RefusedEnvelope] = []
        /// The compliance remediations that wait, the first one in progress (SDK-CA-04).
        var remediations: [Remediation] = []
        /// The results of remediations that no observer was told of yet: they outlive a restart (SDK-CA-05).
        var remediated: [RemediationResult] = []
        /// The latest moment that the device's clock has shown.
        var latestMoment = Date.distantPast
        /// Whether that moment was lost or put back, until the service is reached; nil for no, and in records of older versions.
        var isMomentInDoubt: Bool?
        /// How long the machine was seen to run; nil in records of older versions.
        var runTime: RunTime?
        /// The person's or the app's own switch for telemetry (SDK-TE-03).
        var telemetryEnabled = true

        /// What launch conditions did and the service has not been told (SRV-CI-011); nil in records of older versions.
        var outcomes: [Outcome]?
        /// The logs that administrators asked for; nil in records of older versions.
        var logOrders: [LogOrder]?
        /// The commands that were begun and have not lapsed, so that none is carried out twice (SRV-CI-086); nil in records of
        /// older versions.
        var begunCommands: [BegunCommand]?

        /// The accounts without a registration whose data is being removed; nil in records of older versions.
        var leaving: [AccountID]?
        /// Those of them whose session is still to be ended; nil in records of older versions.
        var leavingSessions: [AccountID]?
        /// The files of wipes of a newer version of the app which close nothing any more; nil for none, and in records of older versions.
        var settledWipes: [String]?

        /// The account that the device is enrolled for, as its management said last; nil for none, and in records of older
        /// versions (SDK-EN-29).
        var deviceAccount: AccountID?
        /// Which of several accounts has the place of an app for one managed account; nil where there are not several, and in records of
        /// older versions.
        var placeHolder: AccountID?

        /// Whether the numbers are ones that counting can have led to; a plain record could come from anywhere.
        var isPlausible: Bool {
            (registered.map(\.failures) + unenrollments.map(\.failures)).allSatisfy((0...1 << 31).contains)
                && runTime?.isPlausible ?? true
        }

        /// Forgets who an account was; that a registration of it is owed an end stays.
        mutating func forget(_ gone: AccountID) {
            unregister(gone)
            refusals.removeAll { $0.account == gone }
            remediations.removeAll { $0.account.id == gone }
            remediated.removeAll { $0.account == gone }
            logOrders?.removeAll { $0.account == gone }
            outcomes?.removeAll { $0.account == gone }
            endLeaving(gone)
            if deviceAccount == gone { deviceAccount = nil }
            if placeHolder == gone { placeHolder = nil }
        }

        /// Takes an account from those that the app has registered.
        mutating func unregister(_ account: AccountID) { registered.removeAll { $0.account.id == account } }

        /// Notes that the data of an account without a registration is being removed.
        mutating func beginLeaving(_ account: AccountID, withSession endsSession: Bool) {
            if leaving?.contains(account) != true { leaving = (leaving ?? []) + [account] }
            if endsSession, leavingSessions?.contains(account) != true {
                leavingSessions = (leavingSessions ?? []) + [account]
            }
        }

        /// Notes that nothing of an account is being removed any more.
        mutating func endLeaving(_ account: AccountID) {
            leaving?.removeAll { $0 == account }
            leavingSessions?.removeAll { $0 == account }
        }
    }

    /// An account that the app has registered.
    struct Registered: Codable, Equatable, Sendable {
        /// The account.
        var account: ManagedAccount
        /// How it came to be registered.
        var source: RegistrationRequest.Source
        /// How many enrolments failed in a row.
        var failures = 0
        /// When to try to enrol it next.
        var nextAttempt: Date
        /// When that was planned, by the device's clock; nil in records of older versions.
        var planned: Date?
        /// How the last attempt ended.
        var lastStatus: EnrollmentStatus?
    }

    /// A registration that the service is to forget.
    struct Unenrollment: Codable, Equatable, Sendable {
        /// The registration.
        var registrationID: String
        /// Whose it was.
        var account: AccountID
        /// Where the service is.
        var discovery: ServiceDiscovery
        /// The device's tag where Cordon made it; nil in records of older versions.
        var deviceTag: String?
        /// When it ended here.
        var ended: Date
        /// How many attempts failed.
        var failures = 0
        /// When to try next.
        var nextAttempt: Date
        /// What the service is to be told of it; nil in records of older versions.
        var report: UnenrollmentReport?
        /// Whether the account's registration is still to go here; nil in records of older versions, and where the record was in doubt.
        var leaves: Bool?
    }

    /// What a launch condition did.
    struct Outcome: Codable, Equatable, Sendable {
        /// Whose gate it was.
        var account: AccountID
        /// What it was.
        var outcome: ConditionReport
    }

    /// A command that was begun.
    struct BegunCommand: Codable, Equatable, Sendable {
        /// The command's id.
        var id: String
        /// When it lapses, in whole seconds since 1970.
        var notAfter: Int64
        /// Whether it has ended, and is not begun again; nil in records of older versions, which began none again.
        var hasEnded: Bool?
        /// How it ended, as long as the service has not heard of it; else nil.
        var untold: Bool?
    }

    /// An account whose compliance is being remedied.
    struct Remediation: Codable, Equatable, Sendable {
        /// The account.
        var account: ManagedAccount
        /// Whether the person may not be asked anything.
        var silent: Bool
    }
}
