public import CordonIdentity
public import CordonProtocol
public import Foundation
internal import Logging

extension ManagementService {
    /// Puts away what has run out: wipes and commands that no app fetched, finished ones after their retention, registrations
    /// without check-in and those that ended long ago (SRV-TG-28, SRV-CI-069), telemetry and logs (SRV-CI-075), alerts, and reports
    /// that were asked for.
    ///
    /// For a timer to call, such as every hour; nothing depends on it, because every call looks at the times itself. It reads what is
    /// due and nothing else, and does some at a time, so that check-ins are answered meanwhile.
    public func performMaintenance(of tenant: TenantID) async throws(ServiceError) {
        let now = store.now
        try await Upkeep(store: store, wipes: wipes, configuration: configuration).putAway(of: tenant, at: now)
        try await store.change(for: tenant) { try $0.removeOldConsoleSessions() }
        let known = try await store.read(for: tenant) { try $0.records(ServiceSigningKey.self) }
        try devices.keys.renewDelegation(of: tenant, among: known, at: now)
        try await clearTelemetry(of: tenant, at: now)
        if try await store.read(for: tenant, { try $0.settings().countsPeople != true }) {
            _ = try await checkCounts(of: tenant)
        }
        let overdue = try await store.read(for: tenant) { records in
            try targeting.overdueApps(of: tenant, in: records, at: now) { _ in true }
        }
        guard overdue > 0 else { return }
        logger.warning("apps have not taken their rules for more than a day", metadata: ["apps": "\(overdue)"])
        try await alertDrift(of: tenant, at: now)
    }

    /// How long the service was away by its clock, where that is so long that the clock may be ahead; nil where maintenance may go on.
    ///
    /// For a timer to call before each ``performMaintenance(of:)``, which puts away for ever what a clock that is ahead lets run out. It
    /// says so for a day, which is time to look at the clock, and then takes the clock's word.
    public func clockJump(of tenant: TenantID) async throws(ServiceError) -> TimeInterval? {
        let now = store.now
        let (known, last) = try await store.read(for: tenant) { records in
            (try records.settings().presence, try records.lastAuditRecord()?.time)
        }
        let before = known ?? ServicePresence(seen: last.map { Date(timeIntervalSince1970: TimeInterval($0)) } ?? now)
        var presence = before
        let jump = presence.jump(at: now)
        if presence != known {
            let noted = presence
            try await store.change(for: tenant) { change in
                var settings = try change.settings()
                settings.presence = noted
                try change.save(settings)
            }
        }
        return jump
    }

    /// Recounts all people for the figures, and corrects the counters where they differ; says so in the log.
    ///
    /// For a timer to call, such as once a day: the counters change with what they count, so that nothing should ever differ. It reads
    /// every person, a page at a time, and holds up no writer meanwhile.
    ///
    /// - Returns: How many people and counters were wrong.
    public func checkCounts(of tenant: TenantID) async throws(ServiceError) -> Int {
        let isFirst = try await store.read(for: tenant) { try $0.settings().countsPeople != true }
        let wrong = try await StatusCheck(store: store).run(of: tenant)
        if wrong > 0, !isFirst {
            logger.error("counters of people were wrong and were corrected", metadata: ["counters": "\(wrong)"])
        }
        return wrong
    }

    /// Goes on telling apps of changes where that was left off; returns at once.
    ///
    /// A service does so by itself behind each change and when it is opened. For a timer to call, such as twice a minute, in case
    /// the store did not answer meanwhile.
    public func resumeAnnouncing(of tenant: TenantID) { store.startAnnouncing(to: tenant) }

    /// Tells every app that a change concerns and that was not told yet, without pauses; returns when all were told.
    public func finishAnnouncing(of tenant: TenantID) async throws(ServiceError) {
        try await store.finishAnnouncing(to: tenant)
    }

    /// Notes that the store was put back from a backup; apps are told nothing until that is confirmed, and people who administer sign
    /// in again. The same again changes nothing.
    public func noteRestoration(_ restoration: StoreRestoration, of tenant: TenantID) async throws(ServiceError) {
        try await store.change(for: tenant) { change in
            var settings = try change.settings()
            guard settings.restoration?.manifest != restoration.manifest else { return }
            var noted = restoration
            noted.restored = change.now
            settings.restoration = noted
            settings.administratorsSince = SessionRevocation.moment(after: change.now)
            try change.save(settings)
            var details = ["manifest": restoration.manifest, "made": restoration.made.formatted(.iso8601)]
            details["lost"] = restoration.lost.map { String($0.values.reduce(0, +)) }
            try change.audit(.service, "store.restored", "store", details: details)
        }
    }

    /// Has people who administer sign in from now on where the moment that a restore noted is of the future: the clock was ahead then, and
    /// nobody could sign in, or confirm the restore, until that time.
    func admitAdministrators(of tenant: TenantID, at now: Date) async throws(ServiceError) {
        let latest = SessionRevocation.moment(after: now)
        guard let since = try await store.read(for: tenant, { try $0.settings().administratorsSince }), since > latest
        else { return }
        try await store.change(for: tenant) { change in
            var settings = try change.settings()
            settings.administratorsSince = latest
            try change.save(settings)
        }
        logger.warning("the clock was ahead when the store was restored; people who administer sign in again")
    }

    /// The backup that the store was put back from and that no administrator has confirmed yet, nil for none.
    public func restoration(of tenant: TenantID) async throws(ServiceError) -> StoreRestoration? {
        try await store.read(for: tenant) { try $0.settings().restoration }
    }

    /// The newest record of the audit log, nil in an empty one: for keeping outside the store.
    public func lastAuditRecord(of tenant: TenantID) async throws(ServiceError) -> AuditRecord? {
        try await store.read(for: tenant) { try $0.lastAuditRecord() }
    }

    /// Whether the audit log has a record with this number and hash.
    public func hasAuditRecord(
        _ sequence: Int64, hash: String, of tenant: TenantID
    ) async throws(ServiceError) -> Bool {
        guard sequence > 0 else { return true }
        return try await store.read(for: tenant) { records in
            try records.auditRecords(AuditQuery(after: sequence - 1, limit: 1)).first.map {
                $0.sequence == sequence && $0.hash == hash
            } ?? false
        }
    }

    /// How long one call goes on handing things over, in seconds, so that a slow receiver does not hold up other work of the same timer.
    static let deliveryTime: TimeInterval = 20

    /// Hands alerts that are due to a receiver, oldest first; what it did not take is tried again later (SRV-TG-29).
    ///
    /// For a timer to call. An alert is noted as delivered after the receiver took it, so that a crash between the two
    /// delivers it once more, with the same id, and none is lost. After twenty seconds the rest waits for the next call.
    ///
    /// - Parameter send: Delivers one alert in bounded time; whether the receiver has it. Where one is not taken, the rest
    ///   waits for the next call: most likely the receiver is down.
    public func deliverAlerts(
        of tenant: TenantID, by send: @Sendable (OperatorAlert) async -> Bool
    ) async throws(ServiceError) {
        let now = store.now
        let due = try await store.read(for: tenant) { records in
            try records.records(OperatorAlert.self, where: (.state, "open"))
                .filter { $0.nextDelivery.map { Redelivery.isDue($0, at: now) } ?? false }
                .sorted { ($0.time, $0.id) < ($1.time, $1.id) }
        }
        for alert in due where abs(store.now.timeIntervalSince(now)) < Self.deliveryTime {
            let isDelivered = await send(alert)
            let limit = configuration.alertDeliveryLimit
            let isGivenUp = try await store.change(for: tenant) { change in
                // The person may have been erased meanwhile.
                guard var known = try change.record(OperatorAlert.self, alert.id) else { return false }
                known.noteDelivery(succeeded: isDelivered, at: now, limit: limit)
                try change.save(known)
                return !isDelivered && known.nextDelivery == nil
            }
            if isGivenUp { logger.error("an alert could not be delivered", metadata: ["alert": "\(alert.id)"]) }
            guard isDelivered else { return }
        }
    }

    /// Removes the events of days that are old enough; the numbers, which tell nothing of a person, stay.
    ///
    /// A few in each transaction, so that check-ins go on meanwhile.
    private func clearTelemetry(of tenant: TenantID, at now: Date) async throws(ServiceError) {
        let oldest = now.addingTimeInterval(-Double(configuration.telemetryRetention.wholeSeconds))
        let last = TelemetryDay.name(of: oldest)
        let due = try await store.read(for: tenant) { records in
            try records.records(TelemetryDay.self).filter { $0.day <= last && $0.isCleared != true }.map(\.day)
        }
        for name in due {
            for slice in TelemetryRecord.slices(of: name) {
                var removed: Int
                repeat {
                    removed = try await store.change(for: tenant, behindOthers: true) { change in
                        let some = try change.identifiers(
                            TelemetryRecord.self, of: .found(by: .day, slice), after: nil, limit: Upkeep.most)
                        for id in some { try change.remove(TelemetryRecord.self, id) }
                        return some.count
                    }
                } while removed == Upkeep.most
            }
            try await store.change(for: tenant) { change in
                guard var day = try change.record(TelemetryDay.self, name) else { return }
                day.isCleared = true
                try change.save(day)
            }
        }
    }
}
