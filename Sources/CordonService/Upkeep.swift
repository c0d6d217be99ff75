internal import CordonIdentity
internal import CordonPolicy
internal import CordonProtocol
internal import Foundation

/// Ends and puts away what is due, a few records in each transaction.
struct Upkeep: Sendable {
    /// The most records of one transaction.
    static let most = 100
    /// As many as are done in one transaction, however many other changes wait.
    private static let fewest = 8

    let store: TenantStore
    let wipes: Wipes
    let configuration: ServiceConfiguration

    /// Does everything that is due.
    func putAway(of tenant: TenantID, at now: Date) async throws(ServiceError) {
        func before(_ retention: Duration) -> Date { now.addingTimeInterval(-Double(retention.wholeSeconds)) }
        let finished = before(configuration.finishedWipeRetention)
        try await each(WipeOperation.self, "open", upTo: now, of: tenant) { operation, change in
            guard operation.notAfter <= now else { return false }
            try expire(operation, in: change)
            return true
        }
        try await each(WipeOperation.self, "ended", upTo: finished, of: tenant) { operation, change in
            guard operation.modified <= finished else { return false }
            if operation.state == .failed,
                var registration = try change.record(Registration.self, operation.registrationID),
                registration.state == .active
            {
                registration.notePutAway(operation)
                try change.save(registration)
            }
            try change.remove(WipeOperation.self, operation.id)
            return true
        }
        try await each(IssuedCommand.self, "open", upTo: now, of: tenant) { command, change in
            guard command.notAfter <= now else { return false }
            var command = command
            try change.step(&command, to: .expired, by: .service)
            return true
        }
        try await each(IssuedCommand.self, "ended", upTo: finished, of: tenant) { command, change in
            guard command.modified <= finished else { return false }
            try change.remove(IssuedCommand.self, command.id)
            return true
        }
        try await each(LogCollection.self, "ended", upTo: now, of: tenant) { collection, change in
            guard collection.notAfter <= now else { return false }
            try change.removeLogs(collection)
            return true
        }
        let oldAlerts = before(configuration.alertRetention)
        try await each(OperatorAlert.self, "ended", upTo: oldAlerts, of: tenant) { alert, change in
            guard alert.time <= oldAlerts else { return false }
            try change.remove(OperatorAlert.self, alert.id)
            return true
        }
        try await each(
            ExportJob.self, "ended", upTo: now.addingTimeInterval(-ExportJob.lifetime), of: tenant
        ) { job, change in
            guard job.expires <= now else { return false }
            try change.remove(ExportJob.self, job.id)
            return true
        }
        try await putAwayRegistrations(of: tenant, at: now)
        try await putAwayVersions(of: tenant, at: now)
        try await putAwayChanges(of: tenant, at: now)
    }

    private func putAwayRegistrations(of tenant: TenantID, at now: Date) async throws(ServiceError) {
        let silent = now.addingTimeInterval(-Double(configuration.registrationLifetime.wholeSeconds))
        try await each(Registration.self, "active", upTo: silent, of: tenant) { registration, change in
            guard registration.lastSync <= silent else { return false }
            var registration = registration
            registration.close(.expired, at: now)
            try change.save(registration)
            change.noteClosing(registration.id)
            try change.endCommands(of: registration)
            try change.audit(.service, "registration.expire", "registration/\(registration.id)")
            return true
        }
        for (reason, retention) in [
            ("closed", configuration.closedRegistrationRetention), ("wiped", configuration.wipedRegistrationRetention),
        ] {
            let oldest = now.addingTimeInterval(-Double(retention.wholeSeconds))
            try await each(Registration.self, reason, upTo: oldest, of: tenant) { registration, change in
                guard registration.closed ?? registration.lastSync <= oldest,
                    try change.openOperations(of: registration.id).isEmpty
                else { return false }
                try change.remove(EventBookmark.self, registration.id)
                try change.removeRecoveryShare(ofRegistration: registration.id)
                try change.endRules(of: registration)
                try change.remove(Registration.self, registration.id)
                return true
            }
        }
    }

    private func expire(_ operation: WipeOperation, in change: Change) throws(ServiceError) {
        var operation = operation
        if var registration = try change.record(Registration.self, operation.registrationID) {
            registration.missedWipe = operation.reason
            try change.save(registration)
        }
        try wipes.step(&operation, to: .expired, by: .service, in: change)
    }

    /// Does something with every record that is due, some in each transaction, so that other changes come between.
    ///
    /// - Parameter body: What to do with one; whether it is done with; one that is not is left for the next time.
    func each<Record: StoredRecord>(
        _ type: Record.Type, _ reason: String, upTo moment: Date, of tenant: TenantID,
        _ body: @escaping @Sendable (Record, inout Change) throws -> Bool
    ) async throws(ServiceError) {
        var range = StorageTime.range(reason, upTo: moment)
        while true {
            let part = range
            guard
                try await store.read(
                    for: tenant, { try !$0.records(type, where: .due, in: part, limit: 1).isEmpty })
            else { return }
            let (last, done) = try await store.change(for: tenant, behindOthers: true) { change in
                let due = try change.records(type, where: .due, in: part, limit: Self.most)
                var done = 0
                for record in due {
                    // A check-in that comes meanwhile waits for a few, and not for all of them.
                    guard done < Self.fewest || !change.isWaitedFor else { return (record.lookups[.due], done) }
                    if try body(record, &change) { done += 1 }
                }
                return (due.count < Self.most ? nil : due.last?.lookups[.due], done)
            }
            // What could not be done yet is passed by.
            guard let last, last < part.upperBound, done > 0 || last > part.lowerBound else { return }
            range = last..<part.upperBound
        }
    }
}
