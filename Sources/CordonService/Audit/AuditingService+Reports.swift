extension AuditingService {
    /// As the wrapped service; a refusal is noted.
    public func drift(as administrator: Administrator) async throws(ServiceError) -> [DriftedApp] {
        try await noting(administrator, "drift") { () async throws(ServiceError) -> [DriftedApp] in
            try await wrapped.drift(as: administrator)
        }
    }

    /// As the wrapped service; a refusal is noted.
    public func protectionSummary(as administrator: Administrator) async throws(ServiceError) -> ProtectionSummary {
        try await noting(administrator, "protectionSummary") { () async throws(ServiceError) -> ProtectionSummary in
            try await wrapped.protectionSummary(as: administrator)
        }
    }

    /// As the wrapped service; a refusal is noted.
    public func flaggedApps(as administrator: Administrator) async throws(ServiceError) -> [FlaggedApp] {
        try await noting(administrator, "flaggedApps") { () async throws(ServiceError) -> [FlaggedApp] in
            try await wrapped.flaggedApps(as: administrator)
        }
    }

    /// As the wrapped service; a refusal is noted.
    public func appStatuses(
        ofUser id: String, as administrator: Administrator
    ) async throws(ServiceError) -> [PersonAppStatus] {
        try await noting(administrator, "appStatuses") { () async throws(ServiceError) -> [PersonAppStatus] in
            try await wrapped.appStatuses(ofUser: id, as: administrator)
        }
    }

    /// As the wrapped service; a refusal is noted.
    public func pendingWork(
        ofUser id: String, as administrator: Administrator
    ) async throws(ServiceError) -> (wipes: [WipeOperation], commands: [IssuedCommand]) {
        try await noting(administrator, "pendingWork") {
            () async throws(ServiceError) -> (wipes: [WipeOperation], commands: [IssuedCommand]) in
            try await wrapped.pendingWork(ofUser: id, as: administrator)
        }
    }

    /// As the wrapped service; a refusal is noted.
    public func alerts(as administrator: Administrator) async throws(ServiceError) -> [OperatorAlert] {
        try await noting(administrator, "alerts") { () async throws(ServiceError) -> [OperatorAlert] in
            try await wrapped.alerts(as: administrator)
        }
    }
}
