public import CordonIdentity
public import CordonProtocol
public import CordonSignIn
public import Foundation
internal import Logging

/// Accounts and the service.
extension AppProtection {
    /// What an app that shows a dialog of its own may say when it restarts for new rules (SDK-RS-06).
    public static let restartMessage =
        "Your organisation now protects its data in this app. Restart the app to see it as your organisation wants it."

    /// What a service says of itself: its organisation, its OpenID provider, and the resource that tokens are asked for.
    ///
    /// For setting up sign-in before there is an account. The document is not signed and nothing here looks at the root key:
    /// call ``ServiceAccess/verify()`` before a person is sent to the provider that it names.
    ///
    /// - Parameters:
    ///   - service: Where the service is: https and a host, or http with an address of this machine.
    ///   - transport: How it is reached.
    ///   - memory: Keeps what the service says, which answers while the service does not; nil keeps nothing.
    /// - Throws: ``ProtectionError``: `invalidConfiguration` when the address is none that a request may be sent to,
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
    /// The account must be signed in with the token source. It stays registered when enrolling fails, for whatever
    /// cause, and is tried again after about a day at the latest (SDK-EN-02), unless its first rules have wiped it. An account that is
    /// enrolled already is left as it is, with ``EnrollmentStatus/alreadyEnrolled`` (SDK-EN-03).
    /// - Returns: How it went; also posted as ``ProtectionEvent/status(_:)``.
    @discardableResult
    public func enroll(_ account: ManagedAccount) async -> EnrollmentStatus {
        await enrollments.enroll(account, from: .appRegistered)
    }

    /// Signs a person in and enrols the account, for apps without a sign-in of their own (SDK-EN-10).
    ///
    /// An account that is signed in already, so that a token can be had without asking the person, is enrolled at once (CQ-28).
    /// A failure is not tried again (SDK-EN-12); where no person was signed in, its report names the sign-in name that was given,
    /// or none. Before a person is asked the service is verified, as by ``ServiceAccess/verify()``. Afterwards read
    /// ``enrolledAccounts`` for the account (SDK-EN-13).
    /// - Parameter name: The sign-in name to begin with; nil takes the account that the device's management names, else
    ///   asks (SDK-EN-11).
    /// - Returns: How it went; ``EnrollmentStatus/signInCancelled`` when the person gave up.
    @discardableResult
    public func signInAndEnroll(_ name: String? = nil) async -> EnrollmentStatus {
        await enrollments.signInAndEnroll(name)
    }

    /// Enrols a known account at launch, where the settings ask for it (`AutoEnrollOnLaunch`, SDK-EN-25);
    /// ``launch(_:)`` calls it.
    ///
    /// An account that the app has registered is tried without asking the person. Where there is none, or no token can be had
    /// for it, the person is asked to sign in only if the app stays closed without a policy (`PolicyRequired`). The account
    /// that is signed in there is one that the app does not know: its delegate is asked to add it (SDK-ID-35). After a no the
    /// account stays enrolled, its rules in force, and the app shows nothing of it.
    /// - Returns: How it went; nil where nothing was to be done.
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

    /// Ends an account's registration: its rules go, its retries stop, and the service is told (SDK-EN-07).
    ///
    /// Call before signing the account out, while a token can still be had. Everything local happens first, whether or not the service can
    /// be reached (SDK-EN-08). If the app is killed, the next start finishes it. If the service could not be told, the wipe's receipt or the
    /// first ``performDueWork()`` that reaches it tells it later; after ninety days it forgets the registration by itself.
    ///
    /// - Parameters:
    ///   - account: The account.
    ///   - wiping: Whether the organisation's data is removed (SDK-EN-09). False is for apps that remove it themselves:
    ///     sealed files stay, and stay closed until the account is enrolled again.
    ///   - reason: Why, for the service's reports (SRV-CI-013).
    /// - Returns: ``EnrollmentStatus/unenrolled``, or why the service could not be told or the data not removed.
    @discardableResult
    public func unenroll(
        _ account: AccountID, wiping: Bool = true, because reason: UnenrollmentReport.Reason = .accountRemoved
    ) async -> EnrollmentStatus {
        await unenrollments.unenroll(account, wiping: wiping, because: reason)
    }

    /// Asks the service for news of an account and applies them at once, commands included (SRV-CI-019).
    ///
    /// Whatever goes wrong, the rules in force stay in force (SRV-CI-087). A registration that the service has forgotten, or
    /// whose key a new sign-in has replaced, is made again, without asking the person (SRV-CI-069).
    /// - Returns: How it went; also posted as ``ProtectionEvent/status(_:)``.
    @discardableResult
    public func checkIn(_ account: AccountID) async -> EnrollmentStatus { await checkIns.checkIn(account) }

    /// Stays in touch with the service while the app is in front: an open event stream for an account, and a check-in
    /// whenever it says that something changed, or when one is due, whether or not the stream says anything.
    ///
    /// Returns when the calling task is cancelled or the account is no longer enrolled. A stream that breaks is opened
    /// again after growing pauses (SRV-CI-067).
    public func stayInTouch(for account: AccountID) async { await checkIns.stayInTouch(for: account) }

    /// Does everything that is due, each thing once, and says when something is due next: within eight hours.
    ///
    /// Call at launch and from a background task; ``keepUp()`` calls it while the app is in front. Intervals have a spread of a tenth: a check-in after
    /// at most eight hours (SDK-EN-06), failed ones after 1, 2, 5, 15, 30 and then every 60 minutes (SRV-CI-067), an enrolment that failed after a day
    /// (SDK-EN-02), or after half a day where licence or policy is missing (SRV-CI-063). Unfinished wipes, and receipts that the service has not got, wait
    /// as long again as they have waited, a minute at least and an hour at most; wipes whose beginning is not on record, such as of an account
    /// without a registration, logs that the person agreed to send, and telemetry wait an hour.
    @discardableResult
    public func performDueWork() async -> Date { await dueWork.perform() }

    /// Does what falls due until the calling task is cancelled. Looks again every minute at the latest, because a clock
    /// may be set, and another process may have changed something.
    public func keepUp() async { await dueWork.keepUp() }

    /// Removes everything of an account that Cordon holds, as if the organisation had commanded it (SDK-SW-04).
    ///
    /// Works offline: the receipt waits on the device until the service has it. Other accounts are not touched. A wipe that has begun goes on
    /// when its caller is cancelled. One that could not be finished is taken up again by ``performDueWork()`` and at the next start; until
    /// it is finished the account stays closed and cannot be enrolled. An extension ends the account's key, and its app does the rest.
    /// - Throws: ``ProtectionError``: `notEnrolled`; `wipeUnderWay` when this or another process of the app removes the account at this moment, or is
    ///   to finish what an extension has begun; `stateUnwritable`, `stateUnreadable` or `vault` when the wipe could not be begun, or not be finished yet.
    public func wipe(_ account: AccountID) async throws(ProtectionError) {
        try await unenrollments.wipe(account)
    }

    /// Hands in every receipt of a wipe that the service has not got yet, with growing pauses until it has.
    ///
    /// Started by itself after a restart; returns when nothing is left, or when the calling task is cancelled. Receipts of
    /// wipes that are not finished do not exist yet: ``performDueWork()`` finishes those.
    public func deliverReceipts() async { await wipes.deliverReceipts() }
}
