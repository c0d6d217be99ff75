internal import CordonBase
internal import CordonIdentity
internal import CordonProtocol
internal import Foundation

/// Records what happens, while telemetry is on: events that wait to be sent, the newest few hundred. They do not outlive the
/// process. Any thread.
final class TelemetryRecorder: Sendable {
    /// The most events of one message (SRV-CI-023).
    static let batch = 500
    private let events = Locked<[TelemetryEvent]>([])
    private let configuration: ProtectionConfiguration
    private let settings: Locked<ProtectionSettings>
    private let accounts: AccountTable
    private let pending: PendingWork

    init(
        _ configuration: ProtectionConfiguration, settings: Locked<ProtectionSettings>, accounts: AccountTable,
        pending: PendingWork
    ) {
        self.configuration = configuration
        self.settings = settings
        self.accounts = accounts
        self.pending = pending
    }

    /// Whether telemetry is on: not switched off in the settings, by the app or its person, or by an organisation
    /// (SRV-CI-074).
    var isOn: Bool {
        let settings = settings.withLock { $0 }
        return configuration.telemetryEnabled && !settings.telemetryDisabled && pending.telemetryEnabled
            && !accounts.rules.accounts.values.contains { $0.delivery.telemetryDisabled }
    }

    /// Whether optional events may leave the app: the person agreed, and no organisation wants less (SRV-CI-074).
    var takesOptionalEvents: Bool {
        configuration.sendsOptionalTelemetry
            && !accounts.rules.accounts.values.contains { $0.delivery.refusesOptionalTelemetry }
    }

    /// Records something that happened, if telemetry is on, without the fields that the app wants left out.
    func record(
        _ name: TelemetryEvent.Name, of account: ManagedAccount? = nil, _ fields: [TelemetryEvent.Field: String],
        at moment: Date? = nil
    ) {
        let event = TelemetryEvent(
            name: name, account: account?.id, tenant: account?.tenant,
            time: Int64((moment ?? configuration.clock.now()).timeIntervalSince1970),
            properties: fields.filter { !configuration.unsentTelemetry.contains($0.key) },
            region: configuration.telemetryRegion)
        guard isOn, event.privacyLevel != .optional || takesOptionalEvents else { return }
        add([event])
    }

    /// Adds events; the oldest go when there are too many.
    func add(_ more: [TelemetryEvent]) {
        events.withLock { $0 = ($0 + more).suffix(Self.batch) }
    }

    /// Drops what concerns an account.
    func forget(_ account: AccountID) {
        events.withLock { $0.removeAll { $0.account == account } }
    }

    /// Takes all out.
    func take() -> [TelemetryEvent] {
        events.withLock { events in
            defer { events = [] }
            return events
        }
    }
}
