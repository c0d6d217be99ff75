public import CordonIdentity
public import Foundation

extension AuditingService {
    /// As the wrapped service; a refusal is noted.
    public func apply(_ signal: AccountSignal, as administrator: Administrator) async throws(ServiceError) {
        try await noting(administrator, "apply") { () async throws(ServiceError) -> Void in
            try await wrapped.apply(signal, as: administrator)
        }
    }

    /// As the wrapped service; a refusal is noted.
    public func revokeSessions(
        ofUser userID: String, as administrator: Administrator
    ) async throws(ServiceError) -> String {
        try await noting(administrator, "revokeSessions") { () async throws(ServiceError) -> String in
            try await wrapped.revokeSessions(ofUser: userID, as: administrator)
        }
    }

    /// As the wrapped service; nobody is refused here.
    public func sessionRevocations(of tenant: TenantID) async throws(ServiceError) -> [String: Date] {
        try await wrapped.sessionRevocations(of: tenant)
    }

    /// As the wrapped service; nobody is refused here.
    public func isAccountDisabled(_ account: AccountID, of tenant: TenantID) async throws(ServiceError) -> Bool {
        try await wrapped.isAccountDisabled(account, of: tenant)
    }
}
