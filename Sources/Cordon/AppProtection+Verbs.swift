internal import CordonBase
public import CordonIdentity
public import CordonProtocol
public import CordonSignIn
public import Foundation
internal import Logging

/// Accounts and the service.
extension AppProtection {
    /// A text for an app that shows its own dialog when it restarts for new rules (SDK-RS-06).
    public static var restartMessage: String { Texts.restartMessage }

    /// Fetches the service's description of itself: its organisation, its OpenID provider, and the resource to ask tokens for.
    ///
    /// Use it to set up sign-in before there is an account. The document is not signed, and this call does not look at the root key:
    /// call ``ServiceAccess/verify()`` before you send a person to the provider that it names.
    ///
    /// - Parameters:
    ///   - service: The service's address: https and a host, or http with an address of this machine.
    ///   - transport: How to reach it.
    ///   - memory: Keeps the description and answers while the service does not; nil keeps nothing.
    /// - Throws: ``ProtectionError``: `invalidConfiguration` when no request may be sent to the address,
    ///   `serviceUnusable` when no usable answer came, now or before.
    public static func discover(
        _ service: URL, over transport: any HTTPTransport, rememberedIn memory: ServiceMemory? = nil
    ) async throws(ProtectionError) -> ServiceDiscovery {
        try ProtectionConfiguration.check(service: service)
        do {
            return try await ServiceAccess.discover(service, over: transport, in: memory)
        } catch { throw ServiceMemory.unusable(service, error, rememberedIn: memory) }
    }

    /// Registers an account and enrols it at once, which puts its rules in force (SDK-EN-01).
    ///
    /// The account must be signed in with the token source. If enrolling fails, for whatever reason, the account stays registered
    /// and Cordon tries again after about a day at the latest (SDK-EN-02), unless the account's first rules wiped it. An account that is
    /// enrolled already stays as it is, with `EnrollmentStatus.alreadyEnrolled` (SDK-EN-03).
    /// - Returns: How it went; also posted as ``ProtectionEvent/status(_:)``.
    @discardableResult
    public func enroll(_ account: ManagedAccount) async -> EnrollmentStatus {
        await enrollments.enroll(account, from: .appRegistered)
    }

    /// Signs a person in and enrols the account, for apps without a sign-in of their own (SDK-EN-10).
    ///
    /// If an account is signed in already, so that Cordon gets a token without asking the person, it enrols that one at once (CQ-28).
    /// Before it asks the person, it verifies the service, as ``ServiceAccess/verify()`` does. It does not retry a failure (SDK-EN-12);
    /// if nobody was signed in, the report has the sign-in name that was given, or none. Afterwards read
    /// ``enrolledAccounts`` for the account (SDK-EN-13).
    /// - Parameter name: The sign-in name to begin with; nil takes the account that the device's management names, else
    ///   asks (SDK-EN-11).
    /// - Returns: How it went; `EnrollmentStatus.signInCancelled` when the person gave up.
    @discardableResult
    public func signInAndEnroll(_ name: String? = nil) async -> EnrollmentStatus {
        await enrollments.signInAndEnroll(name)
    }

    /// Enrols a known account at launch, if the settings say so (`AutoEnrollOnLaunch`, SDK-EN-25);
    /// ``launch(_:)`` calls it.
    ///
    /// It tries an account that the app has registered without asking the person. If there is none, or no token for it, it asks the
    /// person to sign in, but only if the app stays closed without a policy (`PolicyRequired`). The app does not know the account
    /// that signs in there, so Cordon asks its delegate to add it (SDK-ID-35). If the delegate says no, the
    /// account stays enrolled, its rules stay in force, and the app shows nothing of it.
    /// - Returns: How it went; nil if there was nothing to do.
    @discardableResult
    public func enrollAtLaunch() async -> EnrollmentStatus? {
        let (status, hasSignedIn) = await enrollments.enrollAtLaunch()
        if hasSignedIn, context.configuration.identityDelegate != nil {
            for account in enrolledAccounts where await !windows.offerAccount(account) {
                context.configuration.logger.notice("an account was enrolled that the app did not add")
            }
        }
        return status
    }

    /// Ends an account's registration: removes its rules, stops its retries, and tells the service (SDK-EN-07).
    ///
    /// Call it before you sign the account out, while it can still get a token. Everything local happens first, whether or not the service
    /// can be reached (SDK-EN-08). If the app is killed meanwhile, its next start finishes the work. If the service cannot be reached, the
    /// wipe's receipt or the next ``performDueWork()`` that reaches it tells it; after ninety days it forgets the registration by itself.
    ///
    /// - Parameters:
    ///   - account: The account.
    ///   - wiping: Whether to remove the organisation's data (SDK-EN-09). False is for apps that remove it themselves:
    ///     sealed files stay, and stay closed until the account is enrolled again.
    ///   - reason: Why, for the service's reports (SRV-CI-013).
    /// - Returns: `EnrollmentStatus.unenrolled`, or why the service was not told or the data not removed.
    @discardableResult
    public func unenroll(
        _ account: AccountID, wiping: Bool = true, because reason: UnenrollmentReport.Reason = .accountRemoved
    ) async -> EnrollmentStatus {
        await unenrollments.unenroll(account, wiping: wiping, because: reason)
    }

    /// Asks the service for news of an account and applies them at once, commands included (SRV-CI-019).
    ///
    /// Whatever goes wrong, the rules in force stay in force (SRV-CI-087). If the service has forgotten the registration, or
    /// a new sign-in has replaced its key, Cordon registers again, without asking the person (SRV-CI-069).
    /// - Returns: How it went; also posted as ``ProtectionEvent/status(_:)``.
    @discardableResult
    public func checkIn(_ account: AccountID) async -> EnrollmentStatus { await checkIns.checkIn(account) }

    /// Stays in touch with the service while the app is in front: keeps an event stream open for an account, and checks in
    /// when the stream reports a change or a check-in is due.
    ///
    /// Returns when the calling task is cancelled or the account is no longer enrolled, and at once in an extension, which follows its app
    /// with ``keepUp()``. If the stream breaks, Cordon opens it again after growing pauses (SRV-CI-067).
    public func stayInTouch(for account: AccountID) async { await checkIns.line.stayInTouch(for: account) }

    /// Does everything that is due, each thing once, and returns when something is due next: within eight hours.
    ///
    /// Call it at launch and from a background task; ``keepUp()`` calls it while the app is in front. Intervals vary by a tenth: a check-in is due
    /// after at most eight hours (SDK-EN-06), after failures in 1, 2, 5, 15, 30 and then every 60 minutes (SRV-CI-067). A failed enrolment is tried
    /// again after a day (SDK-EN-02), or half a day if licence or policy is missing (SRV-CI-063). Unfinished wipes, and receipts that the service
    /// does not have yet, wait as long again as they have waited, a minute at least and an hour at most. Wipes whose beginning is not on record,
    /// logs that the person agreed to send, and telemetry wait an hour. An extension takes up what its app has stored, and does no more.
    @discardableResult
    public func performDueWork() async -> Date { await dueWork.perform() }

    /// Does what falls due until the calling task is cancelled. It looks at least every minute, because someone may set the
    /// clock, and another process may have changed something.
    public func keepUp() async { await dueWork.keepUp() }

    /// Removes everything that Cordon holds of an account, as if the organisation had commanded it (SDK-SW-04).
    ///
    /// Works offline: the receipt waits on the device until the service has it. Other accounts are untouched. Once begun, a wipe goes on
    /// even if its caller is cancelled. If it cannot be finished, ``performDueWork()`` and the next start take it up again; until
    /// then the account stays closed and cannot be enrolled. An extension ends the account's key, and its app does the rest.
    /// - Throws: ``ProtectionError``: `notEnrolled`; `wipeUnderWay` while this or another process of the app is removing the account, or has
    ///   yet to finish what an extension began; `stateUnwritable`, `stateUnreadable` or `vault` when the wipe cannot begin, or cannot be finished yet.
    public func wipe(_ account: AccountID) async throws(ProtectionError) {
        try await unenrollments.wipe(account)
    }

    /// Delivers every wipe receipt that the service does not have yet, with growing pauses until it has all.
    ///
    /// Cordon calls it after a restart. It returns when nothing is left, or when the calling task is cancelled. Unfinished
    /// wipes have no receipt yet: ``performDueWork()`` finishes those.
    public func deliverReceipts() async { await wipes.deliverReceipts() }
}
