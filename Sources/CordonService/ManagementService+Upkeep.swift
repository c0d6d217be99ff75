public import CordonIdentity
internal import CordonProtocol
internal import Foundation
internal import Logging

extension ManagementService {
    /// Puts away what has run out: wipes and commands that nobody fetched, finished ones after their retention, and registrations
    /// without check-in (SRV-TG-28, SRV-CI-069), telemetry and logs (SRV-CI-075), and alerts.
    ///
    /// For a timer to call, such as every hour; nothing depends on it, because every call looks at the times itself.
    public func performMaintenance(of tenant: TenantID) async throws(ServiceError) {
        let now = store.now
        try await store.change(for: tenant) { transaction, pending in
            for var operation in try transaction.records(WipeOperation.self, where: (.state, "open"))
            where operation.notAfter <= now {
                if var registration = try transaction.record(Registration.self, operation.registrationID) {
                    registration.noteLapse(of: operation)
                    try transaction.save(registration)
                }
                try wipes.step(&operation, to: .expired, by: .service, of: tenant, at: now, in: transaction)
            }
            let oldest = now.addingTimeInterval(-Double(configuration.finishedWipeRetention.wholeSeconds))
            for operation in try transaction.records(WipeOperation.self)
            where !operation.state.isOpen && operation.modified <= oldest {
                try transaction.remove(WipeOperation.self, operation.id)
            }
            try transaction.removeOldCommands(before: oldest, of: tenant, at: now)
            try transaction.removeOldLogs(at: now)
            try transaction.removeAlerts(
                before: now.addingTimeInterval(-Double(configuration.alertRetention.wholeSeconds)))
            let silent = now.addingTimeInterval(-Double(configuration.registrationLifetime.wholeSeconds))
            for var registration in try transaction.records(Registration.self)
            where registration.state == .active && registration.lastSync <= silent {
                registration.state = .expired
                try transaction.save(registration)
                pending.noteClosing(registration.id)
                try transaction.endCommands(of: registration, at: now)
                try transaction.audit(
                    .service, "registration.expire", "registration/\(registration.id)", of: tenant, at: now)
            }
        }
        try await clearTelemetry(of: tenant, at: now)
        let overdue = try await store.read(for: tenant) { records in
            try targeting.driftedApps(of: tenant, in: records, at: now) { _ in true }.count(where: \.isOverdue)
        }
        if overdue > 0 {
            logger.warning(
                "apps have not taken their rules for more than a day", metadata: ["apps": "\(overdue)"])
        }
    }

    /// Hands every alert that is due to a receiver, oldest first; what it did not take is tried again later (SRV-TG-29).
    ///
    /// For a timer to call. An alert is noted as delivered after the receiver took it, so that a crash between the two
    /// delivers it once more, with the same id, and none is lost.
    ///
    /// - Parameter send: Delivers one alert in bounded time; whether the receiver has it. Where one is not taken, the rest
    ///   waits for the next call: most likely the receiver is down.
    public func deliverAlerts(
        of tenant: TenantID, by send: @Sendable (OperatorAlert) async -> Bool
    ) async throws(ServiceError) {
        let now = store.now
        let due = try await store.read(for: tenant) { records in
            try records.records(OperatorAlert.self, where: (.state, "open"))
                .filter { $0.nextDelivery.map { $0 <= now } ?? false }.sorted { ($0.time, $0.id) < ($1.time, $1.id) }
        }
        for alert in due {
            let isDelivered = await send(alert)
            let limit = configuration.alertDeliveryLimit
            let isGivenUp = try await store.change(for: tenant) { transaction, _ in
                // The person may have been erased meanwhile.
                guard var known = try transaction.record(OperatorAlert.self, alert.id) else { return false }
                known.noteDelivery(succeeded: isDelivered, at: now, limit: limit)
                try transaction.save(known)
                return !isDelivered && known.nextDelivery == nil
            }
            if isGivenUp { logger.error("an alert could not be delivered", metadata: ["alert": "\(alert.id)"]) }
            guard isDelivered else { return }
        }
    }

    /// Removes the events of days that are old enough; the numbers, which tell nothing of a person, stay.
    ///
    /// Each slice is a transaction of its own, so that check-ins go on meanwhile and no more than one is in memory.
    func clearTelemetry(of tenant: TenantID, at now: Date) async throws(ServiceError) {
        let oldest = now.addingTimeInterval(-Double(configuration.telemetryRetention.wholeSeconds))
        let last = TelemetryDay.name(of: oldest)
        let due = try await store.read(for: tenant) { records in
            try records.records(TelemetryDay.self).filter { $0.day <= last && $0.isCleared != true }.map(\.day)
        }
        for name in due {
            for slice in TelemetryRecord.slices(of: name) {
                try await store.change(for: tenant) { transaction, _ in
                    for record in try transaction.records(TelemetryRecord.self, where: (.day, slice)) {
                        try transaction.remove(TelemetryRecord.self, record.id)
                    }
                }
            }
            try await store.change(for: tenant) { transaction, _ in
                guard var day = try transaction.record(TelemetryDay.self, name) else { return }
                day.isCleared = true
                try transaction.save(day)
            }
        }
    }
}

extension StorageTransaction {
    /// Removes logs whose time is over.
    func removeOldLogs(at now: Date) throws(ServiceError) {
        for collection in try records(LogCollection.self) where collection.notAfter <= now {
            try removeLogs(collection)
        }
    }
}

extension StorageTransaction {
    /// Removes the alerts from before a moment.
    func removeAlerts(before oldest: Date) throws(ServiceError) {
        for alert in try records(OperatorAlert.self) where alert.time <= oldest {
            try remove(OperatorAlert.self, alert.id)
        }
    }
}

extension StorageTransaction {
    /// Removes a collection with its pieces.
    func removeLogs(_ collection: LogCollection) throws(ServiceError) {
        for piece in try records(LogPiece.self, where: (.collection, collection.id)) {
            try remove(LogPiece.self, piece.storageID)
        }
        try remove(LogCollection.self, collection.id)
    }
}
