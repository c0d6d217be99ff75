internal import CordonBase
internal import CordonIdentity
internal import CordonPolicy
internal import CordonProtocol
internal import Foundation

/// What telemetry sends, and whether it sends anything.
///
/// Use it as ``AppProtection/telemetry``.
public actor TelemetryReports: AccountFollower {
    private let context: ProtectionContext
    private let service: ServiceAccess
    private let sent: TelemetryLedger

    /// The executor that all parts of the protection share.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { context.domain.unownedExecutor }

    init(_ context: ProtectionContext, service: ServiceAccess, ledger: TelemetryLedger) {
        self.context = context
        self.service = service
        sent = ledger
    }

    /// Whether telemetry is on: not switched off in the settings, by the app or its person, or by an organisation. Any thread.
    public nonisolated var isEnabled: Bool { context.telemetry.isOn }

    /// Switches telemetry on or off for the person in front of the app; kept across launches (SDK-TE-03). What happened before the switch is
    /// never sent.
    ///
    /// - Throws: ``ProtectionError`` with code `stateUnwritable`.
    public func setEnabled(_ isEnabled: Bool) throws(ProtectionError) {
        try context.pending.change { $0.telemetryEnabled = isEnabled }
        context.telemetry.followSwitches()
    }

    /// What telemetry sent from this app on this device, or tried to send, oldest first; nothing else was sent.
    ///
    /// Each event is listed once, from before the first attempt to send it: it may not have arrived, or may have been kept from the app's own
    /// sender by a switch in that moment. The list stays after a wipe, since what was sent was sent; whose account it was, and of which
    /// organisation, does not. A list above 64 MiB goes on with its newest 32.
    public func ledger() -> [SentTelemetry] {
        sent.entries.map { SentTelemetry(event: $0.event, sent: $0.sent, toService: $0.receiver == .service) }
    }

    /// Records that the app was started.
    func recordLaunch() {
        let configuration = context.configuration
        let (isManaged, isDeviceManaged) = (!context.accounts.records.isEmpty, isDeviceManaged)
        context.telemetry.recordLaunch {
            [
                .management: isManaged ? "managed" : "unmanaged", .deviceManagement: isDeviceManaged ? "yes" : "no",
                .sdkVersion: configuration.application.sdkVersion, .osVersion: configuration.device.osVersion,
            ]
        }
    }

    /// Whether the device's management has said anything to the app (SDK-TE-01).
    private var isDeviceManaged: Bool {
        context.accounts.deviceAccount != nil || context.configuration.expectedAccounts != ExpectedAccounts()
            || !context.configuration.managedConfiguration.isEmpty
    }

    func rulesChanged(of account: AccountID, from before: AccountState?, to now: AccountState) {
        context.telemetry.followSwitches()
    }

    func accountLeft(_ account: AccountID, from before: AccountState?) {
        context.denials.forget(account)
        context.telemetry.followSwitches()
    }

    /// The list of what was sent, and what waits to be sent, name the account no more.
    func eraseState(of account: AccountID) -> [String] {
        context.telemetry.forget(account)
        do {
            try sent.forget(account)
            return []
        } catch { return ["the list of telemetry that was sent still names the account"] }
    }

    func endEnrollment(of account: AccountID) throws(ProtectionError) {
        context.telemetry.forget(account)
        try sent.forget(account)
    }

    /// Sends what waits, to the app's own sender or to the service; what could not be sent waits on. Each account's events go
    /// out under its own token, and what concerns no account with the first one's.
    func performDueWork(isFirst: Bool) async {
        // Another process of the app may have switched it.
        let switches = context.telemetry.followSwitches()
        recordDenials()
        let events = context.telemetry.take()
        guard isEnabled, !events.isEmpty else { return }
        let now = context.configuration.clock.now()
        if let delegate = context.configuration.telemetryDelegate {
            guard sent.record(events.map(\.event), to: .app, at: now) else { return context.telemetry.add(events) }
            for waiting in events {
                // Nothing names an account that was removed while the app was sending the ones before.
                guard waiting.event.account.map({ context.accounts[$0] != nil }) ?? true else { continue }
                guard let permitted = context.telemetry.permitted([waiting], since: switches).first else { continue }
                await delegate.send(permitted.event)
            }
            return
        }
        let first = context.accounts.enrolled.first
        let groups = Dictionary(grouping: events) { $0.event.account ?? first }
        for (account, own) in groups {
            guard let account else {
                context.telemetry.add(context.telemetry.permitted(own, since: switches))
                continue
            }
            // What concerns an account that was removed goes nowhere: the next registration is another matter.
            if let record = context.accounts[account] { await send(own, since: switches, of: record, at: now) }
        }
    }

    /// What could not be sent waits for an hour, or for the round of an earlier check-in: no device need wake for it sooner.
    func nextAttempts() -> [Date] {
        let configuration = context.configuration
        // Only an account's service or the app's own delegate receives telemetry; with neither, nothing is due.
        guard isEnabled, !context.telemetry.isEmpty,
            configuration.telemetryDelegate != nil || !context.accounts.records.isEmpty
        else { return [] }
        let now = configuration.clock.now()
        return [now + context.intervals.afterWaiting(since: nil, at: now)]
    }

    /// Records what was denied since the last time, if the person agreed to optional events (SDK-TE-02).
    private func recordDenials() {
        for denial in context.denials.takeNew() {
            guard let account = denial.account.flatMap({ context.accounts[$0] })?.account else { continue }
            var fields: [TelemetryEvent.Field: String] = [.action: denial.action, .verdict: denial.verdict.rawValue]
            fields[.rule] = denial.reasons.first?.rule
            context.telemetry.record(.sdkAction, of: account, fields, at: denial.time)
        }
    }

    private func send(
        _ waiting: [WaitingEvent], since switches: Int, of record: RegistrationRecord, at now: Date
    ) async {
        var waiting = waiting
        do {
            let session = try await service.session(for: record.account.id, discovery: record.discovery)
            // Nothing may name an account again that was removed meanwhile.
            guard context.accounts.holds(record) else { return }
            waiting = context.telemetry.permitted(waiting, since: switches)
            guard !waiting.isEmpty else { return }
            guard sent.record(waiting.filter { !$0.isNoted }.map(\.event), to: .service, at: now) else {
                return context.telemetry.add(waiting)
            }
            for index in waiting.indices { waiting[index].isNoted = true }
            let batch = TelemetryBatch(events: waiting.map(\.event.reported))
            try await session.client.send(batch, token: session.token)
        } catch {
            // A service that takes none is not asked again; one that is busy is.
            if case .refused(let problem) = error, problem.status != 429, problem.status < 500 {
                if problem.status == 400 { context.log("telemetry was refused", error) }
                return
            }
            guard context.accounts.holds(record) else { return }
            context.telemetry.add(context.telemetry.permitted(waiting, since: switches))
        }
    }
}
