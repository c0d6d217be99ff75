internal import CordonIdentity
public import CordonProtocol
internal import Logging

extension AppProtection {
    /// Enrols a known account at launch, where the settings ask for it (`AutoEnrollOnLaunch`, SDK-EN-25);
    /// ``launch(_:)`` calls it.
    ///
    /// An account that the app has registered is tried without asking anybody. Where there is none, or no token can be had
    /// for it, the person is asked to sign in only if the app stays closed without a policy (`PolicyRequired`). Whoever
    /// signs in there is an account that the app does not know: its delegate is asked to add it (SDK-ID-35). After a no the
    /// account stays enrolled, its rules in force, and the app shows nothing of it.
    /// - Returns: How it went; nil where nothing was to be done.
    @discardableResult
    public func enrollAtLaunch() async -> EnrollmentStatus? {
        guard settings.current.enrollsAtLaunch, !configuration.isExtension else { return nil }
        await syncWithDisk()
        guard records.isEmpty else { return nil }
        var status: EnrollmentStatus?
        for waiting in pending.registered where records.isEmpty {
            status = await enroll(waiting.account, from: waiting.source, asking: false)
        }
        guard records.isEmpty, settings.current.requiresPolicy, configuration.signIn != nil else { return status }
        guard status == nil || status?.nextStep == .signIn else { return status }
        status = await signInAndEnroll()
        if configuration.identityDelegate != nil {
            for account in enrolledAccounts where await !windows.offerAccount(account) {
                configuration.logger.notice("an account was enrolled that the app did not add")
            }
        }
        return status
    }
}
