internal import CordonBase
public import CordonProtocol

/// What the app or the person does after an operation with the service (SDK-EN-21, SDK-EN-22).
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
    /// The app's developer fixes the call or the configuration.
    case mendApp
    /// The person installs a newer version of the app, which holds a newer Cordon (SRV-CI-016).
    case updateApp
    /// The app frees what keeps its data from being removed, and asks for the wipe again.
    case freeData

    /// The step in words.
    public var advice: String {
        switch self {
        case .nothing: Texts.stepNothing
        case .removeAccount: Texts.stepRemoveAccount
        case .signIn: Texts.stepSignIn
        case .askAdministrator: Texts.stepAskAdministrator
        case .chooseAccount: Texts.stepChooseAccount
        case .enroll: Texts.stepEnroll
        case .mendApp: Texts.stepMendApp
        case .updateApp: Texts.stepUpdateApp
        case .freeData: Texts.stepFreeData
        }
    }
}

extension EnrollmentStatus {
    /// What to do after an operation that ended with this status.
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
