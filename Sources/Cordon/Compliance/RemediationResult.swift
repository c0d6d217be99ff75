public import CordonIdentity
public import CordonProtocol

/// How a compliance remediation ended (SDK-CA-05, SDK-CA-06).
public struct RemediationResult: Sendable, Codable, Equatable {
    /// Whether a token can be had now, and what is in the way otherwise; the field's numbers.
    public enum Status: Int, Sendable, Codable, CaseIterable {
        /// The account is protected: ask for the token again, and add the account where it is new.
        case compliant = 0
        /// The account cannot be protected here: show the text.
        case notCompliant = 1
        /// The service failed: try later.
        case serviceFailure = 2
        /// There is no connection: try when it is back.
        case networkFailure = 3
        /// A person has to be asked: remediate again, not silently.
        case interactionRequired = 4
        /// The person stopped it.
        case userCancelled = 5
    }

    /// The account.
    public var account: AccountID
    /// How it ended.
    public var status: Status
    /// Why, as the service says; nil where it says nothing.
    public var textID: ComplianceReport.TextID?

    /// Makes a result.
    public init(account: AccountID, status: Status, textID: ComplianceReport.TextID? = nil) {
        self.account = account
        self.status = status
        self.textID = textID
    }

    /// A short heading for a person.
    public var title: String {
        switch status {
        case .compliant: "Protected"
        case .notCompliant: "Not protected"
        case .serviceFailure: "Try again later"
        case .networkFailure: "No connection"
        case .interactionRequired: "Sign in"
        case .userCancelled: "Cancelled"
        }
    }

    /// What to tell a person.
    public var message: String {
        switch textID {
        case .rootedDevice?: "This device is rooted or jailbroken, so your organisation does not accept it for work."
        case .userBlocked?: "Your organisation has blocked this account. Ask the administrator."
        case .wipePending?: "Your organisation is about to remove this account's data from this app."
        case .signInAgain?: "Sign in again, so that your organisation's rules can protect this account."
        case nil: usualMessage
        }
    }

    private var usualMessage: String {
        switch status {
        case .compliant: "Your organisation's rules protect this account now."
        case .notCompliant: "Your organisation has no rules for this account in this app, so it cannot be used here."
        case .serviceFailure: "Your organisation's service could not protect this account. Try again later."
        case .networkFailure: "Your organisation's service cannot be reached. Try again when you are online."
        case .interactionRequired: "Sign in again, so that your organisation's rules can protect this account."
        case .userCancelled: "The account was not added, because the sign-in was cancelled."
        }
    }
}

extension RemediationResult.Status {
    /// What the end of an enrolment means for a token that waits for it.
    init(_ status: EnrollmentStatus) {
        switch status {
        case .newPolicies, .policiesUnchanged, .alreadyEnrolled: self = .compliant
        case .authenticationRequired: self = .interactionRequired
        case .signInCancelled, .enrollmentRefused: self = .userCancelled
        case .discoveryFailed, .enrollmentNetworkFailure, .checkInNetworkFailure, .timedOut: self = .networkFailure
        case .internalError, .parsingFailure, .tenantMigration, .registrationGone, .serviceDisabled, .signInFailed,
            .removingExistingAccount:
            self = .serviceFailure
        default: self = .notCompliant
        }
    }
}
