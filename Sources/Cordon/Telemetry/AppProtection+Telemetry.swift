internal import CordonIdentity
internal import CordonPolicy
internal import CordonProtocol
internal import Foundation

extension AppProtection {
    /// Everything that telemetry ever sent from this app on this device, oldest first; nothing else was sent.
    ///
    /// It stays after a wipe: what was sent was sent, and it holds no organisation data.
    public func telemetryLedger() -> [SentTelemetry] {
        ledger.entries.map { SentTelemetry(event: $0.event, sent: $0.sent, toService: $0.receiver == .service) }
    }

    /// Notes that the app was started.
    func noteLaunch() {
        telemetry.record(
            .appLaunch,
            [
                .management: records.isEmpty ? "unmanaged" : "managed",
                .deviceManagement: isDeviceManaged ? "yes" : "no",
                .sdkVersion: configuration.application.sdkVersion, .osVersion: configuration.device.osVersion,
            ])
    }

    /// Whether the device's management has said anything to the app (SDK-TE-01).
    private var isDeviceManaged: Bool {
        accounts.deviceAccount != nil || configuration.expectedAccounts != ExpectedAccounts()
            || !configuration.managedConfiguration.isEmpty
    }

    /// Notes what was denied since the last time, for whoever agreed to optional events (SDK-TE-02).
    private func noteDenials() {
        for denial in denials.takeNew() {
            guard let account = denial.account.flatMap({ records[$0] })?.account else { continue }
            var fields: [TelemetryEvent.Field: String] = [.action: denial.action, .verdict: denial.verdict.rawValue]
            fields[.rule] = denial.reasons.first?.rule
            telemetry.record(.sdkAction, of: account, fields, at: denial.time)
        }
    }

    /// Sends what waits, to the app's own sender or to the service; what could not be sent waits on. Each account's events go
    /// out under its own token, and what concerns nobody with the first one's.
    func sendTelemetry() async {
        noteDenials()
        let events = telemetry.take()
        // Switched off meanwhile: what was noted before is not sent either.
        guard telemetry.isOn, !events.isEmpty else { return }
        let now = configuration.clock.now()
        if let delegate = configuration.telemetryDelegate {
            guard ledger.note(events, to: .app, at: now) else { return }
            for event in events { await delegate.send(event) }
            return
        }
        let first = records.keys.min { $0.rawValue < $1.rawValue }
        let groups = Dictionary(grouping: events) { $0.account ?? first }
        for (account, own) in groups {
            guard let account else {
                telemetry.add(own)
                continue
            }
            // What concerns an account that was removed goes nowhere: the next registration is another matter.
            if let record = records[account] { await send(own, of: record, at: now) }
        }
    }

    private func send(_ events: [TelemetryEvent], of record: RegistrationRecord, at now: Date) async {
        do throws(ServiceFailure) {
            let session = try await service.session(for: record.account.id, discovery: record.discovery)
            guard ledger.note(events, to: .service, at: now) else { return }
            try await session.client.send(TelemetryBatch(events: events.map(\.reported)), token: session.token)
        } catch {
            // A service that takes none is not asked again; one that is busy is.
            if case .refused(let problem) = error, problem.status != 429, problem.status < 500 { return }
            telemetry.add(events)
        }
    }
}
