public import CordonIdentity
internal import CordonProtocol
internal import Foundation
internal import Logging

extension StoredManagementService {
    /// Puts away what has run out: wipes and commands that nobody fetched, finished ones after their retention, and registrations
    /// without check-in (SRV-TG-28, SRV-CI-069), telemetry and logs (SRV-CI-075), and alerts.
    ///
    /// For a timer to call, such as every hour; nothing depends on it, because every call looks at the times itself.
    public func performMaintenance(of tenant: TenantID) async throws(ServiceError) {
        let now = self.now
        try await change(tenant) { [self] transaction, pending throws(ServiceError) in
            for var operation in try transaction.records(WipeOperation.self, where: (.state, "open"))
            where operation.notAfter <= now {
                if var registration = try transaction.record(Registration.self, operation.registrationID) {
                    registration.noteLapse(of: operation)
                    try transaction.save(registration)
                }
                try step(&operation, to: .expired, by: .service, of: tenant, at: now, in: transaction)
            }
            let oldest = now.addingTimeInterval(-Double(configuration.finishedWipeRetention.wholeSeconds))
            for operation in try transaction.records(WipeOperation.self)
            where !operation.state.isOpen && operation.modified <= oldest {
                try transaction.remove(WipeOperation.self, operation.id)
            }
            try removeOldCommands(before: oldest, of: tenant, at: now, in: transaction)
            try removeOldLogs(at: now, in: transaction)
            try transaction.removeAlerts(
                before: now.addingTimeInterval(-Double(configuration.alertRetention.wholeSeconds)))
            let silent = now.addingTimeInterval(-Double(configuration.registrationLifetime.wholeSeconds))
            for var registration in try transaction.records(Registration.self)
            where registration.state == .active && registration.lastSync <= silent {
                registration.state = .expired
                try transaction.save(registration)
                pending.noteClosing(registration.id)
                try endCommands(of: registration, at: now, in: transaction)
                try transaction.audit(
                    .service, "registration.expire", "registration/\(registration.id)", of: tenant, at: now)
            }
        }
        try await clearTelemetry(of: tenant, at: now)
        let overdue = try await storage.read(tenant) { [self] records throws(ServiceError) in
            try driftedApps(of: tenant, in: records, at: now) { _ in true }.count(where: \.isOverdue)
        }
        if overdue > 0 {
            logger.warning(
                "apps have not taken their rules for more than a day", metadata: ["apps": "\(overdue)"])
        }
    }
}
