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
        let id = ids.token()
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
            try transaction.save(
                TelemetryRecord(
                    id: id, received: now, userID: caller.account.id.rawValue,
                    bundleID: registration.application.bundleID, events: wanted))
            return wanted.count
        }
    }

    /// How many events of each kind came on each day, oldest first.
    public func telemetry(as administrator: Administrator) async throws(ServiceError) -> [TelemetryDay] {
        try require(.read, of: administrator)
        return try await storage.read(administrator.tenant) { records throws(ServiceError) in
            var days = Dictionary(
                uniqueKeysWithValues: try records.records(TelemetryDay.self).map { ($0.day, $0) })
            for record in try records.records(TelemetryRecord.self) {
                let day = TelemetryDay.name(of: record.received)
                days[day, default: TelemetryDay(day: day)].add(record.events)
            }
            return days.values.sorted { $0.day < $1.day }
        }
    }

    /// Turns events that are old enough into numbers that tell nothing of a person.
    func aggregateTelemetry(at now: Date, in transaction: some StorageTransaction) throws(ServiceError) {
        let oldest = now.addingTimeInterval(-Double(configuration.telemetryRetention.wholeSeconds))
        for record in try transaction.records(TelemetryRecord.self) where record.received <= oldest {
            let name = TelemetryDay.name(of: record.received)
            var day = try transaction.record(TelemetryDay.self, name) ?? TelemetryDay(day: name)
            day.add(record.events)
            try transaction.save(day)
            try transaction.remove(TelemetryRecord.self, record.id)
        }
    }
}
