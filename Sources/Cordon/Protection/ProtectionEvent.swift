public import CordonIdentity
public import CordonPolicy
public import CordonProtocol

/// What happens to an app's protection while the app runs; observe with ``AppProtection/events()``.
///
/// ```swift
/// for await event in protection.events() {
///     if case .gate(let account, .closed) = event { hide(account) }
/// }
/// ```
public enum ProtectionEvent: Sendable, Equatable {
    /// New rules are in force for the account; decisions already follow them (SDK-CO-08).
    case policyChanged(account: AccountID, version: String, sequence: Int64)
    /// The service offered an envelope that Cordon did not accept; the rules in force stay.
    case envelopeRefused(account: AccountID, error: ProtocolError)
    /// An enrolment, check-in or unenrolment ended (SDK-EN-14).
    case status(StatusReport)
    /// Cordon is removing the organisation's data of the account, or what an account that is not enrolled any more has left.
    case wipeStarted(account: AccountID, commandID: String)
    /// A wipe ended and the account is gone; `succeeded` says whether all its data is gone too. Posted once per wipe (SDK-SW-05).
    case wipeFinished(account: AccountID, commandID: String, succeeded: Bool)
    /// Stored state was damaged and set aside; what depended on it is denied until the next check-in.
    case stateSetAside(reason: String)
    /// The stored state of the account is older than the last one written (SRV-CI-085). Posted at a start, when the device's own counter
    /// says so: everything is denied until the next check-in. Posted by a check-in, when the service knows of newer state: the rules stay in
    /// force, the PIN ends, even if it alone opens the files, and the gate asks for a sign-in.
    case stateRolledBack(account: AccountID)
    /// The device's clock was turned back; rules that depend on time deny until the next check-in.
    case clockTurnedBack
    /// The administrator's list of accounts that the app may hold changed; nil for no restriction (SDK-AA-03).
    case allowedAccountsChanged([String]?)
    /// The account is not on that list: the app does not admit it, or signs it out (SDK-AA-04).
    case accountNotAllowed(AccountID)
    /// The device's management names another account than before, or none any more: nil (SDK-EN-29).
    case deviceAccountChanged(AccountID?)
    /// The app configuration of the account changed (SDK-CF-07).
    case configurationChanged(account: AccountID)
    /// The rules changed whether the account's files have to be encrypted, or when they are readable: protect its data
    /// again with ``AccountFiles/protect(_:for:progress:)`` (SDK-FP-02). Posted before ``policyChanged(account:version:sequence:)``.
    case dataProtectionChanged(account: AccountID)
    /// The person's working-time status changed (SDK-US-02), because the service said so or did not repeat it in time, which
    /// ``AppProtection/performDueWork()`` notices.
    case workingTimeChanged(account: AccountID, ClockStatus)
    /// A remediation ended; also posted after a restart for one that ended before (SDK-CA-05).
    case remediated(RemediationResult)
    /// The account's first rules are in force, or it made room for another, and no ``ProtectionConfiguration/restartApplication``
    /// handled it. Cordon needs no restart; an app that has to restart does it now (SDK-RS-03).
    case restartAdvised(account: AccountID)
    /// Something happened at an account's launch gate.
    case gate(account: AccountID, GateEvent)
    /// What became of logs that an administrator asked for (SRV-CI-015).
    case logs(LogUploadReport)
    /// A command of the organisation other than a wipe was carried out, or could not be (SRV-CI-006). A command for logs ends when
    /// the request is noted; ``logs(_:)`` says what became of it.
    case commandEnded(account: AccountID, Command, succeeded: Bool)
    /// A setting or a debug policy has no effect, for this reason.
    case settingRefused(reason: String)
}
