public import CordonIdentity
public import CordonProtocol
public import Foundation

extension AuditingService {
    /// As the wrapped service; nobody is refused here.
    public func customRoles(
        heldBy names: Set<String>, of tenant: TenantID
    ) async throws(ServiceError) -> [CustomRole] {
        try await wrapped.customRoles(heldBy: names, of: tenant)
    }

    /// As the wrapped service; a refusal is noted.
    public func allowedAccounts(as administrator: Administrator) async throws(ServiceError) -> [PolicyEnvelope
        .AllowedAccount]?
    {
        try await noting(administrator, "allowedAccounts") {
            () async throws(ServiceError) -> [PolicyEnvelope.AllowedAccount]? in
            try await wrapped.allowedAccounts(as: administrator)
        }
    }

    /// As the wrapped service; a refusal is noted.
    public func isMoving(as administrator: Administrator) async throws(ServiceError) -> Bool {
        try await noting(administrator, "isMoving") { () async throws(ServiceError) -> Bool in
            try await wrapped.isMoving(as: administrator)
        }
    }

    /// As the wrapped service; a refusal is noted.
    public func setMoving(_ isMoving: Bool, as administrator: Administrator) async throws(ServiceError) {
        try await noting(administrator, "setMoving") { () async throws(ServiceError) -> Void in
            try await wrapped.setMoving(isMoving, as: administrator)
        }
    }

    /// As the wrapped service; a refusal is noted.
    public func setAllowedAccounts(_ accounts: [PolicyEnvelope.AllowedAccount]?, as administrator: Administrator)
        async throws(ServiceError)
    {
        try await noting(administrator, "setAllowedAccounts") { () async throws(ServiceError) -> Void in
            try await wrapped.setAllowedAccounts(accounts, as: administrator)
        }
    }

    /// As the wrapped service; a refusal is noted.
    public func signingKeys(as administrator: Administrator) async throws(ServiceError) -> [ServiceSigningKey] {
        try await noting(administrator, "signingKeys") { () async throws(ServiceError) -> [ServiceSigningKey] in
            try await wrapped.signingKeys(as: administrator)
        }
    }

    /// As the wrapped service; a refusal is noted.
    public func rotateSigningKey(activeFrom: Date, as administrator: Administrator) async throws(ServiceError)
        -> ServiceSigningKey
    {
        try await noting(administrator, "rotateSigningKey") { () async throws(ServiceError) -> ServiceSigningKey in
            try await wrapped.rotateSigningKey(activeFrom: activeFrom, as: administrator)
        }
    }

    /// As the wrapped service; a refusal is noted.
    public func auditRecords(_ query: AuditQuery, as administrator: Administrator) async throws(ServiceError)
        -> [AuditRecord]
    {
        try await noting(administrator, "auditRecords") { () async throws(ServiceError) -> [AuditRecord] in
            try await wrapped.auditRecords(query, as: administrator)
        }
    }

    /// As the wrapped service; a refusal is noted.
    public func exportAudit(as administrator: Administrator) async throws(ServiceError) -> AsyncThrowingStream<
        Data, any Error
    > {
        try await noting(administrator, "exportAudit") {
            () async throws(ServiceError) -> AsyncThrowingStream<Data, any Error> in
            try await wrapped.exportAudit(as: administrator)
        }
    }
}
