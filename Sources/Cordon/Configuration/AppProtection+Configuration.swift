internal import CordonBase
public import CordonIdentity
public import CordonPolicy
internal import CordonProtocol
internal import Foundation

/// The key-values that administrators assign to an app (SDK-CF-01…08).
extension AppProtection {
    /// The configuration of an enrolled account, with typed reads; empty for an account that is not enrolled, or that has
    /// none (CQ-18). Any thread. Gone after a wipe.
    ///
    /// The account that the device itself is enrolled for also has what the device's management gave the app (SDK-CF-08).
    public nonisolated func appConfiguration(of account: AccountID) -> AppConfiguration {
        let account = resolved(account)
        guard let standing = accounts.state(of: account) else { return .empty }
        let given = configuration.managedConfiguration
        guard !given.isEmpty, accounts.deviceAccount.map(resolved) == account else {
            return standing.delivery.configuration
        }
        return standing.delivery.configuration.joined(with: AppConfiguration([TargetedAppConfiguration(values: given)]))
    }

    /// What several accounts have together (SDK-CF-08).
    public nonisolated func appConfiguration(of accounts: [AccountID]) -> AppConfiguration {
        accounts.map { appConfiguration(of: $0) }.reduce(.empty) { $0.joined(with: $1) }
    }

    /// The person's working-time status (SDK-US-01): `notConfigured` where the service does not know it, a stale one
    /// where it was not refreshed in time. Any thread.
    public nonisolated func workingTime(of account: AccountID) -> ClockStatus {
        let moment = clock.read()
        guard let known = accounts.state(of: resolved(account))?.delivery.workingTime
        else { return .notConfigured }
        return moment.turnedBack > 0 ? .unknown : known.status(at: Int64(moment.now.timeIntervalSince1970))
    }
}
