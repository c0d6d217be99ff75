public import CordonProtocol

extension AuditingService {
    /// As the wrapped service; a refusal is noted.
    public func requestCommand(
        _ kind: Command.Kind, ofRegistration id: String, as administrator: Administrator
    ) async throws(ServiceError) -> IssuedCommand {
        try await noting(administrator, "requestCommand") { () async throws(ServiceError) -> IssuedCommand in
            try await wrapped.requestCommand(kind, ofRegistration: id, as: administrator)
        }
    }

    /// As the wrapped service; a refusal is noted.
    public func commands(
        ofRegistration id: String?, as administrator: Administrator
    ) async throws(ServiceError) -> [IssuedCommand] {
        try await noting(administrator, "commands") { () async throws(ServiceError) -> [IssuedCommand] in
            try await wrapped.commands(ofRegistration: id, as: administrator)
        }
    }

    /// As the wrapped service; a refusal is noted.
    public func cancelCommand(
        _ id: String, as administrator: Administrator
    ) async throws(ServiceError) -> IssuedCommand {
        try await noting(administrator, "cancelCommand") { () async throws(ServiceError) -> IssuedCommand in
            try await wrapped.cancelCommand(id, as: administrator)
        }
    }
}
