internal import CordonBase
internal import CordonIdentity
internal import CordonProtocol
public import Foundation

extension StoredManagementService {
    /// The whole audit log as JSON Lines, as ``TenantAdministration/exportAudit(as:)`` says.
    ///
    /// The checkpoint itself is noted in the log, so that every later export contains it.
    public func exportAudit(
        as administrator: Administrator
    ) async throws(ServiceError) -> AsyncThrowingStream<Data, any Error> {
        try require(.readAudit, of: administrator)
        let now = self.now
        let tenant = administrator.tenant
        let (seal, end) = try await storage.write(tenant) {
            [self] transaction throws(ServiceError) -> (AuditSeal, Int64) in
            let last = try transaction.lastAuditRecord()
            let seal = try self.seal(last, of: tenant, at: now, in: transaction)
            try transaction.audit(
                AuditRecord.Actor(administrator), "audit.export", "audit", of: tenant, at: now,
                details: ["checkpoint": seal.checkpoint, "records": String(last?.sequence ?? 0)])
            return (seal, last?.sequence ?? 0)
        }
        let line: String
        do throws(ProtocolError) {
            line = try seal.line()
        } catch {
            throw ServiceError(.internalError, "the checkpoint could not be written: \(error.reason)")
        }
        let position = Locked(AuditPosition.records(after: 0))
        return AsyncThrowingStream { [storage] in
            switch position.withLock({ $0 }) {
            case .done: return nil
            case .records(let after) where after < end:
                let limit = Int(min(end - after, Int64(AuditQuery.largestPage)))
                let page = try await storage.read(tenant) { records throws(ServiceError) in
                    try records.auditRecords(AuditQuery(after: after, limit: limit))
                }
                guard let newest = page.last?.sequence else {
                    throw ServiceError(.storageDamaged, "audit records are missing", place: "after record \(after)")
                }
                position.withLock { $0 = .records(after: newest) }
                return Data(page.map { $0.line + "\n" }.joined().utf8)
            case .records:
                position.withLock { $0 = .done }
                return Data((line + "\n").utf8)
            }
        }
    }

    private enum AuditPosition: Sendable {
        case records(after: Int64)
        case done
    }

    /// The checkpoint of a log with the keys to check it with, retired ones included: earlier checkpoints need them.
    private func seal(
        _ last: AuditRecord?, of tenant: TenantID, at now: Date, in records: some StorageReader
    ) throws(ServiceError) -> AuditSeal {
        let known = try records.records(ServiceSigningKey.self)
        let signer = try keys.signer(.envelope, of: tenant, among: known, at: now)
        let set = try signedKeySet(
            of: known.filter { $0.role == .envelope }, for: .audit, root: known, tenant: tenant, at: now)
        do throws(ProtocolError) {
            let checkpoint = AuditCheckpoint(of: last, tenant: tenant, time: Int64(now.timeIntervalSince1970))
            return AuditSeal(checkpoint: try checkpoint.signed(by: signer), keys: set)
        } catch {
            throw ServiceError(.internalError, "the checkpoint could not be signed: \(error.reason)")
        }
    }
}
