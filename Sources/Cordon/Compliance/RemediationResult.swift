internal import CordonBase
public import CordonIdentity
public import CordonProtocol

/// How a compliance remediation ended (SDK-CA-05, SDK-CA-06).
public struct RemediationResult: Sendable, Codable, Equatable {
    /// Whether the account can get a token now, or what is in the way; the field's numbers.
    public enum Status: Int, Sendable, Codable, CaseIterable {
        /// The account is protected: ask for the token again, and add the account where it is new.
        case compliant = 0
        /// The account cannot be protected here: show the text, and remove what the app holds of it (``RemediationResult/nextStep``).
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
        case .compliant: Texts.remediationTitleCompliant
        case .notCompliant: Texts.remediationTitleNotCompliant
        case .serviceFailure: Texts.remediationTitleServiceFailure
        case .networkFailure: Texts.remediationTitleNetworkFailure
        case .interactionRequired: Texts.remediationTitleInteractionRequired
        case .userCancelled: Texts.remediationTitleUserCancelled
        }
    }

    /// What to tell a person.
    public var message: String {
        switch textID {
        case .rootedDevice?: Texts.remediationCauseRootedDevice
        case .userBlocked?: Texts.remediationCauseUserBlocked
        case .wipePending?: Texts.remediationCauseWipePending
        case .signInAgain?: Texts.remediationCauseSignInAgain
        case nil: usualMessage
        }
    }

    /// What the app does now (SDK-CA-07).
    ///
    /// `removeAccount` if the account cannot become compliant: an app that holds its data calls
    /// ``AppProtection/unenroll(_:wiping:because:)``, which removes the account's data and nothing else. `nothing` if the account is
    /// compliant, a wipe waits already, or Cordon tries again by itself.
    public var nextStep: NextStep {
        switch (status, textID) {
        case (.compliant, _), (.serviceFailure, _), (.networkFailure, _), (_, .wipePending?): .nothing
        case (.interactionRequired, _), (.userCancelled, _), (_, .signInAgain?): .signIn
        case (.notCompliant, _): .removeAccount
        }
    }

    private var usualMessage: String {
        switch status {
        case .compliant: Texts.remediationCompliant
        case .notCompliant: Texts.remediationNotCompliant
        case .serviceFailure: Texts.remediationServiceFailure
        case .networkFailure: Texts.remediationNetworkFailure
        case .interactionRequired: Texts.remediationInteractionRequired
        case .userCancelled: Texts.remediationUserCancelled
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
            .removingExistingAccount, .unsupportedCall:
            self = .serviceFailure
        default: self = .notCompliant
        }
    }
}
