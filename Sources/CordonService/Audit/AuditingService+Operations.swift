public import CordonProtocol
public import Foundation

extension AuditingService {
    /// As the wrapped service; a refusal is noted.
    public func workingTime(ofUser id: String, as administrator: Administrator) async throws(ServiceError)
        -> WorkingTimeReport?
    {
        try await noting(administrator, "workingTime") { () async throws(ServiceError) -> WorkingTimeReport? in
            try await wrapped.workingTime(ofUser: id, as: administrator)
        }
    }

    /// As the wrapped service; a refusal is noted.
    public func setWorkingTime(_ time: WorkingTimeReport, ofUser id: String, as administrator: Administrator)
        async throws(ServiceError)
    {
        try await noting(administrator, "setWorkingTime") { () async throws(ServiceError) -> Void in
            try await wrapped.setWorkingTime(time, ofUser: id, as: administrator)
        }
    }

    /// As the wrapped service; a refusal is noted.
    public func serviceSettings(as administrator: Administrator) async throws(ServiceError) -> ServiceSettings {
        try await noting(administrator, "serviceSettings") { () async throws(ServiceError) -> ServiceSettings in
            try await wrapped.serviceSettings(as: administrator)
        }
    }

    /// As the wrapped service; a refusal is noted.
    public func setServiceSettings(_ settings: ServiceSettings, as administrator: Administrator)
        async throws(ServiceError)
    {
        try await noting(administrator, "setServiceSettings") { () async throws(ServiceError) -> Void in
            try await wrapped.setServiceSettings(settings, as: administrator)
        }
    }

    /// As the wrapped service; a refusal is noted.
    public func requestLogs(ofRegistration id: String, as administrator: Administrator) async throws(ServiceError)
        -> LogCollection
    {
        try await noting(administrator, "requestLogs") { () async throws(ServiceError) -> LogCollection in
            try await wrapped.requestLogs(ofRegistration: id, as: administrator)
        }
    }

    /// As the wrapped service; a refusal is noted.
    public func logCollections(as administrator: Administrator) async throws(ServiceError) -> [LogCollection] {
        try await noting(administrator, "logCollections") { () async throws(ServiceError) -> [LogCollection] in
            try await wrapped.logCollections(as: administrator)
        }
    }

    /// As the wrapped service; a refusal is noted.
    public func logs(_ id: String, as administrator: Administrator) async throws(ServiceError) -> Data {
        try await noting(administrator, "logs") { () async throws(ServiceError) -> Data in
            try await wrapped.logs(id, as: administrator)
        }
    }

    /// As the wrapped service; a refusal is noted.
    public func telemetry(as administrator: Administrator) async throws(ServiceError) -> [TelemetryDay] {
        try await noting(administrator, "telemetry") { () async throws(ServiceError) -> [TelemetryDay] in
            try await wrapped.telemetry(as: administrator)
        }
    }

    /// As the wrapped service; a refusal is noted.
    public func exportUser(_ id: String, as administrator: Administrator) async throws(ServiceError) -> PersonalData {
        try await noting(administrator, "exportUser") { () async throws(ServiceError) -> PersonalData in
            try await wrapped.exportUser(id, as: administrator)
        }
    }

    /// As the wrapped service; a refusal is noted.
    public func eraseUser(_ id: String, as administrator: Administrator) async throws(ServiceError) {
        try await noting(administrator, "eraseUser") { () async throws(ServiceError) -> Void in
            try await wrapped.eraseUser(id, as: administrator)
        }
    }
}
