public import CordonProtocol

/// What an app or its person does after an operation with the service (SDK-EN-21, SDK-EN-22).
public enum NextStep: String, Sendable, Codable, CaseIterable {
    /// Nothing: it went as it should, or Cordon tries again by itself.
    case nothing
    /// The app removes the account now.
    case removeAccount
    /// The person signs in again.
    case signIn
    /// An administrator gives the person a licence or a policy; Cordon tries again by itself.
    case askAdministrator
    /// The app uses another account, or removes the one that is present first.
    case chooseAccount
    /// The app enrols the account first.
    case enroll
    /// The app's developer mends the call or the configuration.
    case mendApp
    /// The person installs a newer version of the app, which holds a newer Cordon (SRV-CI-016).
    case updateApp
    /// The app frees what keeps its data from being removed, and asks for the wipe again.
    case freeData

    /// The step in words.
    public var advice: String {
        switch self {
        case .nothing: "Nothing needs to be done."
        case .removeAccount: "Remove the account from the app."
        case .signIn: "Sign in again."
        case .askAdministrator: "Ask the administrator for a licence or a policy; Cordon tries again by itself."
        case .chooseAccount: "Use an account that belongs here, or remove the enrolled one first."
        case .enroll: "Enrol the account first."
        case .mendApp: "Mend the app: the call or its configuration is not right."
        case .updateApp: "Install a newer version of the app."
        case .freeData: "Close what uses the account's data, then ask for the wipe again."
        }
    }
}

extension EnrollmentStatus {
    /// What to do after an operation that ended so.
    public var nextStep: NextStep {
        switch self {
        case .newPolicies, .policiesUnchanged, .wipeReceived, .noPolicyTargeted, .unenrolled: .nothing
        case .internalError, .discoveryFailed, .enrollmentNetworkFailure, .parsingFailure: .nothing
        case .checkInNetworkFailure, .timedOut, .tenantMigration, .registrationGone: .nothing
        case .removingExistingAccount, .alreadyEnrolled: .nothing
        case .authenticationRequired, .signInFailed, .signInCancelled, .enrollmentRefused: .signIn
        case .notLicensed, .notTargeted, .serviceDisabled: .askAdministrator
        case .unexpectedAccount, .deviceManagedForAnotherAccount, .notDeviceAccount: .removeAccount
        case .notEnrolledAccount, .singleAccountOnly, .anotherOrganization: .chooseAccount
        case .notEnrolled, .reenrollmentOfUnenrolledAccount: .enroll
        case .nilAccount, .unsupportedCall, .signInMethodUnsupported: .mendApp
        case .wipeIncomplete: .freeData
        }
    }
}
