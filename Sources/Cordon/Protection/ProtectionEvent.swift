public import CordonIdentity
public import CordonProtocol

/// What happens to an app's protection while it runs; observe with ``AppProtection/events()``.
public enum ProtectionEvent: Sendable, Equatable {
    /// New rules are in force for the account; decisions already follow them (SDK-CO-08).
    case policyChanged(account: AccountID, version: String, sequence: Int64)
    /// The service offered an envelope that was not accepted; the rules in force stay.
    case envelopeRefused(account: AccountID, error: ProtocolError)
    /// An enrolment, check-in or unenrolment ended (SDK-EN-14).
    case status(account: AccountID, EnrollmentStatus)
    /// The organisation's data of the account is being removed.
    case wipeStarted(account: AccountID, commandID: String)
    /// The data is gone and the receipt is signed; posted once for each wipe (SDK-SW-05).
    case wipeFinished(account: AccountID, commandID: String, succeeded: Bool)
    /// Stored state was damaged and set aside; what depended on it is denied until the next check-in.
    case stateSetAside(reason: String)
}
