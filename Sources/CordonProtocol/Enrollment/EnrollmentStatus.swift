/// How an enrolment, a check-in or an unenrolment ended: the documented codes 100 to 227 (SRV-CI-028…060),
/// and one of Cordon's own.
///
/// ```swift
/// let status = await protection.enroll(account)
/// if !status.didSucceed { show(status.explanation) }
/// ```
public enum EnrollmentStatus: Int, Sendable, Codable, CaseIterable {
    /// New policies were received.
    case newPolicies = 100
    /// The policies are unchanged.
    case policiesUnchanged = 101
    /// A wipe command was received.
    case wipeReceived = 102
    /// Success, and no policy is targeted.
    case noPolicyTargeted = 103
    /// The account was unenrolled and deregistered.
    case unenrolled = 104
    /// The person has no licence for app protection.
    case notLicensed = 200
    /// Something unexpected went wrong.
    case internalError = 201
    /// The service is disabled; obsolete, never sent.
    case serviceDisabled = 202
    /// No token could be had silently.
    case authenticationRequired = 203
    /// The service could not be discovered.
    case discoveryFailed = 204
    /// The enrolment endpoint could not be reached.
    case enrollmentNetworkFailure = 205
    /// The service's answer was malformed or wrongly signed.
    case parsingFailure = 206
    /// No account was named.
    case nilAccount = 207
    /// The account is enrolled already.
    case alreadyEnrolled = 208
    /// The account is not the one that the device's management expects; the app removes it.
    case unexpectedAccount = 209
    /// The device is managed for another person; the app removes the account.
    case deviceManagedForAnotherAccount = 210
    /// The account is not the device's account; the app removes it.
    case notDeviceAccount = 211
    /// The policy endpoint could not be reached.
    case checkInNetworkFailure = 212
    /// The app is not enrolled.
    case notEnrolled = 213
    /// Another account than the enrolled one was named.
    case notEnrolledAccount = 214
    /// The account's data could not all be removed.
    case wipeIncomplete = 215
    /// The operation took too long.
    case timedOut = 216
    /// The sign-in library failed.
    case signInFailed = 217
    /// The account present is being removed first.
    case removingExistingAccount = 218
    /// The person cancelled the sign-in.
    case signInCancelled = 219
    /// The service has no record of the registration any more.
    case registrationGone = 220
    /// A re-enrolment was asked for an account that is not enrolled.
    case reenrollmentOfUnenrolledAccount = 221
    /// The organisation is being moved.
    case tenantMigration = 222
    /// The call is not supported here, such as in an extension.
    case unsupportedCall = 223
    /// The sign-in library lacks the method; kept for numbering.
    case signInMethodUnsupported = 224
    /// Licensed, but no policy targets this person and app.
    case notTargeted = 225
    /// The device or the person refused the enrolment.
    case enrollmentRefused = 226
    /// Another managed account is present, and only one is supported.
    case singleAccountOnly = 227
    /// The account belongs to another organisation than the service; a code of Cordon's own.
    case anotherOrganization = 228

    /// Whether the operation succeeded: exactly the codes 100 to 104 (SDK-EN-15).
    public var didSucceed: Bool { rawValue < 200 }

    /// Whether the app must remove the account now (SDK-EN-22).
    public var mustRemoveAccount: Bool {
        switch self {
        case .unexpectedAccount, .deviceManagedForAnotherAccount, .notDeviceAccount: true
        default: false
        }
    }
}
