internal import CordonIdentity
internal import CordonPolicy
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
        let problems = Self.problems(of: new)
        guard problems.isEmpty else {
            let names = problems.map(\.member).joined(separator: ", ")
            throw ServiceError(.invalid, "the settings are not acceptable at \(names)", problems: problems)
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

    /// What is not acceptable in settings. A least version that is none would keep every app closed, since no version is
    /// known to reach it.
    private static func problems(of settings: ServiceSettings) -> [ServiceError.Problem] {
        var problems: [ServiceError.Problem] = []
        if !(1...16).contains(settings.backOffSeconds.count)
            || !settings.backOffSeconds.allSatisfy({ (1...86_400).contains($0) })
        {
            problems.append(.init(member: "backOffSeconds", reason: "needs 1 to 16 times of 1 second to a day"))
        }
        if !(60...86_400).contains(settings.keySetMaxAgeSeconds) {
            problems.append(.init(member: "keySetMaxAgeSeconds", reason: "needs to be 60 seconds to a day"))
        }
        if let least = settings.minimumSDKVersion, least.utf8.count > 64 || VersionNumber(least) == nil {
            problems.append(
                .init(member: "minimumSDKVersion", reason: "needs one to four numbers with points between, as 1.4"))
        }
        return problems
    }
}
