internal import CordonIdentity
public import CordonProtocol
internal import Foundation

extension StoredManagementService {
    /// What the service asks of every app.
    public func serviceSettings(as administrator: Administrator) async throws(ServiceError) -> ServiceSettings {
        try require(.read, of: administrator)
        return try await storage.read(administrator.tenant) { records throws(ServiceError) in
            try records.settings().service ?? .usual
        }
    }

    /// Replaces what the service asks of every app; every registration is told.
    public func setServiceSettings(
        _ new: ServiceSettings, as administrator: Administrator
    ) async throws(ServiceError) {
        try require(.manageTenant, of: administrator)
        guard (1...16).contains(new.backOffSeconds.count),
            new.backOffSeconds.allSatisfy({ (1...86_400).contains($0) }),
            (60...86_400).contains(new.keySetMaxAgeSeconds), new.minimumSDKVersion?.utf8.count ?? 0 <= 64
        else {
            throw ServiceError(
                .invalid, "the settings are not acceptable",
                problems: [
                    .init(
                        member: "backOffSeconds, keySetMaxAgeSeconds, minimumSDKVersion",
                        reason: "1 to 16 times of 1 s to a day; 60 s to a day; at most 64 bytes")
                ])
        }
        let now = self.now
        try await change(administrator.tenant) { transaction, pending throws(ServiceError) in
            var settings = try transaction.settings()
            guard settings.service ?? .usual != new else { return }
            settings.service = new
            try transaction.save(settings)
            for registration in try transaction.records(Registration.self) where registration.state == .active {
                try pending.note(.policyChanged, for: registration.id, in: transaction)
            }
            try transaction.audit(
                AuditRecord.Actor(administrator), "settings.set", "settings", of: administrator.tenant, at: now,
                details: ["telemetry": new.telemetry.rawValue])
        }
    }
}
