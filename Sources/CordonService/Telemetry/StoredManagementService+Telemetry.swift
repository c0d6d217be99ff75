internal import CordonIdentity
public import CordonProtocol
internal import Foundation

extension StoredManagementService {
    /// Takes events, as ``DeviceReporting/acceptTelemetry(_:by:)`` says.
    public func acceptTelemetry(
        _ batch: TelemetryBatch, by caller: DeviceCaller
    ) async throws(ServiceError) -> Int {
        guard batch.events.count <= TelemetryBatch.mostEvents else {
            throw ServiceError(
                .invalid, "the batch is too large",
                problems: [.init(member: "events", reason: "more than \(TelemetryBatch.mostEvents)")])
        }
        let problems = batch.events.enumerated().compactMap { index, event in
            event.fault.map { ServiceError.Problem(member: "events[\(index)]", reason: $0) }
        }
        guard problems.isEmpty else { throw ServiceError(.invalid, "events were refused", problems: problems) }
        let now = self.now
        return try await change(caller.tenant) { transaction, _ throws(ServiceError) in
            let ofKey = try transaction.records(Registration.self, where: (.key, caller.keyThumbprint))
            guard let registration = ofKey.first(where: { $0.state == .active }) else {
                throw .enrollment(.notEnrolled, "the key has no registration")
            }
            guard registration.account.id == caller.account.id else {
                throw .enrollment(.notEnrolledAccount, "the access token is of another account than the registration")
            }
            let level = (try transaction.settings().service ?? .usual).telemetry
            let wanted = batch.events.filter { level == .optional || level == .required && $0.privacy != .optional }
            guard !wanted.isEmpty else { return 0 }
            let name = TelemetryDay.name(of: now)
            let user = caller.account.id.rawValue
            let bundleID = registration.application.bundleID
            var record =
                try transaction.record(TelemetryRecord.self, TelemetryRecord.id(name, user, bundleID))
                ?? TelemetryRecord(day: name, received: now, userID: user, bundleID: bundleID)
            let kept = Array(wanted.prefix(TelemetryRecord.mostEvents - record.events.count))
            guard !kept.isEmpty else { return 0 }
            record.received = now
            record.events += kept
            try transaction.save(record)
            // Counted at once, so that neither the report nor the clearing away reads events.
            var day = try transaction.record(TelemetryDay.self, name) ?? TelemetryDay(day: name)
            day.add(kept)
            day.isCleared = nil
            try transaction.save(day)
            return kept.count
        }
    }

    /// How many events of each kind came on each day, oldest first.
    public func telemetry(as administrator: Administrator) async throws(ServiceError) -> [TelemetryDay] {
        try require(.read, of: administrator)
        return try await storage.read(administrator.tenant) { records throws(ServiceError) in
            try records.records(TelemetryDay.self).map { TelemetryDay(day: $0.day, counts: $0.counts) }
        }
    }

    /// Removes the events of days that are old enough; the numbers, which tell nothing of a person, stay.
    ///
    /// Each slice is a transaction of its own, so that check-ins go on meanwhile and no more than one is in memory.
    func clearTelemetry(of tenant: TenantID, at now: Date) async throws(ServiceError) {
        let oldest = now.addingTimeInterval(-Double(configuration.telemetryRetention.wholeSeconds))
        let last = TelemetryDay.name(of: oldest)
        let due = try await storage.read(tenant) { records throws(ServiceError) in
            try records.records(TelemetryDay.self).filter { $0.day <= last && $0.isCleared != true }.map(\.day)
        }
        for name in due {
            for slice in TelemetryRecord.slices(of: name) {
                try await storage.write(tenant) { transaction throws(ServiceError) in
                    for record in try transaction.records(TelemetryRecord.self, where: (.day, slice)) {
                        try transaction.remove(TelemetryRecord.self, record.id)
                    }
                }
            }
            try await storage.write(tenant) { transaction throws(ServiceError) in
                guard var day = try transaction.record(TelemetryDay.self, name) else { return }
                day.isCleared = true
                try transaction.save(day)
            }
        }
    }
}
