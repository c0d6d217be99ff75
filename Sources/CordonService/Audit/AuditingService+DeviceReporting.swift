public import CordonProtocol
public import Foundation

extension AuditingService {
    /// As the wrapped service; a refusal is noted.
    public func compliance(_ request: RemediationRequest, registration id: String, by caller: DeviceCaller)
        async throws(ServiceError) -> ComplianceReport
    {
        try await noting(caller, "compliance") { () async throws(ServiceError) -> ComplianceReport in
            try await wrapped.compliance(request, registration: id, by: caller)
        }
    }

    /// As the wrapped service; a refusal is noted.
    public func unregister(_ id: String, report: UnenrollmentReport?, by caller: DeviceCaller)
        async throws(ServiceError)
    {
        try await noting(caller, "unregister") { () async throws(ServiceError) -> Void in
            try await wrapped.unregister(id, report: report, by: caller)
        }
    }

    /// As the wrapped service; a refusal is noted.
    public func acceptTelemetry(_ batch: TelemetryBatch, by caller: DeviceCaller) async throws(ServiceError) -> Int {
        try await noting(caller, "acceptTelemetry") { () async throws(ServiceError) -> Int in
            try await wrapped.acceptTelemetry(batch, by: caller)
        }
    }

    /// As the wrapped service; a refusal is noted.
    public func receiveLogs(
        _ piece: Data, at offset: Int, of total: Int, request: String, registration id: String, by caller: DeviceCaller
    ) async throws(ServiceError) -> Int {
        try await noting(caller, "receiveLogs") { () async throws(ServiceError) -> Int in
            try await wrapped.receiveLogs(
                piece, at: offset, of: total, request: request, registration: id, by: caller)
        }
    }
}
