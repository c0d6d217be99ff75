internal import CordonBase
internal import CordonIdentity
internal import CordonProtocol
internal import Foundation

/// An event that waits to be sent.
struct WaitingEvent: Sendable {
    var event: TelemetryEvent
    /// Whether the ledger tells of it, after an attempt that failed.
    var isNoted = false

    var isOptional: Bool { event.privacyLevel == .optional }
}

/// Records what happens, while telemetry is on: events that wait to be sent, the newest few hundred. They do not outlive the
/// process. Any thread.
final class TelemetryRecorder: Sendable {
    /// The most events of one message (SRV-CI-023).
    static let batch = 500
    private let events = Locked<[WaitingEvent]>([])
    /// The app's start, built only when events are taken out, so that the first decision does not wait for it.
    private let launch = Locked<(@Sendable () -> TelemetryEvent)?>(nil)
    /// Whether telemetry was on, and told of denials, when the switches were last looked at, and how often it was switched until then.
    private let seen = Locked((isOn: true, tellsDenials: true, switches: 0))
    private let configuration: ProtectionConfiguration
    private let settings: Locked<ProtectionSettings>
    private let accounts: AccountTable
    private let pending: PendingWork
    private let denials: DenialLog

    init(
        _ configuration: ProtectionConfiguration, settings: Locked<ProtectionSettings>, accounts: AccountTable,
        pending: PendingWork, denials: DenialLog
    ) {
        self.configuration = configuration
        self.settings = settings
        self.accounts = accounts
        self.pending = pending
        self.denials = denials
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

    /// Drops what happened before telemetry was switched off or on, since none of that is told. Called after every change of a switch.
    ///
    /// - Returns: How often telemetry was switched, for ``permitted(_:since:)``.
    @discardableResult
    func followSwitches() -> Int {
        seen.withLock { seen in
            let isOn = isOn
            let tellsDenials = isOn && takesOptionalEvents
            if seen.isOn != isOn {
                _ = take()
                seen.switches += 1
            }
            if seen.tellsDenials != tellsDenials {
                _ = denials.takeNew()
                events.withLock { $0.removeAll(where: \.isOptional) }
            }
            (seen.isOn, seen.tellsDenials) = (isOn, tellsDenials)
            return seen.switches
        }
    }

    /// What may still be told of events that were taken out: nothing where telemetry was switched since, and nothing optional that an
    /// organisation has refused.
    func permitted(_ waiting: [WaitingEvent], since switches: Int) -> [WaitingEvent] {
        guard followSwitches() == switches else { return [] }
        return takesOptionalEvents ? waiting : waiting.filter { !$0.isOptional }
    }

    /// Records something that happened, if telemetry is on, without the fields that the app wants left out.
    func record(
        _ name: TelemetryEvent.Name, of account: ManagedAccount? = nil, _ fields: [TelemetryEvent.Field: String],
        at moment: Date? = nil
    ) {
        let event = configuration.event(name, of: account, fields, at: moment ?? configuration.clock.now())
        guard isOn, event.privacyLevel != .optional || takesOptionalEvents else { return }
        add([WaitingEvent(event: event)])
    }

    /// Records something about an account that is not enrolled here, for the app's own sender, without naming it. A service would hear of it
    /// under another account's token, and that one's organisation may be another.
    func recordForApp(_ name: TelemetryEvent.Name, _ fields: [TelemetryEvent.Field: String]) {
        if configuration.telemetryDelegate != nil { record(name, fields) }
    }

    /// Records that the app was started, if telemetry is on.
    func recordLaunch(_ fields: @escaping @Sendable () -> [TelemetryEvent.Field: String]) {
        followSwitches()
        guard isOn else { return }
        let moment = configuration.clock.now()
        launch.withLock { $0 = { [configuration] in configuration.event(.appLaunch, of: nil, fields(), at: moment) } }
    }

    /// Adds events; the oldest go when there are too many.
    func add(_ more: [WaitingEvent]) {
        events.withLock { $0 = ($0 + more).suffix(Self.batch) }
    }

    /// Drops what concerns an account.
    func forget(_ account: AccountID) {
        events.withLock { $0.removeAll { $0.event.account == account } }
    }

    /// Whether anything waits to be sent.
    var isEmpty: Bool { events.withLock { $0.isEmpty } && launch.withLock { $0 == nil } }

    /// Takes all out.
    func take() -> [WaitingEvent] {
        let launched = launch.withLock { launch in
            defer { launch = nil }
            return launch
        }
        let waiting = events.withLock { events in
            defer { events = [] }
            return events
        }
        return ([launched?()].compactMap { $0.map { WaitingEvent(event: $0) } } + waiting).suffix(Self.batch)
    }
}

extension ProtectionConfiguration {
    /// An event without the fields that the app wants left out. Everything in it is a word that the service takes, also what the app says of
    /// itself and its device.
    fileprivate func event(
        _ name: TelemetryEvent.Name, of account: ManagedAccount?, _ fields: [TelemetryEvent.Field: String],
        at moment: Date
    ) -> TelemetryEvent {
        TelemetryEvent(
            name: name, account: account?.id, tenant: account?.tenant, time: Int64(moment.timeIntervalSince1970),
            properties: fields.filter { !unsentTelemetry.contains($0.key) }.compactMapValues(ReportedEvent.word),
            region: telemetryRegion)
    }
}
