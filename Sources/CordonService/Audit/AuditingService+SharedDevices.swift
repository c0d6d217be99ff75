public import CordonIdentity
internal import CordonProtocol

extension AuditingService {
    /// As the wrapped service; a refusal is noted.
    public func registerDevice(_ statement: String, name: String?, as administrator: Administrator)
        async throws(ServiceError) -> SharedDevice
    {
        try await noting(administrator, "registerDevice") { () async throws(ServiceError) -> SharedDevice in
            try await wrapped.registerDevice(statement, name: name, as: administrator)
        }
    }

    /// As the wrapped service; a refusal is noted.
    public func sharedDevices(as administrator: Administrator) async throws(ServiceError) -> [SharedDevice] {
        try await noting(administrator, "sharedDevices") { () async throws(ServiceError) -> [SharedDevice] in
            try await wrapped.sharedDevices(as: administrator)
        }
    }

    /// As the wrapped service; a refusal is noted.
    public func releaseDevice(_ id: String, as administrator: Administrator) async throws(ServiceError) {
        try await noting(administrator, "releaseDevice") { () async throws(ServiceError) -> Void in
            try await wrapped.releaseDevice(id, as: administrator)
        }
    }

    /// As the wrapped service; a statement that the device's key did not sign is noted.
    public func verdict(on statement: String, ofDevice id: String, tenant: TenantID)
        async throws(ServiceError) -> SharedDeviceVerdict
    {
        do throws(ServiceError) {
            return try await wrapped.verdict(on: statement, ofDevice: id, tenant: tenant)
        } catch {
            if error.code == .wrongKey {
                await notes.note(error, "noteSession", by: .init(.device, id: id), of: tenant, isProved: false)
            }
            throw error
        }
    }

    /// As the wrapped service, which has looked at the statement in ``verdict(on:ofDevice:tenant:)`` before.
    public func noteSession(
        _ statement: String, ofDevice id: String, tenant: TenantID
    ) async throws(ServiceError) {
        try await wrapped.noteSession(statement, ofDevice: id, tenant: tenant)
    }
}
