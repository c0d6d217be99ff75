internal import CordonBase
internal import CordonIdentity
internal import CordonVault
internal import Foundation

/// What the methods that are still on the actor read.
extension AppProtection {
    nonisolated var configuration: ProtectionConfiguration { context.configuration }
    nonisolated var settingsInForce: Locked<ProtectionSettings> { context.settingsInForce }
    nonisolated var accounts: AccountTable { context.accounts }
    nonisolated var pending: PendingWork { context.pending }
    nonisolated var broadcast: EventBroadcaster { context.events }
    nonisolated var clock: ClockMonitor { context.clock }
    nonisolated var intervals: Intervals { context.intervals }
    nonisolated var seal: StateSeal { context.seal }
    nonisolated var stateFolder: StateFolder { context.stateFolder }
    nonisolated var launches: LaunchStore { context.launches }
    nonisolated var vault: Vault { context.vault }
    nonisolated var telemetry: TelemetryRecorder { context.telemetry }
    nonisolated var records: [AccountID: RegistrationRecord] { accounts.records }
    nonisolated func resolved(_ account: AccountID) -> AccountID { accounts.resolved(account) }
    nonisolated func resolved(_ identity: EffectiveIdentity) -> EffectiveIdentity { accounts.resolved(identity) }
    nonisolated func isUntargeted(_ account: AccountID) -> Bool { accounts.isUntargeted(account) }
    nonisolated func folder(of account: AccountID) -> URL { context.folder(of: account) }
}
