internal import CordonBase
internal import CordonIdentity
internal import CordonPolicy
internal import CordonProtocol

/// What the service asks of every app, as the device follows it (SRV-CI-016).
extension AppProtection {
    /// What the service of an account asks for; the usual where it has said nothing.
    nonisolated func serviceSettings(for account: AccountID) -> ServiceSettings {
        rules.withLock { $0[account]?.delivery.service } ?? .usual
    }

    /// Why this app's version of Cordon is too old for an account, nil where it is not (SDK-CO-12).
    ///
    /// A demand or a version that cannot be read counts as not met.
    nonisolated func outdatedReason(for account: AccountID) -> PolicyReason? {
        guard let wanted = serviceSettings(for: account).minimumSDKVersion else { return nil }
        let own = configuration.application.sdkVersion
        if let least = VersionNumber(wanted), let have = VersionNumber(own), have >= least { return nil }
        return PolicyReason(
            rule: .launchSDKVersion, message: "The organisation asks for Cordon \(wanted); this app has \(own).",
            remedy: NextStep.updateApp.advice, verdict: .block)
    }
}
