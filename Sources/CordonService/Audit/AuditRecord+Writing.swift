internal import CordonIdentity
internal import CordonProtocol
internal import Foundation

extension AuditRecord.Actor {
    /// The service itself.
    static let service = AuditRecord.Actor(.service, id: "service")

    init(_ administrator: Administrator) {
        self.init(.administrator, id: administrator.id)
    }

    init(_ registration: Registration) {
        self.init(.device, id: registration.id)
    }
}

extension StorageTransaction {
    /// Writes a record at the end of the audit log.
    func audit(
        _ actor: AuditRecord.Actor, _ action: String, _ target: String, of tenant: TenantID, at time: Date,
        outcome: AuditRecord.Outcome = .done, details: [String: String] = [:]
    ) throws(ServiceError) {
        try append(
            AuditRecord(
                after: try lastAuditRecord(), tenant: tenant, time: Int64(time.timeIntervalSince1970), actor: actor,
                action: action, target: target, outcome: outcome, details: details))
    }
}
